/** Names below which the DNS keeps whose an address is (RFC 1035, section 3.5; RFC 3596, section 2.5). Pure. */
import { formatIp, parseIp } from '@gyropilot/api'

const IPV4_NAME = /^((?:\d+\.){4})in-addr\.arpa$/
const IPV6_NAME = /^((?:[\da-f]\.){32})ip6\.arpa$/
const NIBBLES = 32

/** Undefined: it is no address. */
export function reverseName(address: string): string | undefined {
  const ip = parseIp(address)
  if (ip === undefined) return undefined
  if (ip.family === 4) return `${address.split('.').toReversed().join('.')}.in-addr.arpa`
  const nibbles = ip.value.toString(16).padStart(NIBBLES, '0')
  return `${[...nibbles].toReversed().join('.')}.ip6.arpa`
}

/** In the form in which Services and slices have it. Undefined: it is no such name. */
export function addressOfReverseName(name: string): string | undefined {
  const labels = (pattern: RegExp): string[] | undefined =>
    pattern.exec(name)?.[1]?.slice(0, -1).split('.').toReversed()
  const octets = labels(IPV4_NAME)
  if (octets !== undefined) return octets.join('.')
  const nibbles = labels(IPV6_NAME)
  return nibbles && formatIp({ family: 6, value: BigInt(`0x${nibbles.join('')}`) })
}

/** Which of a machine's addresses are the node's, where its kubelet was told. Pure. */
import type { NodeAddress } from '@gyropilot/api'
import { parseIp } from '@gyropilot/api'
import type { IpAddress } from '@gyropilot/api'

/**
 * The addresses that equal a provided one, in the order of those, then all of other types. `provided` is one IP or a
 * dual-stack pair. Throws where an IP cannot be read or the cloud does not report it.
 */
export function addressesForProvidedIp(
  provided: string,
  addresses: readonly NodeAddress[],
): readonly NodeAddress[] {
  const chosen = ipsOf(provided).flatMap(({ text, ip }) => {
    const equal = addresses.filter(({ address }) => isSame(parseIp(address, true), ip))
    if (equal.length === 0)
      throw new Error(`failed to get node address from cloud provider that matches ip: ${text}`)
    return equal
  })
  const types = new Set(chosen.map(({ type }) => type))
  return [...chosen, ...addresses.filter(({ type }) => !types.has(type))]
}

interface ProvidedIp {
  readonly text: string
  readonly ip: IpAddress
}

function ipsOf(provided: string): readonly ProvidedIp[] {
  const ips = provided.split(',').map((text) => {
    const ip = parseIp(text, true)
    if (ip === undefined)
      throw new Error(
        `failed to parse node IP ${quoted(provided)}: could not parse ${quoted(text)}`,
      )
    return { text, ip }
  })
  const [one, other] = ips
  if (ips.length > 2 || (other !== undefined && one!.ip.family === other.ip.family)) {
    const wanted = 'must contain either a single IP or a dual-stack pair of IPs'
    throw new Error(`failed to parse node IP ${quoted(provided)}: ${wanted}`)
  }
  return ips
}

function isSame(one: IpAddress | undefined, other: IpAddress): boolean {
  return one !== undefined && one.family === other.family && one.value === other.value
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

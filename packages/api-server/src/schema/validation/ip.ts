/** IP addresses and CIDRs as Kubernetes reads them, and the canonical forms of RFC 5952. */
import type { FieldErrors } from '../field-errors.ts'

export const IP_MESSAGE = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
export const CIDR_MESSAGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface Cidr extends IpAddress {
  readonly bits: number
}

/** Octets with leading zeros are refused unless `lenient`. */
function parseIPv4(text: string, lenient: boolean): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined
    if (!lenient && part.length > 1 && part.startsWith('0')) return undefined
    value = value * 256n + BigInt(Number(part))
  }
  return value
}

function parseIPv6(text: string): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupsOf(halves[0]!)
  const tail = halves.length === 2 ? groupsOf(halves[1]!) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  let value = 0n
  for (const group of [...head, ...Array.from({ length: missing }, () => 0), ...tail]) {
    value = value * 65536n + BigInt(group)
  }
  return value
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const embedded = index === parts.length - 1 ? parseIPv4(part, false) : undefined
      if (embedded === undefined) return undefined
      groups.push(Number(embedded >> 16n), Number(embedded & 0xffffn))
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined
      groups.push(Number.parseInt(part, 16))
    }
  }
  return groups
}

export function parseIp(text: string, lenient = false): IpAddress | undefined {
  const value = text.includes(':') ? parseIPv6(text) : parseIPv4(text, lenient)
  if (value === undefined) return undefined
  return { family: text.includes(':') ? 6 : 4, value }
}

export function formatIp({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    Number((value >> BigInt(112 - 16 * index)) & 0xffffn),
  )
  let [bestStart, bestLength] = [-1, 1]
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && groups[end] === 0) end++
    if (end - start > bestLength) [bestStart, bestLength] = [start, end - start]
  }
  const text = groups.map((group) => group.toString(16))
  if (bestStart < 0) return text.join(':')
  return `${text.slice(0, bestStart).join(':')}::${text.slice(bestStart + bestLength).join(':')}`
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseIp(text.slice(0, slash))
  const digits = text.slice(slash + 1)
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined
  const bits = Number(digits)
  return bits > (address.family === 4 ? 32 : 128) ? undefined : { ...address, bits }
}

/** The first address of the network. */
export function maskedCidr(cidr: Cidr): Cidr {
  const hostBits = BigInt((cidr.family === 4 ? 32 : 128) - cidr.bits)
  return { ...cidr, value: (cidr.value >> hostBits) << hostBits }
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.bits}`
}

/** Whether `inner` lies in `outer` and is smaller. */
export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.family !== outer.family || inner.bits <= outer.bits) return false
  const shift = BigInt((inner.family === 4 ? 32 : 128) - outer.bits)
  return inner.value >> shift === outer.value >> shift
}

const isMapped = (ip: IpAddress): boolean => ip.family === 6 && ip.value >> 32n === 0xffffn

/** New values: no leading zeros, no IPv4 in IPv6 clothing. */
export function validateIp(text: string, errors: FieldErrors, field: string): void {
  const ip = parseIp(text)
  if (ip !== undefined && !isMapped(ip)) return
  if (ip !== undefined) errors.invalid(field, text, 'must not be an IPv4-mapped IPv6 address')
  else if (parseIp(text, true) !== undefined)
    errors.invalid(field, text, 'must not have leading 0s')
  else errors.invalid(field, text, IP_MESSAGE)
}

export function validateCidr(text: string, errors: FieldErrors, field: string): void {
  const cidr = parseCidr(text)
  if (cidr === undefined) {
    const [address = '', bits = ''] = text.split('/')
    const lenient = parseIp(address, true)
    if (
      lenient !== undefined &&
      /^\d{1,3}$/.test(bits) &&
      Number(bits) <= (lenient.family === 4 ? 32 : 128)
    ) {
      if (parseIp(address) === undefined)
        errors.invalid(field, text, 'must not have leading 0s in IP')
      else errors.invalid(field, text, 'must not have leading 0s in prefix length')
    } else errors.invalid(field, text, CIDR_MESSAGE)
    return
  }
  if (isMapped(cidr)) errors.invalid(field, text, 'must not have an IPv4-mapped IPv6 address')
  if (maskedCidr(cidr).value !== cidr.value) {
    errors.invalid(field, text, 'must not have bits set beyond the prefix length')
  }
}

/** Addresses that no endpoint may have. */
export function validateNonSpecialIp(text: string, errors: FieldErrors, field: string): void {
  const ip = parseIp(text, true)
  if (ip === undefined) {
    errors.invalid(field, text, 'must be a valid IP address')
    return
  }
  const top = (bits: number): bigint => ip.value >> BigInt((ip.family === 4 ? 32 : 128) - bits)
  if (ip.value === 0n)
    errors.invalid(field, text, `may not be unspecified (${ip.family === 4 ? '0.0.0.0' : '::'})`)
  if (ip.family === 4 ? top(8) === 127n : ip.value === 1n) {
    errors.invalid(field, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (ip.family === 4 ? top(16) === 0xa9fen : top(10) === 0x3fan) {
    errors.invalid(field, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (ip.family === 4 ? top(24) === 0xe00000n : top(16) === 0xff02n) {
    errors.invalid(
      field,
      text,
      'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    )
  }
}

/** The header text for addresses that are good but not in canonical form. */
export function canonicalIpWarning(text: string, field: string): string | undefined {
  const ip = parseIp(text)
  if (ip === undefined || ip.family === 4) return undefined
  const canonical = formatIp(ip)
  if (canonical === text) return undefined
  return `${field}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`
}

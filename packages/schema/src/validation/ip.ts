/** What is refused of IP addresses and CIDRs, and what is warned of. How they are read stands in the api package. */
import { formatCidr, formatIp, maskedCidr, parseCidr, parseIp } from '@gyropilot/api'
import type { IpAddress } from '@gyropilot/api'
import type { FieldErrors } from '../field-errors.ts'

export {
  formatCidr,
  formatIp,
  isStrictSubset,
  maskedCidr,
  parseCidr,
  parseIp,
} from '@gyropilot/api'
export type { Cidr, IpAddress } from '@gyropilot/api'

export const IP_MESSAGE = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
export const CIDR_MESSAGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

export const isMappedIp = (ip: IpAddress): boolean => ip.family === 6 && ip.value >> 32n === 0xffffn

/** The second half of an IPv6 address's second byte is its scope; the first half are flags, which may be any. */
export const isLinkLocalMulticast = ({ family, value }: IpAddress): boolean =>
  family === 4
    ? value >> 8n === 0xe00000n
    : value >> 120n === 0xffn && ((value >> 112n) & 0xfn) === 2n

/** New values: no leading zeros, no IPv4 in IPv6 clothing. */
export function validateIp(text: string, errors: FieldErrors, field: string): void {
  const ip = parseIp(text)
  if (ip !== undefined && !isMappedIp(ip)) return
  if (ip !== undefined) errors.invalid(field, text, 'must not be an IPv4-mapped IPv6 address')
  else if (parseIp(text, true) !== undefined)
    errors.invalid(field, text, 'must not have leading 0s')
  else errors.invalid(field, text, IP_MESSAGE)
}

/** What is a CIDR but for zeros that stand before its numbers. */
export function isCidrWithLeadingZeros(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  const lenient = parseIp(address, true)
  return (
    more.length === 0 &&
    lenient !== undefined &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (lenient.family === 4 ? 32 : 128)
  )
}

export function validateCidr(text: string, errors: FieldErrors, field: string): void {
  const cidr = parseCidr(text)
  if (cidr === undefined)
    errors.invalid(
      field,
      text,
      isCidrWithLeadingZeros(text)
        ? 'must not have leading 0s in IP or prefix length'
        : CIDR_MESSAGE,
    )
  else if (isMappedIp(cidr))
    errors.invalid(field, text, 'must not have an IPv4-mapped IPv6 address')
  else if (maskedCidr(cidr).value !== cidr.value)
    errors.invalid(field, text, 'must not have bits set beyond the prefix length')
}

/** Addresses that no endpoint may have. */
export function validateNonSpecialIp(text: string, errors: FieldErrors, field: string): void {
  const ip = parseIp(text, true)
  if (ip === undefined) {
    errors.invalid(field, text, 'must be a valid IP address')
    return
  }
  const top = (bits: number): bigint => ip.value >> BigInt((ip.family === 4 ? 32 : 128) - bits)
  if (ip.value === 0n) errors.invalid(field, text, `may not be unspecified (${text})`)
  if (ip.family === 4 ? top(8) === 127n : ip.value === 1n) {
    errors.invalid(field, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  }
  if (ip.family === 4 ? top(16) === 0xa9fen : top(10) === 0x3fan) {
    errors.invalid(field, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  }
  if (isLinkLocalMulticast(ip)) {
    errors.invalid(
      field,
      text,
      'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    )
  }
}

/** The header texts, none or one, for addresses that are good but not in canonical form. */
export function canonicalIpWarnings(text: string, field: string): readonly string[] {
  const ip = parseIp(text)
  return ip?.family === 6 ? formWarnings(text, formatIp(ip), 'address', field) : []
}

export function canonicalCidrWarnings(text: string, field: string): readonly string[] {
  const cidr = parseCidr(text)
  return cidr?.family === 6 ? formWarnings(text, formatCidr(cidr), 'CIDR value', field) : []
}

function formWarnings(
  text: string,
  canonical: string,
  what: string,
  field: string,
): readonly string[] {
  if (text === canonical) return []
  return [
    `${field}: IPv6 ${what} ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`,
  ]
}

/** What Go says of a text that is no IP address: the first thing that it cannot read, and what is left from there. */
import { goQuote } from '@gyropilot/schema/go-quote'

const HEX_DIGITS = /^[0-9a-fA-F]*/
const GROUP_DIGITS_MAX = 4
/** Bytes of an address, and where the embedded IPv4 address of one without `::` stands. */
const BYTES = 16
const EMBEDDED_AT = 12
const IPV4_BYTES = 4

/** `ParseAddr("1:2"): address string too short`. */
export function addressProblem(text: string): string {
  const [sign] = /[.:%]/.exec(text) ?? []
  return `ParseAddr(${goQuote(text)}): ${problemBySign(text, sign)}`
}

function problemBySign(text: string, sign: string | undefined): string {
  if (sign === '.') return ipv4Problem(text)
  if (sign === ':') return ipv6Problem(text)
  return sign === '%' ? 'missing IPv6 address' : 'unable to parse IP'
}

function ipv4Problem(text: string): string {
  let field = ''
  let dots = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    const rest = at(text.slice(index))
    if (character === '.') {
      if (field === '' || index === text.length - 1)
        return `IPv4 field must have at least one digit${rest}`
      if (dots === 3) return 'IPv4 address too long'
      dots++
      field = ''
    } else if (/\d/.test(character)) {
      if (field === '0') return 'IPv4 field has octet with leading zero'
      field += character
      if (Number(field) > 255) return 'IPv4 field has value >255'
    } else return `unexpected character${rest}`
  }
  return 'IPv4 address too short'
}

const at = (rest: string): string => ` (at ${goQuote(rest)})`

function ipv6Problem(text: string): string {
  const percent = text.indexOf('%')
  if (percent === text.length - 1) return 'zone must be a non-empty string'
  let rest = percent < 0 ? text : text.slice(0, percent)
  let bytes = 0
  let isShortened = rest.startsWith('::')
  if (isShortened) rest = rest.slice(2)
  while (bytes < BYTES && rest !== '') {
    const digits = HEX_DIGITS.exec(rest)![0].length
    if (digits > GROUP_DIGITS_MAX) return `each group must have 4 or less digits${at(rest)}`
    if (digits === 0) return `each colon-separated field must have at least one digit${at(rest)}`
    if (rest[digits] === '.') {
      const problem = embeddedProblem(rest, bytes, isShortened)
      if (problem !== undefined) return problem
      bytes += IPV4_BYTES
      rest = ''
      break
    }
    bytes += 2
    rest = rest.slice(digits)
    if (rest === '') break
    if (!rest.startsWith(':')) return `unexpected character, want colon${at(rest)}`
    if (rest === ':') return `colon must be followed by more characters${at(rest)}`
    rest = rest.slice(1)
    if (!rest.startsWith(':')) continue
    if (isShortened) return `multiple :: in address${at(rest)}`
    isShortened = true
    rest = rest.slice(1)
  }
  if (rest !== '') return `trailing garbage after address${at(rest)}`
  return isShortened
    ? 'the :: must expand to at least one field of zeros'
    : 'address string too short'
}

function embeddedProblem(rest: string, bytes: number, isShortened: boolean): string | undefined {
  if (!isShortened && bytes !== EMBEDDED_AT)
    return `embedded IPv4 address must replace the final 2 fields of the address${at(rest)}`
  if (bytes + IPV4_BYTES > BYTES)
    return `too many hex fields to fit an embedded IPv4 at the end of the address${at(rest)}`
  return /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/.test(rest)
    ? undefined
    : ipv4Problem(rest)
}

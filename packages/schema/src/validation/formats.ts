/** The string formats that are checked; others mean nothing. Contract: docs/behaviour/api-server/custom-resources.md. */
import { parseCidr, parseIp } from './ip.ts'
import { dnsLabel, dnsSubdomain } from './names.ts'

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DURATION =
  /^-?(\d+(\.\d+)?\s*(ns|us|µs|ms|s|m|h|d|w|nanos?|micros?|millis?|seconds?|sec|minutes?|min|hours?|hr|days?|weeks?|wk))+$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const HOSTNAME =
  /^([a-zA-Z0-9\u0080-\uffff]([a-zA-Z0-9\u0080-\uffff-]{0,61}[a-zA-Z0-9\u0080-\uffff])?)(\.[a-zA-Z0-9\u0080-\uffff]([a-zA-Z0-9\u0080-\uffff-]{0,61}[a-zA-Z0-9\u0080-\uffff])?)*\.?$/
const EMAIL = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

type Check = (text: string) => boolean

const uuidOfVersion =
  (version: string): Check =>
  (text) =>
    UUID.test(text) && text.replaceAll('-', '')[12] === version

const CHECKS: Readonly<Record<string, Check>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: isUri,
  email: (text) => EMAIL.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => parseIp(text)?.family === 4,
  ipv6: (text) => parseIp(text)?.family === 6,
  cidr: (text) => parseCidr(text) !== undefined,
  mac: (text) =>
    /^([0-9a-f]{2}([:-])([0-9a-f]{2}\2){4}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}|[0-9a-f]{2}([:-])([0-9a-f]{2}\5){6}[0-9a-f]{2})$/i.test(
      text,
    ),
  uuid: (text) => UUID.test(text),
  uuid3: uuidOfVersion('3'),
  uuid4: (text) => uuidOfVersion('4')(text) && /[89ab]/i.test(text.replaceAll('-', '')[16]!),
  uuid5: (text) => uuidOfVersion('5')(text) && /[89ab]/i.test(text.replaceAll('-', '')[16]!),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) =>
    /^rgb\(\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*\)$/.test(
      text,
    ),
  byte: (text) => BASE64.test(text),
  password: () => true,
  date: isDate,
  duration: (text) => DURATION.test(text),
  'date-time': isDateTime,
  datetime: isDateTime,
  'k8s-short-name': (text) => dnsLabel(text).length === 0,
  'k8s-long-name': (text) => dnsSubdomain(text).length === 0,
}

const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

/** `type` of the schema that names the format; a place without a type may hold text. */
export function isKnownFormat(format: string, type: string | undefined): boolean {
  if (!type || type === 'string') return Object.hasOwn(CHECKS, format)
  return NUMBER_FORMATS[type]?.includes(format) === true
}

/** True for formats that are not checked. */
export function matchesFormat(format: string, text: string): boolean {
  return Object.hasOwn(CHECKS, format) ? CHECKS[format]!(text) : true
}

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [, year, month, day] = match.map(Number)
  const date = new Date(Date.UTC(year!, month! - 1, day!))
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day
}

function isDateTime(text: string): boolean {
  return DATE_TIME.test(text) && isDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}

function isUri(text: string): boolean {
  if (text.startsWith('/')) return !/\s/.test(text)
  return URL.canParse(text) && /^[a-z][a-z0-9+.-]*:/i.test(text)
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[- ]/g, '')
  if (!/^\d{9}[\dXx]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++)
    sum += (10 - i) * (digits[i] === 'X' || digits[i] === 'x' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[- ]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3)
  return sum % 10 === 0
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[- ]/g, '')
  if (!/^\d{13,19}$/.test(digits)) return false
  let sum = 0
  for (const [index, digit] of [...digits].toReversed().entries()) {
    const doubled = index % 2 === 1 ? Number(digit) * 2 : Number(digit)
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

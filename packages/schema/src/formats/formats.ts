/** The string formats that are checked; others mean nothing. Contract: docs/behaviour/api-server/custom-resources.md. */
import { parseCidr, parseIp } from '@gyropilot/api'
import { dnsLabel, dnsSubdomain } from '../validation/names.ts'
import { isDate, isDateTime } from './date-time.ts'
import { isDuration } from './duration.ts'
import { isEmail } from './email-address.ts'
import { isCreditCard, isIsbn10, isIsbn13 } from './numbers-of-things.ts'
import { isRequestUri } from './request-uri.ts'

type Check = (text: string) => boolean

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
/** One label, which may end with a hyphen, or labels before a last one of letters: `1.2.3.4` and `a.b` are none. */
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const HOSTNAME_BYTES_MAX = 255
const LABEL_BYTES_MAX = 63
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/
/** Of 6, 8 or 20 bytes: pairs with colons or hyphens, fours with dots, or nothing between. */
const MAC =
  /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)$|^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$|^[0-9a-f]+$/i
const MAC_DIGITS: ReadonlySet<number> = new Set([12, 16, 40])
const COLOR_PART = String.raw`\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*`
const RGB = new RegExp(String.raw`^rgb\(${COLOR_PART},${COLOR_PART},${COLOR_PART}\)$`)

const uuidOfVersion =
  (version: string): Check =>
  (text) =>
    UUID.test(text) && text.replaceAll('-', '')[12] === version
const hasVariant: Check = (text) => /[89ab]/i.test(text.replaceAll('-', '')[16]!)

const CHECKS: Readonly<Record<string, Check>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  // By its look: a mapped address has dots and colons, and is both.
  ipv4: (text) => parseIp(text, true) !== undefined && text.includes('.'),
  ipv6: (text) => parseIp(text, true) !== undefined && text.includes(':'),
  cidr: (text) => parseCidr(text, true) !== undefined,
  mac: (text) => MAC.test(text) && MAC_DIGITS.has(text.replaceAll(/[:.-]/g, '').length),
  uuid: (text) => UUID.test(text),
  uuid3: uuidOfVersion('3'),
  uuid4: (text) => uuidOfVersion('4')(text) && hasVariant(text),
  uuid5: (text) => uuidOfVersion('5')(text) && hasVariant(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]\d{2}[- ]\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => RGB.test(text),
  byte: (text) => BASE64.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  'date-time': isDateTime,
  datetime: isDateTime,
  'k8s-short-name': (text) => dnsLabel(text).length === 0,
  'k8s-long-name': (text) => dnsSubdomain(text).length === 0,
}

const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
])

/** `type` of the schema that names the format; a place without a type may hold text. */
export function isKnownFormat(format: string, type: string | undefined): boolean {
  if (!type || type === 'string') return Object.hasOwn(CHECKS, format)
  return NUMBER_FORMATS.get(type)?.includes(format) === true
}

/** True for formats that are not checked. */
export function matchesFormat(format: string, text: string): boolean {
  return Object.hasOwn(CHECKS, format) ? CHECKS[format]!(text) : true
}

function isHostname(text: string): boolean {
  if (!HOSTNAME.test(text) || Buffer.byteLength(text) > HOSTNAME_BYTES_MAX) return false
  return text.split('.').every((label) => Buffer.byteLength(label) <= LABEL_BYTES_MAX)
}

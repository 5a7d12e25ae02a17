/**
 * Checks of names and labels, in the API server's words. Each answers the complaints, none when the text is good.
 * Contract: docs/behaviour/api-server/defaulting-and-validation.md.
 */
import type { RandomSource } from '@gyropilot/foundation'
import { integerBetween } from '@gyropilot/foundation'

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED})?`

const labelPattern = new RegExp(`^${LABEL}$`)
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`)
const dns1035Pattern = new RegExp(`^${DNS_1035}$`)
const qualifiedPattern = new RegExp(`^${QUALIFIED}$`)
const labelValuePattern = new RegExp(`^${LABEL_VALUE}$`)

const LABEL_RULE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`
const DNS_1035_RULE = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${DNS_1035}')`
const QUALIFIED_RULE = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`
const LABEL_VALUE_RULE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`

const NONE: readonly string[] = []

/** RFC 1123 label, at most 63 characters. */
export function dnsLabelProblems(text: string): readonly string[] {
  return check(text, labelPattern, LABEL_RULE, 63)
}

/** RFC 1123 subdomain, at most 253 characters: the rule for most names. */
export function dnsSubdomainProblems(text: string): readonly string[] {
  return check(text, subdomainPattern, SUBDOMAIN_RULE, 253)
}

/** RFC 1035 label, at most 63 characters. */
export function dns1035LabelProblems(text: string): readonly string[] {
  return check(text, dns1035Pattern, DNS_1035_RULE, 63)
}

/** In bytes, whatever the messages say. */
function isLonger(text: string, maximum: number): boolean {
  return Buffer.byteLength(text) > maximum
}

function check(text: string, pattern: RegExp, rule: string, limit: number): readonly string[] {
  const long = isLonger(text, limit)
  const wrong = !pattern.test(text)
  if (!long && !wrong) return NONE
  const tooLong = `must be no more than ${limit} characters`
  return [...(long ? [tooLong] : []), ...(wrong ? [rule] : [])]
}

/** `[prefix/]name`: label and annotation keys, taints, finalizers, resource names. */
export function qualifiedNameProblems(text: string): readonly string[] {
  if (text.length <= 63 && qualifiedPattern.test(text)) return NONE
  const parts = text.split('/')
  if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const problems: string[] = []
  const name = parts.at(-1)!
  if (parts.length === 2) {
    const prefix = parts[0]!
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (isLonger(name, 63)) problems.push('name part must be no more than 63 bytes')
  if (!qualifiedPattern.test(name)) problems.push(`name part ${QUALIFIED_RULE}`)
  return problems
}

export function labelValueProblems(text: string): readonly string[] {
  const long = isLonger(text, 63)
  const wrong = !labelValuePattern.test(text)
  if (!long && !wrong) return NONE
  return [...(long ? ['must be no more than 63 bytes'] : []), ...(wrong ? [LABEL_VALUE_RULE] : [])]
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MAX_GENERATED_LENGTH = 63

/** `length` characters without vowels and look-alikes, so that no words come out. */
export function randomSuffix(random: RandomSource, length = SUFFIX_LENGTH): string {
  let suffix = ''
  for (let i = 0; i < length; i++) {
    suffix += SUFFIX_ALPHABET[integerBetween(random, 0, SUFFIX_ALPHABET.length)]
  }
  return suffix
}

/** The name for a generateName: at most 58 bytes of the base and five random characters. */
export function generateName(base: string, random: RandomSource): string {
  return base.slice(0, MAX_GENERATED_LENGTH - SUFFIX_LENGTH) + randomSuffix(random)
}

/** Each character of a decimal hash as a letter or digit that makes no words: 0 is 4, 9 is f. */
export function safeEncode(text: string): string {
  let encoded = ''
  for (let i = 0; i < text.length; i++) {
    encoded += SUFFIX_ALPHABET[text.charCodeAt(i) % SUFFIX_ALPHABET.length]
  }
  return encoded
}

/** Checks of single strings: each answers the messages that kube-apiserver gives, empty when the string is good. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const QUALIFIED_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const labelPattern = new RegExp(`^${LABEL}$`)
const label1035Pattern = new RegExp(`^${LABEL_1035}$`)
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`)
const wildcardPattern = new RegExp(`^\\*\\.${SUBDOMAIN}$`)
const qualifiedPartPattern = new RegExp(`^${QUALIFIED_PART}$`)
const labelValuePattern = new RegExp(`^(${QUALIFIED_PART})?$`)

const UNDERSCORE_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const UNDERSCORE_SUBDOMAIN = `${UNDERSCORE_LABEL}(\\.${UNDERSCORE_LABEL})*`
const underscorePattern = new RegExp(`^${UNDERSCORE_SUBDOMAIN}$`)

const LABEL_MESSAGE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`
const LABEL_1035_MESSAGE = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`
const SUBDOMAIN_MESSAGE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`
const UNDERSCORE_MESSAGE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${UNDERSCORE_SUBDOMAIN}')`
const WILDCARD_MESSAGE = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.${SUBDOMAIN}')`
const QUALIFIED_MESSAGE = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED_PART}')`
const LABEL_VALUE_MESSAGE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${QUALIFIED_PART})?')`
const CONFIG_KEY_MESSAGE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
const PERCENT_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
const ENV_NAME_MESSAGE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"
const HTTP_HEADER_MESSAGE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"

type Check = (value: string) => readonly string[]

const NONE: readonly string[] = []

function tooLong(maximum: number): string {
  return `must be no more than ${maximum} characters`
}

/** Lengths count bytes, whatever the messages say. What fits a pattern is ASCII, so that its length is that. */
function isLonger(value: string, maximum: number): boolean {
  return Buffer.byteLength(value) > maximum
}

export const dnsLabel: Check = (value) => {
  if (value.length <= 63 && labelPattern.test(value)) return NONE
  const messages: string[] = []
  if (isLonger(value, 63)) messages.push(tooLong(63))
  if (!labelPattern.test(value)) {
    messages.push(subdomainPattern.test(value) ? 'must not contain dots' : LABEL_MESSAGE)
  }
  return messages
}

export const dns1035Label: Check = (value) => {
  const messages: string[] = []
  if (isLonger(value, 63)) messages.push(tooLong(63))
  if (!label1035Pattern.test(value)) messages.push(LABEL_1035_MESSAGE)
  return messages
}

export const dnsSubdomain: Check = (value) => {
  if (value.length <= 253 && subdomainPattern.test(value)) return NONE
  const messages: string[] = []
  if (isLonger(value, 253)) messages.push(tooLong(253))
  if (!subdomainPattern.test(value)) messages.push(SUBDOMAIN_MESSAGE)
  return messages
}

/** Search domains of resolvers. */
export const underscoreSubdomain: Check = (value) => {
  const messages: string[] = []
  if (isLonger(value, 253)) messages.push(tooLong(253))
  if (!underscorePattern.test(value)) messages.push(UNDERSCORE_MESSAGE)
  return messages
}

export const wildcardSubdomain: Check = (value) => {
  const messages: string[] = []
  if (isLonger(value, 253)) messages.push(tooLong(253))
  if (!wildcardPattern.test(value)) messages.push(WILDCARD_MESSAGE)
  return messages
}

/** `[prefix/]name`. */
export const qualifiedName: Check = (value) => {
  const parts = value.split('/')
  const messages: string[] = []
  let name = value
  if (parts.length === 2) {
    const prefix = parts[0]!
    name = parts[1]!
    if (prefix === '') messages.push('prefix part must be non-empty')
    else {
      if (isLonger(prefix, 253)) messages.push('prefix part must be no more than 253 bytes')
      if (!subdomainPattern.test(prefix)) messages.push(`prefix part ${SUBDOMAIN_MESSAGE}`)
    }
  } else if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_MESSAGE.replace(/\)$/, '')}) with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  if (name === '') messages.push('name part must be non-empty')
  else if (isLonger(name, 63)) messages.push('name part must be no more than 63 bytes')
  if (!qualifiedPartPattern.test(name)) messages.push(`name part ${QUALIFIED_MESSAGE}`)
  return messages
}

export const labelValue: Check = (value) => {
  if (value.length <= 63 && labelValuePattern.test(value)) return NONE
  const messages: string[] = []
  if (isLonger(value, 63)) messages.push('must be no more than 63 bytes')
  if (!labelValuePattern.test(value)) messages.push(LABEL_VALUE_MESSAGE)
  return messages
}

/** Names of container ports and named probe ports. */
export const portName: Check = (value) => {
  const messages: string[] = []
  if (isLonger(value, 15)) messages.push(tooLong(15))
  if (!/^[-a-z0-9]+$/.test(value)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) messages.push('must contain at least one letter (a-z)')
  if (value.includes('--')) messages.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) {
    messages.push('must not begin or end with a hyphen')
  }
  return messages
}

export const pathSegment: Check = (value) =>
  value === '.' || value === '..' ? [`may not be '${value}'`] : pathCharacters(value)

/** What upstream's client says of a name that no address can be made of; undefined of others. An empty one is the caller's matter. */
export function addressProblem(name: string): string | undefined {
  const problems = pathSegment(name)
  if (problems.length === 0) return undefined
  return `invalid resource name ${JSON.stringify(name)}: [${problems.join(' ')}]`
}

/** Of what is only the beginning of a segment. */
export const pathCharacters: Check = (value) => {
  // Asked for every request: most names have neither.
  if (!value.includes('/') && !value.includes('%')) return NONE
  return ['/', '%']
    .filter((character) => value.includes(character))
    .map((character) => `may not contain '${character}'`)
}

export const environmentName: Check = (value) =>
  /^[\x20-\x3c\x3e-\x7e]+$/.test(value) ? NONE : [ENV_NAME_MESSAGE]

export const configMapKey: Check = (value) => {
  const messages: string[] = []
  if (isLonger(value, 253)) messages.push('must be no more than 253 characters')
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) messages.push(CONFIG_KEY_MESSAGE)
  if (value === '.') messages.push("must not be '.'")
  if (value === '..') messages.push("must not be '..'")
  else if (value.startsWith('..')) messages.push("must not start with '..'")
  return messages
}

export const percentString: Check = (value) => (/^[0-9]+%$/.test(value) ? NONE : [PERCENT_MESSAGE])

export const httpHeaderName: Check = (value) =>
  /^[-A-Za-z0-9]+$/.test(value) ? NONE : [HTTP_HEADER_MESSAGE]

/** At least `segments` labels separated by dots. */
export function fullyQualifiedName(value: string, segments = 2): readonly string[] {
  const messages = [...dnsSubdomain(value)]
  if (messages.length === 0 && value.split('.').length < segments) {
    messages.push(
      segments === 2
        ? 'should be a domain with at least two segments separated by dots'
        : 'should be a domain with at least three segments separated by dots',
    )
  }
  return messages
}

const WINDOWS_DOMAIN_LIMIT = 256
const WINDOWS_USER_LIMIT = 104
const DNS_LABEL_ANY_CASE = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const windowsDomainPattern = new RegExp(
  `^(?:[^\\\\/:*?"<>|.][^\\\\/:*?"<>|]{0,14}|${DNS_LABEL_ANY_CASE}(?:\\.${DNS_LABEL_ANY_CASE})*)$`,
  'u',
)

/** `user` or `DOMAIN\\user`. */
export const windowsUserName: Check = (value) => {
  if (value === '') return ['runAsUserName cannot be an empty string']
  if ([...value].some((character) => character < ' ' || character === '\u007f'))
    return ['runAsUserName cannot contain control characters']
  const parts = value.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const messages: string[] = []
  if (isLonger(domain ?? '', WINDOWS_DOMAIN_LIMIT - 1))
    messages.push(`runAsUserName's Domain length must be under ${WINDOWS_DOMAIN_LIMIT} characters`)
  if (domain !== undefined && !windowsDomainPattern.test(domain))
    messages.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  if (user === '') messages.push("runAsUserName's User cannot be empty")
  else if (isLonger(user, WINDOWS_USER_LIMIT))
    messages.push(
      `runAsUserName's User length must not be longer than ${WINDOWS_USER_LIMIT} characters`,
    )
  if (/^[. ]+$/.test(user))
    messages.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    messages.push(
      'runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
    )
  return messages
}

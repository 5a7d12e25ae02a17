import type { HostEnvironment } from '@gyropilot/foundation'

/** The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or their lower-case forms) give for this server. */
export function proxyFromEnvironment(
  server: string,
  host: Pick<HostEnvironment, 'env'>,
): string | undefined {
  const url = new URL(server)
  const variable = (name: string): string => host.env(name) || host.env(name.toLowerCase()) || ''
  const proxy = variable(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (proxy === '') return undefined
  const name = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (name === 'localhost' || name === '::1' || name.startsWith('127.')) return undefined
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  if (
    variable('NO_PROXY')
      .split(',')
      .some((rule) => matches(rule.trim().toLowerCase(), name, port))
  )
    return undefined
  return /^[a-z0-9]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

/** `*`, a name with its subdomains, `.subdomains.only`, an address, a CIDR block; each but the last with an optional port. */
function matches(rule: string, name: string, port: string): boolean {
  if (rule === '*') return true
  if (rule === '') return false
  if (rule.includes('/')) return inBlock(name, rule)
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(rule)
  const withPort = /^([^:]+):(\d+)$/.exec(rule)
  const rulePort = bracketed?.[2] ?? withPort?.[2]
  if (rulePort !== undefined && rulePort !== port) return false
  const ruleName = (bracketed?.[1] ?? withPort?.[1] ?? rule).replace(/^\*\./, '.')
  if (addressBits(ruleName) !== undefined) return addressBits(ruleName) === addressBits(name)
  return ruleName.startsWith('.')
    ? name.endsWith(ruleName)
    : name === ruleName || name.endsWith(`.${ruleName}`)
}

function inBlock(name: string, block: string): boolean {
  const [, base = '', digits] = /^([^/]*)\/(\d{1,3})$/.exec(block) ?? []
  const bits = addressBits(base)
  const address = addressBits(name)
  const length = Number(digits)
  // Blocks of one family hold no addresses of the other, and a block that cannot be read holds none.
  if (bits === undefined || bits.length !== address?.length || length > bits.length) return false
  return address.startsWith(bits.slice(0, length))
}

/** An address as 32 or 128 digits of 0 and 1; undefined for what is none. */
function addressBits(text: string): string | undefined {
  // `URL` is the one parser of addresses that needs no module of Node.
  const url = text.includes(':')
    ? `http://[${text}]`
    : /^\d{1,3}(\.\d{1,3}){3}$/.test(text)
      ? `http://${text}`
      : ''
  if (!URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  if (!hostname.startsWith('['))
    return hostname
      .split('.')
      .map((part) => binary(Number(part), 8))
      .join('')
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groups = (part: string): string[] =>
    part === '' ? [] : part.split(':').map((group) => binary(Number.parseInt(group, 16), 16))
  const after = tail === undefined ? [] : groups(tail)
  return (
    groups(head)
      .join('')
      .padEnd(128 - after.length * 16, '0') + after.join('')
  )
}

function binary(value: number, digits: number): string {
  return value.toString(2).padStart(digits, '0')
}

import type { HostEnvironment } from '@gyropilot/foundation'

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/

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
  if (rule.includes('/')) return IPV4.test(name) && inBlock(name, rule)
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(rule)
  const withPort = /^([^:]+):(\d+)$/.exec(rule)
  const rulePort = bracketed?.[2] ?? withPort?.[2]
  if (rulePort !== undefined && rulePort !== port) return false
  const ruleName = (bracketed?.[1] ?? withPort?.[1] ?? rule).replace(/^\*\./, '.')
  if (IPV4.test(ruleName) || ruleName.includes(':')) return ruleName === name
  return ruleName.startsWith('.')
    ? name.endsWith(ruleName)
    : name === ruleName || name.endsWith(`.${ruleName}`)
}

function inBlock(address: string, block: string): boolean {
  const [base, bits] = block.split('/') as [string, string]
  if (!IPV4.test(base)) return false
  const mask = Number(bits) === 0 ? 0 : (-1 << (32 - Number(bits))) >>> 0
  return (numberOf(address) & mask) >>> 0 === (numberOf(base) & mask) >>> 0
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}

/** What a pod calls itself and what it finds the names of others with. Contract: docs/behaviour/simulation/kubelet.md, Commands. Pure. */
import type { Pod } from '@gyropilot/api'

const DOMAIN = 'cluster.local'
const MOST_HOSTNAME_CHARS = 63
const DNS_SERVICE_IP = '10.0.0.10'

/** Of the pod: that of its node on the host's network, else its own, short or with its domain. */
export function hostnameOf({ metadata, spec }: Pod, nodeName: string): string {
  if (spec?.hostnameOverride) return spec.hostnameOverride
  if (spec?.hostNetwork === true) return nodeName
  const short = shortName(metadata?.name ?? '', spec?.hostname)
  if (spec?.setHostnameAsFQDN === true && spec.subdomain)
    return `${short}.${domainOf(spec.subdomain, metadata?.namespace ?? '')}`
  return short
}

function shortName(podName: string, hostname: string | undefined): string {
  return hostname || podName.slice(0, MOST_HOSTNAME_CHARS).replace(/[-.]+$/, '')
}

function domainOf(subdomain: string, namespace: string): string {
  return `${subdomain}.${namespace}.svc.${DOMAIN}`
}

/** /etc/hosts. */
export function hostsOf(pod: Pod, nodeName: string): string {
  const { metadata, spec, status } = pod
  const ips = status?.podIPs?.map(({ ip }) => ip) ?? [status?.podIP ?? '127.0.0.1']
  const hostname = hostnameOf(pod, nodeName)
  const short = shortName(metadata?.name ?? '', spec?.hostname)
  const names =
    spec?.subdomain && !spec.hostnameOverride && spec.hostNetwork !== true
      ? [`${short}.${domainOf(spec.subdomain, metadata?.namespace ?? '')}`, short]
      : [hostname]
  const title = spec?.hostNetwork === true ? ' (host network)' : ''
  const lines = [
    `# Kubernetes-managed hosts file${title}.`,
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::\tip6-localnet',
    'fe00::\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...ips.map((ip) => [ip, ...names].join('\t')),
  ]
  const aliases = (spec?.hostAliases ?? []).map(({ ip, hostnames = [] }) =>
    [ip, ...hostnames].join('\t'),
  )
  if (aliases.length > 0) lines.push('', '# Entries added by HostAliases.', ...aliases)
  return `${lines.join('\n')}\n`
}

/** /etc/resolv.conf: the cluster's unless the pod wants none of it, then what the pod adds. */
export function resolverOf({ metadata, spec }: Pod): string {
  const { nameservers = [], searches = [], options = [] } = spec?.dnsConfig ?? {}
  const ownOnly = spec?.dnsPolicy === 'None'
  const cluster = `svc.${DOMAIN}`
  const search = ownOnly ? [] : [`${metadata?.namespace ?? ''}.${cluster}`, cluster, DOMAIN]
  const settings = new Map<string, string | undefined>(ownOnly ? [] : [['ndots', '5']])
  for (const { name = '', value } of options) settings.set(name, value)
  const lines = [
    ...(ownOnly ? nameservers : [DNS_SERVICE_IP, ...nameservers]).map((ip) => `nameserver ${ip}`),
    list('search', [...search, ...searches]),
    list(
      'options',
      [...settings].map(([name, value]) => (value ? `${name}:${value}` : name)),
    ),
  ]
  return lines
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('')
}

function list(keyword: string, words: readonly string[]): string {
  return words.length === 0 ? '' : [keyword, ...new Set(words)].join(' ')
}

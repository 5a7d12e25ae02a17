/** What a pod calls itself and what it finds the names of others with. Contract: docs/behaviour/simulation/kubelet.md, Commands. Pure. */
import type { Pod } from '@gyropilot/api'

const DOMAIN = 'cluster.local'
const MOST_HOSTNAME_CHARS = 63
const DNS_SERVICE_IP = '10.0.0.10'
/** Where a cluster's first addresses are IPv6. */
const DNS_SERVICE_IPV6 = 'fd00:10::a'
/** The server of a simulated node: an address that nobody has (RFC 5737). */
const NODE_DNS_IP = '192.0.2.53'

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

/** /etc/resolv.conf: of the cluster, of the node or of nobody by the pod's policy, then what the pod adds. */
export function resolverOf({ metadata, spec, status }: Pod): string {
  const { nameservers = [], searches = [], options = [] } = spec?.dnsConfig ?? {}
  const policy = spec?.dnsPolicy ?? 'ClusterFirst'
  const isOfNode = policy === 'Default' || (policy === 'ClusterFirst' && spec?.hostNetwork === true)
  const isOfCluster = !isOfNode && policy !== 'None'
  const cluster = `svc.${DOMAIN}`
  const search = isOfCluster ? [`${metadata?.namespace ?? ''}.${cluster}`, cluster, DOMAIN] : []
  const dnsIp = status?.hostIP?.includes(':') ? DNS_SERVICE_IPV6 : DNS_SERVICE_IP
  const servers = isOfCluster ? [dnsIp] : isOfNode ? [NODE_DNS_IP] : []
  const settings = new Map<string, string | undefined>(isOfCluster ? [['ndots', '5']] : [])
  for (const { name = '', value } of options) settings.set(name, value)
  const lines = [
    ...[...servers, ...nameservers].map((ip) => `nameserver ${ip}`),
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

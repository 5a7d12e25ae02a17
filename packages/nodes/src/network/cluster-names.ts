/** Names as a pod's resolver reads them. Contract: docs/behaviour/simulation/kubelet.md, Network. Pure. */

const DOMAIN = '.cluster.local'
const DEFAULT_MOST_DOTS = 1

interface Resolver {
  readonly servers: readonly string[]
  readonly search: readonly string[]
  /** Names with fewer dots are looked for with the search list first. */
  readonly ndots: number
}

/** Reads /etc/resolv.conf. */
export function resolverFrom(text: string): Resolver {
  const rows = text.split('\n').map((line) => line.split(/\s+/))
  const words = (keyword: string): string[] =>
    rows.filter(([first]) => first === keyword).flatMap(([, ...rest]) => rest)
  const ndots = words('options').find((option) => option.startsWith('ndots:'))
  return {
    servers: words('nameserver'),
    search: words('search'),
    ndots: ndots === undefined ? DEFAULT_MOST_DOTS : Number(ndots.slice('ndots:'.length)),
  }
}

/** The full names that a name may mean, in the order in which they are asked for, without a dot at the end. */
export function candidates(name: string, { search, ndots }: Resolver): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const dots = name.split('.').length - 1
  const searched = search.map((domain) => `${name}.${domain}`)
  return dots >= ndots ? [name, ...searched] : [...searched, name]
}

export type ClusterName =
  | {
      readonly kind: 'service'
      readonly namespace: string
      readonly service: string
      /** Of one of its pods. */
      readonly host?: string
    }
  | { readonly kind: 'pod'; readonly namespace: string; readonly address: string }
  /** In the cluster's domain, and of no form that it knows. */
  | { readonly kind: 'none' }

/** Undefined: not in the cluster's domain. */
export function clusterName(fullName: string): ClusterName | undefined {
  const lower = fullName.toLowerCase()
  if (!lower.endsWith(DOMAIN)) return undefined
  const labels = lower.slice(0, -DOMAIN.length).split('.')
  const [kind, namespace, last, host, ...more] = labels.toReversed()
  if (namespace === undefined || last === undefined || more.length > 0) return { kind: 'none' }
  if (kind === 'svc')
    return { kind: 'service', namespace, service: last, ...(host === undefined ? {} : { host }) }
  if (kind === 'pod' && host === undefined)
    return { kind: 'pod', namespace, address: addressFrom(last) }
  return { kind: 'none' }
}

/** `10-244-0-7`, `fd00--7`. */
function addressFrom(label: string): string {
  return /^\d+-\d+-\d+-\d+$/.test(label) ? label.replaceAll('-', '.') : label.replaceAll('-', ':')
}

/** Rows of /etc/hosts by name. */
export function hostsFrom(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    for (const name of names) hosts.set(name, [...(hosts.get(name) ?? []), address])
  }
  return hosts
}

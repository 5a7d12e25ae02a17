/** `/healthz`, `/livez` and `/readyz`. Contract: docs/behaviour/api-server/requests.md, "Other endpoints". */
import { text, type Answer } from '../http/answer.ts'

export interface HealthCheck {
  readonly name: string
  /** Where it is asked; default: everywhere. */
  readonly on?: readonly Endpoint[]
  healthy(): boolean
}

type Endpoint = 'healthz' | 'livez' | 'readyz'

const NO_SNIFFING = { 'x-content-type-options': 'nosniff' }

const always = (): boolean => true

/** What holds as long as the process answers. */
export const standingChecks: readonly HealthCheck[] = [
  { name: 'ping', healthy: always },
  { name: 'log', healthy: always },
  { name: 'loopback-serving-certificate', on: ['healthz', 'livez'], healthy: always },
  { name: 'etcd', on: ['healthz', 'livez'], healthy: always },
]

/** Parts of the start of kube-apiserver 1.36, in its order. Here all of them have ended when the server is ready. */
const START: readonly string[] = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-wait-for-first-sync',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

export function startChecks(isReady: () => boolean): readonly HealthCheck[] {
  return [
    { name: 'informer-sync', on: ['readyz'], healthy: isReady },
    ...START.map((name) => ({ name, healthy: isReady })),
  ]
}

/** Told about each check that was asked. */
type CheckRecorder = (name: string, endpoint: string, healthy: boolean) => void

/** Undefined: not a health path, or an unknown check. */
export function healthAnswer(
  checks: readonly HealthCheck[],
  path: string,
  query: URLSearchParams,
  record: CheckRecorder,
): Answer | undefined {
  const [endpoint = '', ...parts] = path.slice(1).split('/')
  if (!isEndpoint(endpoint)) return undefined
  const own = checks.filter((check) => isAskedOn(endpoint, check))
  if (parts.length > 0) {
    const name = parts.join('/')
    const check = own.find((candidate) => candidate.name === name)
    if (check === undefined) return undefined
    const healthy = check.healthy()
    record(name, endpoint, healthy)
    return healthy
      ? text(200, 'ok')
      : text(500, `internal server error: ${name}: reason withheld\n`, NO_SNIFFING)
  }
  return report(endpoint, own, query, record)
}

const ENDPOINTS: readonly Endpoint[] = ['healthz', 'livez', 'readyz']

function isAskedOn(endpoint: Endpoint, { on }: HealthCheck): boolean {
  return on?.includes(endpoint) ?? true
}

/** Every path that can be asked. */
export function healthPaths(checks: readonly HealthCheck[]): readonly string[] {
  return ENDPOINTS.flatMap((endpoint) => [
    `/${endpoint}`,
    ...checks
      .filter((check) => isAskedOn(endpoint, check))
      .map(({ name }) => `/${endpoint}/${name}`),
  ])
}

function isEndpoint(name: string): name is Endpoint {
  return name === 'healthz' || name === 'livez' || name === 'readyz'
}

function report(
  endpoint: string,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  record: CheckRecorder,
): Answer {
  const excluded = new Set(query.getAll('exclude'))
  let failed = false
  const lines: string[] = []
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`)
      continue
    }
    const healthy = check.healthy()
    record(check.name, endpoint, healthy)
    if (!healthy) failed = true
    lines.push(healthy ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`)
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  const details = lines.map((line) => `${line}\n`).join('')
  if (failed) return text(500, `${details}${endpoint} check failed\n`, NO_SNIFFING)
  const shown = query.has('verbose') ? `${details}${endpoint} check passed\n` : 'ok'
  return text(200, shown, NO_SNIFFING)
}

/** What the server tells of itself when somebody asks for its metrics. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type { Counter, MetricsRegistry } from '@gyropilot/foundation'
import { isAvailable } from '../aggregation/availability.ts'
import type { Store } from '../storage/store.ts'
import type { InFlight } from './limits/in-flight.ts'

const API_SERVICES = 'apiservices.apiregistration.k8s.io'

/** Gauges that are computed when somebody asks. */
export function exposeServerState(
  registry: MetricsRegistry,
  store: Store,
  inFlight: InFlight,
): void {
  const current = registry.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are being worked on now, without long-running ones.',
    labels: ['request_kind'],
    stability: 'STABLE',
  })
  const queued = registry.gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'Requests that wait to be worked on: none, for what is too much is refused.',
    labels: ['request_kind'],
  })
  const objects = registry.gauge({
    name: 'apiserver_resource_objects',
    help: 'Objects that are stored, by group and resource.',
    labels: ['group', 'resource'],
  })
  const objectsByName = registry.gauge({
    name: 'apiserver_storage_objects',
    help: '(Deprecated since 1.34.0) Objects that are stored, by resource and group in one label.',
    labels: ['resource'],
    stability: 'STABLE',
  })
  const shown = new Set<string>()
  registry.onCollect(() => {
    current.set(inFlight.reading, { request_kind: 'readOnly' })
    current.set(inFlight.mutating, { request_kind: 'mutating' })
    for (const kind of ['readOnly', 'mutating']) queued.set(0, { request_kind: kind })
    // Collections that have become empty are shown as such.
    for (const collection of store.collections()) shown.add(collection)
    for (const collection of shown) {
      const dot = collection.indexOf('.')
      const resource = dot < 0 ? collection : collection.slice(0, dot)
      const group = dot < 0 ? '' : collection.slice(dot + 1)
      objects.set(store.count(collection), { group, resource })
      objectsByName.set(store.count(collection), { resource: collection })
    }
  })
}

/** Group versions that cannot be served now, by the name of their APIService. */
export function exposeApiServices(registry: MetricsRegistry, store: Store): void {
  const unavailable = registry.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Whether an APIService is marked as unavailable, by its name.',
    labels: ['name'],
  })
  registry.onCollect(() => {
    unavailable.clear()
    const snapshot = store.list(API_SERVICES, '')
    if (snapshot === 'expired') return
    for (const { object } of snapshot.entries)
      unavailable.set(isAvailable(object) ? 0 : 1, { name: object['metadata'].name })
  })
}

/** Counts APIServices that were available and are no more. */
export function lostApiServices(registry: MetricsRegistry): Counter {
  return registry.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'APIServices that have become unavailable, by name and reason.',
    labels: ['name', 'reason'],
  })
}

/** Which Kubernetes this server behaves like. */
export function exposeBuild(
  registry: MetricsRegistry,
  build: Readonly<
    Record<
      | 'buildDate'
      | 'compiler'
      | 'emulationMajor'
      | 'emulationMinor'
      | 'gitCommit'
      | 'gitTreeState'
      | 'gitVersion'
      | 'goVersion'
      | 'major'
      | 'minCompatibilityMajor'
      | 'minCompatibilityMinor'
      | 'minor'
      | 'platform',
      string
    >
  >,
): void {
  const labels = {
    build_date: build.buildDate,
    compiler: build.compiler,
    git_commit: build.gitCommit,
    git_tree_state: build.gitTreeState,
    git_version: build.gitVersion,
    go_version: build.goVersion,
    major: build.major,
    minor: build.minor,
    platform: build.platform,
  }
  registry
    .gauge({
      name: 'kubernetes_build_info',
      help: 'Always 1: which version this is, what it was built from and where it runs.',
      labels: Object.keys(labels),
      stability: 'BETA',
    })
    .set(1, labels)
  registry
    .gauge({
      name: 'version_info',
      help: 'Always 1: the version of the program, the one that it behaves as, and the oldest that it gets along with.',
      labels: ['binary', 'component', 'emulation', 'min_compat'],
    })
    .set(1, {
      binary: build.gitVersion.slice(1),
      component: 'kube',
      emulation: `${build.emulationMajor}.${build.emulationMinor}`,
      min_compat: `${build.minCompatibilityMajor}.${build.minCompatibilityMinor}`,
    })
}

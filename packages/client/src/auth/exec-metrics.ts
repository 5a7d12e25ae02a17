import { silentMetrics } from '@gyropilot/foundation'
import type { Counter, Histogram, MetricsRegistry } from '@gyropilot/foundation'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 360 * DAY
const AGE_BUCKETS_SECONDS = [
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  4 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  90 * DAY,
  180 * DAY,
  YEAR,
  4 * YEAR,
]

export interface ExecMetrics {
  readonly calls: Counter
  /** Of a certificate, from the beginning of its validity to the moment that another takes its place. */
  readonly rotationAgeSeconds: Histogram
  /** Of each plug-in, how long its certificate is still valid; undefined: it has none. */
  readonly lifetimes: Set<() => number | undefined>
}

const ofRegistry = new WeakMap<MetricsRegistry, ExecMetrics>()

/** The `rest_client_exec_plugin_*` families: one set for all plug-ins of a registry. */
export function execMetrics(registry: MetricsRegistry = silentMetrics): ExecMetrics {
  let metrics = ofRegistry.get(registry)
  if (metrics === undefined) {
    metrics = registered(registry)
    ofRegistry.set(registry, metrics)
  }
  return metrics
}

function registered(registry: MetricsRegistry): ExecMetrics {
  const lifetimes: ExecMetrics['lifetimes'] = new Set()
  const ttlSeconds = registry.gauge({
    name: 'rest_client_exec_plugin_ttl_seconds',
    help: 'Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec plugin. The value is in seconds until certificate expiry (negative if already expired). If auth exec plugins are unused or manage no TLS certificates, the value will be +INF.',
  })
  const collect = (): void =>
    ttlSeconds.set(Math.min(...[...lifetimes].map((left) => left() ?? Infinity)))
  collect()
  registry.onCollect(collect)
  return {
    lifetimes,
    calls: registry.counter({
      name: 'rest_client_exec_plugin_call_total',
      help: 'Number of calls to an exec plugin, partitioned by the type of event encountered (no_error, plugin_execution_error, plugin_not_found_error, client_internal_error) and an optional exit code. The exit code will be set to 0 if and only if the plugin call was successful.',
      labels: ['call_status', 'code'],
    }),
    rotationAgeSeconds: registry.histogram({
      name: 'rest_client_exec_plugin_certificate_rotation_age',
      help: 'Histogram of the number of seconds the last auth exec plugin client certificate lived before being rotated. If auth exec plugin client certificates are unused, histogram will contain no data.',
      buckets: AGE_BUCKETS_SECONDS,
    }),
  }
}

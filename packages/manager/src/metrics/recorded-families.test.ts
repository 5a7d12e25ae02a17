/**
 * The families that kube-controller-manager 1.36.2 showed at /metrics, in two starts in which Jobs ended, autoscalers and volumes had
 * work, and tokens were reviewed: name, kind, stability, labels and buckets. Contract: docs/behaviour/runtime/manager.md, Serving.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { TransportPool } from '@gyropilot/client'
import { controllers, defaultControllersConfiguration } from '@gyropilot/controllers'
import { PrometheusRegistry } from '@gyropilot/foundation'
import type { HistogramOptions, MetricOptions, MetricsRegistry } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { testClock } from '@gyropilot/runtime/testing'
import { managerWorld } from '../fixtures.ts'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { clientBuilder } from '../identities/client-builder.ts'
import { Options, compatibilityVersions } from '../options/options.ts'
import { AuthMetrics } from '../serving/auth-metrics.ts'
import { registerBinaryMetrics } from './binary-metrics.ts'
import { filteredMetrics } from './metric-filters.ts'

interface Family {
  readonly name: string
  readonly kind: string
  readonly stability: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

const recorded = JSON.parse(
  readFileSync(new URL('./testing/recorded-families.json', import.meta.url), 'utf8'),
) as readonly Family[]

/** See the page: there is nothing of it in this process. */
const NOT_HERE = ['registered_metrics_total', 'rest_client_transport_cert_rotation_gc_calls_total']

/** What neither start showed, of what has no series before it has happened. */
const NOT_RECORDED = [
  'attach_detach_controller_attachdetach_controller_forced_detaches',
  'attachdetach_controller_total_volumes',
  'horizontal_pod_autoscaler_controller_desired_replicas',
  'informer_store_resource_version',
  'job_controller_stale_sync_skips_total',
  'pod_gc_collector_force_delete_pod_errors_total',
  'replicaset_controller_stale_sync_skips_total',
  'rest_client_exec_plugin_call_total',
  'rest_client_request_retries_total',
  'rest_client_transport_ca_reload_total',
  'volume_operation_errors_total',
]

/** The queues of its controllers; those of what is read again are upstream's alone. */
const QUEUES = `
  ClusterRoleAggregator bootstrap_signer_queue certificate
  cidrallocator_node claims cronjob
  daemonset daemonset-node-updates deployment
  device-taint-eviction-controller disruption disruption_recheck
  endpoint endpoint_slice endpoint_slice_mirroring
  ephemeral_volume garbage_collector_attempt_to_delete garbage_collector_attempt_to_orphan
  garbage_collector_graph_changes horizontalpodautoscaler ipaddresses
  job job_orphan_pod namespace
  node_lifecycle_controller node_lifecycle_controller_pods noexec_taint_node
  noexec_taint_pod orphaned_pods_nodes pvcprotection
  pvcs pvprotection replicaset
  replicationmanager resource_claim resource_quota_controller_resource_changes
  resourcequota_primary resourcequota_priority root_ca_cert_publisher
  selinux_warning serviceaccount serviceaccount_tokens_service
  stale_pod_disruption statefulset token_cleaner
  ttl_jobs_to_delete ttlcontroller vacprotection
  validatingadmissionpolicy-status volume_expand volumes
`
  .trim()
  .split(/\s+/)

function collecting() {
  const families = new Map<string, Family>()
  const registry = new PrometheusRegistry()
  const note = (kind: string, options: MetricOptions & Partial<HistogramOptions>): void => {
    const { name, stability = 'ALPHA', labels = [], buckets } = options
    const family = { name, kind, stability, labels: labels.toSorted() }
    families.set(name, buckets === undefined ? family : { ...family, buckets })
  }
  const metrics: MetricsRegistry = {
    counter(options) {
      note('counter', options)
      return registry.counter(options)
    },
    gauge(options) {
      note('gauge', options)
      return registry.gauge(options)
    },
    histogram(options) {
      note('histogram', options)
      return registry.histogram(options)
    },
    onCollect: (collect) => registry.onCollect(collect),
    clear: () => registry.clear(),
    expose: () => registry.expose(),
  }
  return { families, metrics }
}

test('metrics have the names, kinds, stabilities, labels and buckets of kube-controller-manager 1.36.2', async () => {
  const { families, metrics } = collecting()
  const { run, clock, stop } = managerWorld(controllers)
  const nodeIpam = {
    ...defaultControllersConfiguration.nodeIpam,
    allocateNodeCidrs: true,
    clusterCidr: '10.244.0.0/16',
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const serviceAccountToken = {
    ...defaultControllersConfiguration.serviceAccountToken,
    privateKeyPem: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
  const running = run({
    metrics,
    configuration: { ...defaultControllersConfiguration, nodeIpam, serviceAccountToken },
    items: ['*', 'bootstrapsigner', 'tokencleaner', 'selinux-warning-controller'],
  })
  await clock.advance(1_000)
  stop.abort()
  await clock.advance(10_000)
  await running
  ofTheBinary(metrics)
  ofClients(metrics)
  ofThoseWhoAsk(metrics)
  const known = new Map(recorded.map((family) => [family.name, family]))
  const shown = [...families.values()].filter(({ name }) => known.has(name))
  assert.deepEqual(
    shown,
    shown.map(({ name }) => known.get(name)),
  )
  const missing = recorded.filter(({ name }) => !families.has(name)).map(({ name }) => name)
  assert.deepEqual(missing, NOT_HERE)
  const further = [...families.keys()].filter((name) => !known.has(name))
  assert.deepEqual(further.toSorted(), NOT_RECORDED)
  const queues = metrics.expose().matchAll(/^workqueue_adds_total\{name="(.*)"\}/gm)
  assert.deepEqual(
    Array.from(queues, ([, name]) => name),
    QUEUES,
  )
})

function ofTheBinary(metrics: MetricsRegistry): void {
  const options = new Options(parseFlags(flagDefinitions, []))
  const build = { version: 'v1.36.2', commit: 'abc', platform: { os: 'linux', arch: 'amd64' } }
  registerBinaryMetrics(metrics, build, options.gates(), compatibilityVersions(options))
  filteredMetrics(metrics, { disabled: new Set(), allowed: new Map() })
}

function ofClients(metrics: MetricsRegistry): void {
  const clock = testClock()
  const logger = new RecordingLogger()
  const pool = new TransportPool({ host: new FakeHost({}), clock, logger, metrics })
  pool.transport({ server: 'https://127.0.0.1:1', tls: {} })
  const transport = { send: () => Promise.reject(new Error('no')), close: async () => {} }
  clientBuilder({
    transport: () => transport,
    clock,
    logger,
    metrics,
    host: '10.0.0.1:6443',
    rate: { qps: 20, burst: 30 },
    userAgent: { program: 'p', version: 'v1.36.2', commit: 'abc', os: 'linux', arch: 'amd64' },
  }).client('')
}

function ofThoseWhoAsk(metrics: MetricsRegistry): void {
  const counted = new AuthMetrics(testClock(), metrics)
  counted.authenticated('success', 0, 'admin')
  counted.authorized('allowed', 0)
  for (const purpose of ['authn', 'authz'] as const) counted.reviewed(purpose, 0)
  const cache = counted.tokenCache()
  cache.asked()(false)
  cache.waiting()()
  cache.fetching()(true)
}

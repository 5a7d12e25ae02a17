/** The smallest valid objects, for tests. */
import assert from 'node:assert/strict'
import type { Discovered } from '@gyropilot/client'
import type { HorizontalPodAutoscaler, MetricSpec, Pod, Scale } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { defaultHorizontalPodAutoscalerConfiguration } from './config.ts'
import { AutoscalerMemory } from './memory.ts'
import { reconcile } from './reconcile.ts'
import type { AutoscalerSettings } from './reconcile.ts'

export const NOW = '2026-01-01T00:00:00Z'

export const CPU: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
}

interface AutoscalerOptions {
  readonly name?: string
  readonly spec?: Partial<HorizontalPodAutoscaler['spec']>
  readonly status?: HorizontalPodAutoscaler['status']
}

/** Of Deployment `web`, from 1 to 10, half of the CPU that is requested. */
export function autoscaler(given: AutoscalerOptions = {}): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'ns', name: given.name ?? 'h', resourceVersion: '7' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [CPU],
      ...given.spec,
    },
    ...(given.status && { status: given.status }),
  }
}

export function scale(replicas: number, selector = 'app=web', statusReplicas = replicas): Scale {
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { namespace: 'ns', name: 'web', resourceVersion: '3' },
    spec: { replicas },
    status: { replicas: statusReplicas, ...(selector && { selector }) },
  }
}

/** Runs and is ready since the day before; requests a whole CPU. */
export function pod(name: string): Pod {
  const since = '2025-12-31T00:00:00Z'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name, labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status: {
      phase: 'Running',
      startTime: since,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
    },
  }
}

export interface Sync extends DriveOptions {
  readonly scale?: Scale | Outcome<never>
  readonly pods?: readonly Pod[]
  /** CPU of each pod in thousandths; default: none is listed. */
  readonly usage?: Readonly<Record<string, number>>
  /** Values of the external metric. */
  readonly external?: readonly string[]
  /** Answers of the custom metrics API by path. */
  readonly custom?: Readonly<Record<string, unknown>>
  readonly memory?: AutoscalerMemory
  readonly settings?: Partial<AutoscalerSettings>
}

/** Where `custom` has what is offered of the custom metrics API; nothing: it is not registered. */
const DISCOVERY = '/apis/custom.metrics.k8s.io'

interface OfferedVersions {
  readonly preferredVersion?: { readonly version: string }
  readonly versions?: readonly { readonly version: string; readonly stale?: boolean }[]
}

function discovered(offered: OfferedVersions | undefined): Discovered {
  const { preferredVersion, versions = [] } = offered ?? {}
  const group = 'custom.metrics.k8s.io'
  const names = [preferredVersion, ...versions].flatMap((each) => each?.version ?? [])
  return {
    resources: [],
    versions: new Map(offered === undefined ? [] : [[group, names]]),
    failed: new Map(
      versions.flatMap(({ version, stale }) => (stale ? [[`${group}/${version}`, 'stale']] : [])),
    ),
  }
}

/** A world where nothing is measured but what is given; what is read in it is told to `reads`. */
export function answers(given: Sync, reads: string[] = []): DriveOptions {
  const { usage, external, custom } = given
  const current = given.scale ?? scale(3)
  return {
    onKind: ({ group, kind, version }) =>
      kind === 'Foo' || !['', 'v1'].includes(version)
        ? refused(404, 'NotFound', 'nobody knows')
        : ({
            ok: true,
            object: {
              group,
              version: 'v1',
              resource: `${kind.toLowerCase()}s`,
              kind,
              namespaced: true,
            },
          } as Outcome<never>),
    onRead(read) {
      if (read.verb === 'discover') {
        reads.push(DISCOVERY)
        return { ok: true, object: discovered(custom?.[DISCOVERY] as OfferedVersions) as object }
      }
      if (read.verb === 'get') return 'ok' in current ? current : { ok: true, object: current }
      assert.ok(read.verb === 'list')
      assert.equal(read.limit, 0, 'no page is asked for: servers of metrics know none')
      const { group, resource } = read.type
      reads.push(`${group}/${resource} ${read.namespace} ${read.labelSelector}`)
      if (group === 'metrics.k8s.io' && usage !== undefined) return listed(podUsages(usage))
      if (group === 'external.metrics.k8s.io' && external !== undefined)
        return listed(external.map((value) => ({ value })))
      return refused(404, 'NotFound', 'the server could not find the requested resource')
    },
    onFetch(path) {
      reads.push(path)
      const body = custom?.[path]
      return body === undefined ? refused(404, 'NotFound') : { ok: true, object: body as object }
    },
    ...given,
  }
}

/** One sync in such a world. */
export function sync(object: HorizontalPodAutoscaler, given: Sync = {}) {
  const { pods = [pod('a'), pod('b'), pod('c')] } = given
  const synced: string[] = []
  const reads: string[] = []
  const settings: AutoscalerSettings = {
    configuration: { ...defaultHorizontalPodAutoscalerConfiguration, downscaleStabilizationMs: 0 },
    memory: given.memory ?? new AutoscalerMemory(),
    podsMatching: (namespace, query) =>
      pods.filter(
        ({ metadata }) => metadata?.namespace === namespace && query.matches(metadata.labels),
      ),
    allowsZero: false,
    configurableTolerance: true,
    podLevelResources: true,
    elapsedMs: () => given.nowMs ?? Date.parse(NOW),
    onMetric: (...parts) => void synced.push(parts.join(' ')),
    onSynced: (...parts) => void synced.push(parts.join(' ')),
    ...given.settings,
  }
  const driven = drive(reconcile(object, settings), answers(given, reads))
  const writes = driven.writes.map((write) => {
    assert.ok(write.verb === 'update')
    return write.subresource === 'scale'
      ? `scale ${(write.object as Scale).spec?.replicas}`
      : `${write.subresource}`
  })
  const last = driven.writes.findLast(
    (write) => 'subresource' in write && write.subresource === 'status',
  )
  const status =
    last?.verb === 'update' ? (last.object as HorizontalPodAutoscaler).status : undefined
  const conditions = (status?.conditions ?? []).map(({ type, status: value, reason }) =>
    [type, value, reason].join(' '),
  )
  return { ...driven, did: writes, status, conditions, synced, reads }
}

const listed = (items: readonly object[]): Outcome => ({ ok: true, object: { items } as object })

function podUsages(usage: Readonly<Record<string, number>>): readonly object[] {
  return Object.entries(usage).map(([name, milli]) => ({
    metadata: { name },
    timestamp: NOW,
    window: '30s',
    containers: [{ name: 'c', usage: { cpu: `${milli}m` } }],
  }))
}

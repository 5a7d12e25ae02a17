/**
 * What the metrics APIs say, as effects. Each of these throws an error in the words of the page.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Metrics API calls.
 */
import { parseTime, quantityToMilli } from '@gyropilot/api'
import type {
  CrossVersionObjectReference,
  KubernetesObject,
  LabelSelector,
  Quantity,
  ResourceType,
} from '@gyropilot/api'
import { labelQueryOf } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { errorText, parseGoDuration } from '@gyropilot/foundation'
import { getLivePath, listLive, resourceOfKind } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { AutoscalerMemory } from './memory.ts'
import type { PodMetric, PodMetrics } from './pod-groups.ts'

interface UsageOfPod extends KubernetesObject {
  readonly timestamp?: string | null
  readonly window?: string
  readonly containers?: readonly {
    readonly name: string
    readonly usage: Readonly<Record<string, Quantity>>
  }[]
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  readonly timestamp?: string | null
  readonly windowSeconds?: number
  readonly value: Quantity
}

interface ExternalMetricValue extends KubernetesObject {
  readonly value: Quantity
}

interface ApiGroup {
  readonly preferredVersion?: { readonly version: string }
  readonly versions?: readonly { readonly version: string }[]
}

const CUSTOM = 'custom.metrics.k8s.io'
/** Those that can be read, the better one first. */
const CUSTOM_VERSIONS: readonly string[] = ['v1beta2', 'v1beta1']
const DEFAULT_WINDOW_MS = 60_000
const RESOURCE_FAILED = 'unable to fetch metrics from resource metrics API'
const CUSTOM_FAILED = 'unable to fetch metrics from custom metrics API'
const EXTERNAL_FAILED = 'unable to fetch metrics from external metrics API'

const podMetricsType = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  resource: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
} as ResourceType<UsageOfPod>

/** Usage of all pods that the selector matches; with `container` of that one. Pods without the resource are left out. */
export function* resourceMetrics(
  namespace: string,
  labelSelector: string,
  resource: string,
  container?: string,
): Reconcile<PodMetrics> {
  const listed = yield* listLive(podMetricsType, namespace, { labelSelector, limit: 0 })
  if (!listed.ok) throw new Error(`${RESOURCE_FAILED}: ${errorText(listed.error)}`)
  const { items } = listed.object
  if (items.length === 0) throw new Error('no metrics returned from resource metrics API')
  return decoded(RESOURCE_FAILED, () => {
    const metrics = new Map<string, PodMetric>()
    for (const item of items) {
      const milli = usageOf(item, resource, container)
      if (milli === undefined) continue
      const taken = { timestampMs: timestampOf(item), windowMs: windowOf(item) }
      metrics.set(item.metadata?.name ?? '', { milli, ...taken })
    }
    return metrics
  })
}

/** What cannot be read is as if nothing had come. */
function decoded<Read>(failure: string, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw new Error(`${failure}: ${errorText(error)}`, { cause: error })
  }
}

function usageOf(
  { containers = [] }: UsageOfPod,
  resource: string,
  named: string | undefined,
): number | undefined {
  const counted = named === undefined ? containers : containers.filter(({ name }) => name === named)
  let sum = 0
  for (const { usage } of counted) {
    const quantity = usage[resource]
    // A sum that lacks a part would say that there is less load than there is.
    if (quantity === undefined) return undefined
    sum += quantityToMilli(quantity)
  }
  return counted.length === 0 ? undefined : sum
}

function windowOf({ window = '0s' }: UsageOfPod): number {
  const windowMs = parseGoDuration(window)
  if (typeof windowMs === 'string') throw new Error(windowMs)
  return windowMs
}

function timestampOf({ timestamp }: UsageOfPod | MetricValue): number {
  const timestampMs = parseTime(timestamp)
  if (timestampMs !== undefined) return timestampMs
  if (timestamp === undefined || timestamp === null) return 0
  const text = JSON.stringify(timestamp)
  throw new Error(
    `parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`,
  )
}

/** A metric that each pod has. */
export function* podsMetric(
  namespace: string,
  labelSelector: string,
  metric: { readonly name: string; readonly selector?: LabelSelector },
  memory: AutoscalerMemory,
  clock: CustomMetricsClock,
): Reconcile<PodMetrics> {
  const query = queryOf({ labelSelector, metricLabelSelector: selectorText(metric.selector) })
  const path = `namespaces/${namespace}/pods/*/${encodeURIComponent(metric.name)}${query}`
  const items = yield* customMetrics(yield* customVersion(memory, clock), path)
  if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
  return decoded(
    CUSTOM_FAILED,
    () => new Map(items.map((item) => [item.describedObject?.name ?? '', podMetricOf(item)])),
  )
}

function podMetricOf(item: MetricValue): PodMetric {
  const { value, windowSeconds } = item
  return {
    milli: quantityToMilli(value),
    timestampMs: timestampOf(item),
    windowMs: windowSeconds === undefined ? DEFAULT_WINDOW_MS : windowSeconds * 1_000,
  }
}

/** A metric of one object. */
export function* objectMetric(
  namespace: string,
  object: CrossVersionObjectReference,
  metric: { readonly name: string; readonly selector?: LabelSelector },
  memory: AutoscalerMemory,
  clock: CustomMetricsClock,
): Reconcile<number> {
  const query = queryOf({ metricLabelSelector: selectorText(metric.selector) })
  const version = yield* customVersion(memory, clock)
  const place = yield* placeOf(object)
  const path = `namespaces/${namespace}/${place}/${encodeURIComponent(metric.name)}${query}`
  const items = yield* customMetrics(version, path)
  const [only, ...more] = items
  if (only === undefined || more.length > 0)
    throw new Error(
      `${CUSTOM_FAILED}: the custom metrics API server returned ${items.length} results when we asked for exactly one`,
    )
  return decoded(CUSTOM_FAILED, () => quantityToMilli(only.value))
}

/**
 * `<resource>.<group>/<name>` of whatever version; the metric of a namespace has a path of its own, and is always of the
 * autoscaler's.
 */
function* placeOf({ apiVersion = '', kind, name }: CrossVersionObjectReference): Reconcile<string> {
  const parts = apiVersion.split('/')
  const group = parts.length === 2 ? parts[0]! : ''
  if (kind === 'Namespace' && group === '') return 'metrics'
  const found = yield* resourceOfKind(group, kind, '')
  const suffix = group === '' ? '' : `.${group}`
  if (!found.ok)
    throw new Error(
      `${CUSTOM_FAILED}: unable to map kind ${kind}${suffix} to resource: no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`,
      { cause: found.error },
    )
  return `${found.object.resource}${suffix}/${encodeURIComponent(name)}`
}

/** A metric of something that the cluster does not know: each value that matches. */
export function* externalMetric(
  namespace: string,
  metric: { readonly name: string; readonly selector?: LabelSelector },
): Reconcile<readonly number[]> {
  const type = {
    group: 'external.metrics.k8s.io',
    version: 'v1beta1',
    resource: metric.name,
    kind: 'ExternalMetricValue',
    namespaced: true,
  } as ResourceType<ExternalMetricValue>
  const labelSelector = selectorText(metric.selector)
  const listed = yield* listLive(type, namespace, { labelSelector, limit: 0 })
  if (!listed.ok) throw new Error(`${EXTERNAL_FAILED}: ${errorText(listed.error)}`)
  const { items } = listed.object
  if (items.length === 0) throw new Error('no metrics returned from external metrics API')
  return decoded(EXTERNAL_FAILED, () => items.map(({ value }) => quantityToMilli(value)))
}

export interface CustomMetricsClock {
  readonly nowMs: number
  /** The version of the API is asked for anew after so long. */
  readonly versionAgeMs: number
}

function* customVersion(memory: AutoscalerMemory, clock: CustomMetricsClock): Reconcile<string> {
  return memory.customMetricsVersion(clock.nowMs) ?? (yield* findVersion(memory, clock))
}

function* customMetrics(version: string, path: string): Reconcile<readonly MetricValue[]> {
  const found = yield* getLivePath<{ readonly items?: readonly MetricValue[] }>(
    `/apis/${CUSTOM}/${version}/${path}`,
  )
  if (!found.ok) throw new Error(`${CUSTOM_FAILED}: ${errorText(found.error)}`)
  return found.object.items ?? []
}

function* findVersion(
  memory: AutoscalerMemory,
  { nowMs, versionAgeMs }: CustomMetricsClock,
): Reconcile<string> {
  const found = yield* getLivePath<ApiGroup>(`/apis/${CUSTOM}`)
  if (!found.ok && !isNotFound(found.error))
    throw new Error(`${CUSTOM_FAILED}: ${errorText(found.error)}`)
  const { preferredVersion, versions = [] } = found.ok ? found.object : {}
  const offered = [preferredVersion, ...versions].map((each) => each?.version ?? '')
  const version = offered.find((each) => CUSTOM_VERSIONS.includes(each))
  if (version === undefined)
    throw new Error(`${CUSTOM_FAILED}: no custom metrics API (${CUSTOM}) registered`)
  memory.rememberCustomMetricsVersion(version, nowMs + versionAgeMs)
  return version
}

/** None is an empty text: that selects every series. */
function selectorText(selector: LabelSelector | undefined): string {
  return selector === undefined ? '' : labelQueryOf(selector).toString()
}

/** As upstream, what is empty is not sent. */
function queryOf(parameters: Readonly<Record<string, string>>): string {
  const sent = Object.entries(parameters).filter(([, text]) => text !== '')
  return sent.length === 0 ? '' : `?${new URLSearchParams(sent).toString()}`
}

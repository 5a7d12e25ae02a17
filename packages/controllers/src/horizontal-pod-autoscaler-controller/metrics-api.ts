/**
 * What the metrics APIs say, as effects. Each of these throws an error in the words of the page.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Metrics API calls.
 */
import { pathSegment, quantityToMilli } from '@gyropilot/api'
import type { CrossVersionObjectReference, LabelSelector, ResourceType } from '@gyropilot/api'
import { labelQueryOf } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { discoverLive, getLivePath, listLive, resourceOfKind } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { AutoscalerMemory } from './memory.ts'
import { readExternalValues, readMetricValues, readPodMetrics } from './metric-answers.ts'
import type { MetricValue, UsageOfPod } from './metric-answers.ts'
import type { PodMetric, PodMetrics } from './pod-groups.ts'

const CUSTOM = 'custom.metrics.k8s.io'
/** Those that can be read. */
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
} as ResourceType

/** Usage of all pods that the selector matches; with `container` of that one. Pods without the resource are left out. */
export function* resourceMetrics(
  namespace: string,
  labelSelector: string,
  resource: string,
  container?: string,
): Reconcile<PodMetrics> {
  const listed = yield* listLive(podMetricsType, namespace, { labelSelector, limit: 0 })
  if (!listed.ok) throw new Error(`${RESOURCE_FAILED}: ${errorText(listed.error)}`)
  const items = decoded(RESOURCE_FAILED, () => readPodMetrics(listed.object))
  if (items.length === 0) throw new Error('no metrics returned from resource metrics API')
  const metrics = new Map<string, PodMetric>()
  for (const item of items) {
    const milli = usageOf(item, resource, container)
    if (milli === undefined) continue
    const { timestamp = 0, window = 0 } = item
    metrics.set(item.metadata?.name ?? '', { milli, timestampMs: timestamp, windowMs: window })
  }
  return metrics
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
    const quantity = usage?.[resource]
    // A sum that lacks a part would say that there is less load than there is.
    if (quantity === undefined) return undefined
    sum += quantityToMilli(quantity)
  }
  return counted.length === 0 ? undefined : sum
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
  const version = yield* customVersion(memory, clock)
  const place = { resource: 'pods', name: '*', metric: metric.name }
  const items = yield* customMetrics(version, namespace, place, query)
  if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
  return new Map(items.map((item) => [item.describedObject?.name ?? '', podMetricOf(item)]))
}

function podMetricOf(item: MetricValue): PodMetric {
  const { value = '0', timestamp = 0, windowSeconds } = item
  return {
    milli: quantityToMilli(value),
    timestampMs: timestamp,
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
  const place = yield* placeOf(object, metric.name)
  const items = yield* customMetrics(version, namespace, place, query)
  const [only, ...more] = items
  if (only === undefined || more.length > 0)
    throw new Error(
      `${CUSTOM_FAILED}: the custom metrics API server returned ${items.length} results when we asked for exactly one`,
    )
  return quantityToMilli(only.value ?? '0')
}

/** Where a metric is asked for, and how a refusal without words of its own is told. */
interface CustomPlace {
  readonly resource: string
  readonly name: string
  /** Undefined: the name says it. */
  readonly metric?: string
}

/**
 * `<resource>.<group>/<name>` of whatever version; the metric of a namespace has a path of its own, and is always of the
 * autoscaler's.
 */
function* placeOf(
  { apiVersion = '', kind, name }: CrossVersionObjectReference,
  metric: string,
): Reconcile<CustomPlace> {
  const parts = apiVersion.split('/')
  const group = parts.length === 2 ? parts[0]! : ''
  if (kind === 'Namespace' && group === '') return { resource: 'metrics', name: metric }
  const found = yield* resourceOfKind(group, kind, '')
  const suffix = group === '' ? '' : `.${group}`
  if (!found.ok)
    throw new Error(
      `${CUSTOM_FAILED}: unable to map kind ${kind}${suffix} to resource: no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`,
      { cause: found.error },
    )
  return { resource: `${found.object.resource}${suffix}`, name, metric }
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
  } as ResourceType
  const labelSelector = selectorText(metric.selector)
  const listed = yield* listLive(type, namespace, { labelSelector, limit: 0 })
  if (!listed.ok) throw new Error(`${EXTERNAL_FAILED}: ${errorText(listed.error)}`)
  const items = decoded(EXTERNAL_FAILED, () => readExternalValues(listed.object))
  if (items.length === 0) throw new Error('no metrics returned from external metrics API')
  return items.map(({ value = '0' }) => quantityToMilli(value))
}

export interface CustomMetricsClock {
  readonly nowMs: number
  /** What is remembered has elapsed times: a wall clock that is set back must not keep it. */
  readonly elapsedMs: number
  /** The version of the API is asked for anew after so long. */
  readonly versionAgeMs: number
}

function* customVersion(memory: AutoscalerMemory, clock: CustomMetricsClock): Reconcile<string> {
  return memory.customMetricsVersion(clock.elapsedMs) ?? (yield* findVersion(memory, clock))
}

function* customMetrics(
  version: string,
  namespace: string,
  place: CustomPlace,
  query: string,
): Reconcile<readonly MetricValue[]> {
  const { resource, name, metric } = place
  const parts = [resource, name, ...(metric === undefined ? [] : [metric])]
  const path = ['namespaces', namespace, ...parts.map(pathPart)].join('/')
  const about = { group: CUSTOM, resource, name }
  const found = yield* getLivePath(`/apis/${CUSTOM}/${version}/${path}${query}`, about)
  if (!found.ok) throw new Error(`${CUSTOM_FAILED}: ${errorText(found.error)}`)
  return decoded(CUSTOM_FAILED, () => readMetricValues(found.object))
}

/** `*` stands for each. */
function pathPart(part: string): string {
  return part === '*' ? part : pathSegment(part)
}

/** As upstream by discovery of all groups, which alone tells the versions that nobody serves at the moment. */
function* findVersion(
  memory: AutoscalerMemory,
  { elapsedMs, versionAgeMs }: CustomMetricsClock,
): Reconcile<string> {
  const found = yield* discoverLive()
  if (!found.ok) throw new Error(`${CUSTOM_FAILED}: ${errorText(found.error)}`)
  const { versions, failed } = found.object
  const offered = versions.get(CUSTOM)
  if (offered === undefined)
    throw new Error(`${CUSTOM_FAILED}: no custom metrics API (${CUSTOM}) registered`)
  const served = offered.filter((version) => !failed.has(`${CUSTOM}/${version}`))
  const version = served.find((each) => CUSTOM_VERSIONS.includes(each))
  if (version === undefined)
    throw new Error(`${CUSTOM_FAILED}: no known available metric versions found`)
  memory.rememberCustomMetricsVersion(version, elapsedMs + versionAgeMs)
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

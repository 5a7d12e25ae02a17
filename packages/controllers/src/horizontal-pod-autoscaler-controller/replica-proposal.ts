/**
 * What one metric proposes, and what its entry in the status says.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Metrics API calls, Replica formulas.
 */
import { QuantityAmount, isPodReady, labelSelectorText, quantityToMilli } from '@gyropilot/api'
import type {
  LabelSelector,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  Pod,
  Quantity,
} from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import type { Reconcile } from '@gyropilot/runtime'
import { externalMetric, objectMetric, podsMetric, resourceMetrics } from './metrics-api.ts'
import type { CustomMetricsClock } from './metrics-api.ts'
import { MAX_INT32 } from './config.ts'
import type { AutoscalerMemory } from './memory.ts'
import { countingMetrics, groupPods } from './pod-groups.ts'
import type { PodMetrics, StartUpRules } from './pod-groups.ts'
import { podRequests } from './pod-requests.ts'
import {
  averageRatio,
  podReplicas,
  shareMilli,
  shareReplicas,
  utilizationRatio,
  valueReplicas,
} from './replica-counts.ts'
import type { PodScaling, Tolerances, UsageRatio } from './replica-counts.ts'

/** The largest signed 64-bit number, one more: no double is the number itself. */
const MAX_MILLI = 2 ** 63

export interface MetricSurroundings {
  readonly namespace: string
  /** In text form, of the scale. */
  readonly selector: string
  /** That the selector matches, from the cache. */
  readonly pods: readonly Pod[]
  readonly currentReplicas: number
  readonly statusReplicas: number
  readonly tolerances: Tolerances
  readonly startUp: StartUpRules
  readonly readsPodLevel: boolean
  readonly memory: AutoscalerMemory
  readonly clock: CustomMetricsClock
}

export interface ReplicaProposal {
  readonly replicas: number
  /** For reasons: `cpu resource utilization (percentage of request)`. */
  readonly metricName: string
  readonly status: MetricStatus
}

/** One metric gave nothing: `message` is for all metrics together, `inner` for its own condition. */
export class MetricFailure extends Error {
  readonly reason: string
  readonly inner: string

  constructor(reason: string, inner: string, outer: string) {
    super(`${outer}${inner}`)
    this.reason = reason
    this.inner = inner
  }
}

/** Throws MetricFailure. */
export function* proposalOf(
  spec: MetricSpec,
  world: MetricSurroundings,
): Reconcile<ReplicaProposal> {
  const [reason, outer] = failureWords(spec)
  try {
    switch (spec.type) {
      case 'Resource':
        return yield* ofResource(spec, world)
      case 'ContainerResource':
        return yield* ofContainerResource(spec, world)
      case 'Pods':
        return yield* ofPods(spec, world)
      case 'Object':
        return yield* ofObject(spec, world)
      case 'External':
        return yield* ofExternal(spec, world)
      default:
        throw new Error(`unknown metric source type ${JSON.stringify(spec.type)}`)
    }
  } catch (error) {
    throw new MetricFailure(reason, errorText(error), outer)
  }
}

function failureWords({
  type,
  resource,
  containerResource,
  object,
  external,
}: MetricSpec): readonly [string, string] {
  switch (type) {
    case 'Resource':
      return ['FailedGetResourceMetric', `failed to get ${resource?.name} resource metric value: `]
    case 'ContainerResource':
      return [
        'FailedGetContainerResourceMetric',
        `failed to get ${containerResource?.container} container metric value: `,
      ]
    case 'Pods':
      return ['FailedGetPodsMetric', 'failed to get pods metric value: ']
    case 'Object': {
      const { metric, target } = object!
      const words =
        target.type === 'AverageValue' ? `failed to get ${metric.name} object metric: ` : ''
      return ['FailedGetObjectMetric', `failed to get object metric value: ${words}`]
    }
    case 'External': {
      const { metric, target } = external!
      const words = `failed to get ${metric.name} external metric`
      const inner =
        target.averageValue === undefined ? `failed to get external metric ${metric.name}` : words
      return ['FailedGetExternalMetric', `${words} value: ${inner}: `]
    }
    default:
      return ['InvalidMetricSourceType', '']
  }
}

function* ofResource(spec: MetricSpec, world: MetricSurroundings): Reconcile<ReplicaProposal> {
  const { name, target } = spec.resource!
  const { replicas, usage, metricName } = yield* ofUsage(name, undefined, target, world)
  const status = { type: 'Resource', resource: { name, current: currentOf(name, usage) } }
  return { replicas, status, metricName: metricName('resource') }
}

function* ofContainerResource(
  spec: MetricSpec,
  world: MetricSurroundings,
): Reconcile<ReplicaProposal> {
  const { name, container, target } = spec.containerResource!
  const { replicas, usage, metricName } = yield* ofUsage(name, container, target, world)
  const status = {
    type: 'ContainerResource',
    containerResource: { name, container, current: currentOf(name, usage) },
  }
  return { replicas, status, metricName: metricName('container resource') }
}

interface UsageProposal {
  readonly replicas: number
  readonly usage: UsageRatio
  metricName(kind: string): string
}

function* ofUsage(
  resource: string,
  container: string | undefined,
  target: MetricTarget,
  world: MetricSurroundings,
): Reconcile<UsageProposal> {
  const { averageValue, averageUtilization } = target
  const isAverage = averageValue !== undefined
  if (!isAverage && averageUtilization === undefined)
    throw new Error(
      'invalid resource metric source: neither an average utilization nor an average value target was set',
    )
  const what = isAverage ? 'usage' : 'utilization'
  try {
    const metrics = yield* usageMetrics(resource, container, world)
    const targetMilli = isAverage ? quantityToMilli(averageValue) : 0
    const { replicas, usage } = isAverage
      ? podReplicas({
          ...scalingOf(world, metrics, resource === 'cpu'),
          ratioOf: (known) => averageRatio(known, targetMilli),
          assumedMilli: () => targetMilli,
        })
      : byUtilization(resource, container, averageUtilization!, metrics, world)
    const metricName = (kind: string): string =>
      // As upstream: an average is called that of a resource, also where one container is measured.
      isAverage ? `${resource} resource` : `${resource} ${kind} utilization (percentage of request)`
    return { replicas, usage, metricName }
  } catch (error) {
    throw because(`failed to get ${resource} ${what}`, error)
  }
}

function* usageMetrics(
  resource: string,
  container: string | undefined,
  { namespace, selector }: MetricSurroundings,
): Reconcile<PodMetrics> {
  try {
    return yield* resourceMetrics(namespace, selector, resource, container)
  } catch (error) {
    throw because(`unable to get metrics for resource ${resource}`, error)
  }
}

function byUtilization(
  resource: string,
  container: string | undefined,
  targetPercent: number,
  metrics: PodMetrics,
  world: MetricSurroundings,
) {
  const scaling = scalingOf(world, metrics, resource === 'cpu')
  const requests = podRequests(world.pods, resource, container, world.readsPodLevel)
  // What runs above its request on purpose is taken to do so.
  const assumedPercent = Math.max(100, targetPercent)
  return podReplicas({
    ...scaling,
    ratioOf: (known) => utilizationRatio(known, requests, targetPercent),
    // The product first, which is whole: a part like 1.15 is not, and would make 114 of 100.
    assumedMilli: (pod) => Math.trunc(((requests.get(pod) ?? 0) * assumedPercent) / 100),
  })
}

function scalingOf(
  { pods, currentReplicas, tolerances, startUp, clock }: MetricSurroundings,
  all: PodMetrics,
  isCpu: boolean,
): Omit<PodScaling, 'ratioOf' | 'assumedMilli'> {
  if (pods.length === 0)
    throw new Error('no pods returned by selector while calculating replica count')
  const groups = groupPods(pods, all, isCpu, clock.nowMs, startUp)
  const metrics = countingMetrics(all, groups)
  if (metrics.size === 0)
    throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  return { currentReplicas, groups, metrics, tolerances }
}

function* ofPods(spec: MetricSpec, world: MetricSurroundings): Reconcile<ReplicaProposal> {
  const { metric, target } = spec.pods!
  const { namespace, selector, memory, clock } = world
  let metrics: PodMetrics
  try {
    metrics = yield* podsMetric(namespace, selector, metric, memory, clock)
  } catch (error) {
    throw because(`unable to get metric ${metric.name}`, error)
  }
  const targetMilli = quantityToMilli(target.averageValue ?? 0)
  const { replicas, usage } = podReplicas({
    ...scalingOf(world, metrics, false),
    ratioOf: (known) => averageRatio(known, targetMilli),
    assumedMilli: () => targetMilli,
  })
  const current = { averageValue: milliQuantity(usage.averageMilli) }
  const status = { type: 'Pods', pods: { metric, current } }
  return { replicas, status, metricName: `pods metric ${metric.name}` }
}

function* ofObject(spec: MetricSpec, world: MetricSurroundings): Reconcile<ReplicaProposal> {
  const { metric, target, describedObject } = spec.object!
  const { namespace, memory, clock, currentReplicas, statusReplicas, tolerances } = world
  const { kind, name } = describedObject
  let usageMilli: number
  try {
    usageMilli = yield* objectMetric(namespace, describedObject, metric, memory, clock)
  } catch (error) {
    throw because(`unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/`, error)
  }
  const statusWith = (current: MetricStatusValue): MetricStatus => ({
    type: 'Object',
    object: { metric, describedObject, current },
  })
  if (target.type === 'Value') {
    const targetMilli = quantityToMilli(target.value ?? 0)
    const replicas = valueReplicas(usageMilli, targetMilli, currentReplicas, tolerances, () =>
      readyPodsOf(world.pods),
    )
    const metricName = `${kind} metric ${metric.name}`
    return { replicas, metricName, status: statusWith({ value: milliQuantity(usageMilli) }) }
  }
  if (target.type !== 'AverageValue')
    throw new Error(
      'invalid object metric source: neither a value target nor an average value target was set',
    )
  const targetMilli = quantityToMilli(target.averageValue ?? 0)
  const replicas = shareReplicas(usageMilli, targetMilli, statusReplicas, tolerances)
  const averageValue = milliQuantity(shareMilli(usageMilli, statusReplicas))
  // As upstream: averages of objects go by the name of external metrics.
  const metricName = `external metric ${metric.name}(${labelSelectorGoText(metric.selector)})`
  return { replicas, metricName, status: statusWith({ averageValue }) }
}

type MetricStatusValue = NonNullable<MetricStatus['object']>['current']

function* ofExternal(spec: MetricSpec, world: MetricSurroundings): Reconcile<ReplicaProposal> {
  const { metric, target } = spec.external!
  const { namespace, currentReplicas, statusReplicas, tolerances } = world
  const { averageValue, value } = target
  if (averageValue === undefined && value === undefined)
    throw new Error(
      'invalid external metric source: neither a value target nor an average value target was set',
    )
  const text = labelSelectorGoText(metric.selector)
  let values: readonly number[]
  try {
    values = yield* externalMetric(namespace, metric)
  } catch (error) {
    throw because(`unable to get external metric ${namespace}/${metric.name}/${text}`, error)
  }
  const metricName = `external metric ${metric.name}(${text})`
  const statusWith = (current: MetricStatusValue): MetricStatus => ({
    type: 'External',
    external: { metric, current },
  })
  if (averageValue !== undefined) {
    const { replicas, averageMilli } = ofShares(
      values,
      quantityToMilli(averageValue),
      statusReplicas,
      tolerances,
    )
    const current = { averageValue: milliQuantity(averageMilli) }
    return { replicas, metricName, status: statusWith(current) }
  }
  const usageMilli = sumOf(values)
  const replicas = valueReplicas(
    usageMilli,
    quantityToMilli(value!),
    currentReplicas,
    tolerances,
    () => readyPodsOf(world.pods),
  )
  return { replicas, metricName, status: statusWith({ value: milliQuantity(usageMilli) }) }
}

/**
 * As upstream, whose guard against sums beyond 64 bits takes a sum below zero for one: where it is on the way, all there is
 * counts as used, by each pod.
 */
function ofShares(
  values: readonly number[],
  targetMilli: number,
  statusReplicas: number,
  tolerances: Tolerances,
): { readonly replicas: number; readonly averageMilli: number } {
  let usageMilli = 0
  for (const value of values) {
    usageMilli += value
    if (usageMilli < 0 || usageMilli >= MAX_MILLI)
      return { replicas: MAX_INT32, averageMilli: MAX_MILLI }
  }
  return {
    replicas: shareReplicas(usageMilli, targetMilli, statusReplicas, tolerances),
    averageMilli: shareMilli(usageMilli, statusReplicas),
  }
}

/** Saturates where a signed 64-bit number does. */
function sumOf(values: readonly number[]): number {
  return Math.min(
    values.reduce((sum, value) => sum + value, 0),
    MAX_MILLI,
  )
}

function readyPodsOf(pods: readonly Pod[]): number {
  if (pods.length === 0)
    throw new Error(
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    )
  return pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length
}

function currentOf(resource: string, { utilization, averageMilli }: UsageRatio) {
  return {
    ...(utilization !== undefined && { averageUtilization: utilization }),
    averageValue:
      resource === 'memory' ? binaryQuantity(averageMilli) : milliQuantity(averageMilli),
  }
}

function milliQuantity(milli: number): Quantity {
  const whole = milli === MAX_MILLI ? BigInt(MAX_MILLI) - 1n : BigInt(Math.trunc(milli))
  return new QuantityAmount(whole * 1_000_000n, 'DecimalSI').toString()
}

function binaryQuantity(milli: number): Quantity {
  return new QuantityAmount(BigInt(Math.trunc(milli)) * 1_000_000n, 'BinarySI').toString()
}

function labelSelectorGoText(selector: LabelSelector | undefined): string {
  return selector === undefined ? 'nil' : labelSelectorText(selector)
}

/** What did not come about, and why; a text that ends in a slash is followed at once. */
function because(what: string, cause: unknown): Error {
  return new Error(`${what}${what.endsWith('/') ? '' : ': '}${errorText(cause)}`, { cause })
}

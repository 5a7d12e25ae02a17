/**
 * All metrics of an autoscaler together.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Selector check, Combining metrics.
 */
import { keyOf, parseLabelQuery } from '@gyropilot/api'
import type { HorizontalPodAutoscaler, LabelQuery, MetricStatus, Pod, Scale } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { scalingInactive } from './conditions.ts'
import type { ConditionUpdate } from './conditions.ts'
import { MetricFailure, proposalOf } from './replica-proposal.ts'
import type { MetricSurroundings, ReplicaProposal } from './replica-proposal.ts'

/** Of one metric, for the counters. */
type OnMetric = (type: string, proposedReplicas: number | undefined) => void

interface CombinedMetrics {
  /** Undefined: there is nothing to go by. */
  readonly replicas?: number
  readonly metricName: string
  /** One for each metric, empty for those that failed; undefined where none was asked for. */
  readonly statuses?: readonly MetricStatus[]
  readonly active: ConditionUpdate
  readonly error?: unknown
}

export interface MetricWorld extends Omit<MetricSurroundings, 'selector' | 'pods'> {
  podsMatching(namespace: string, query: LabelQuery): readonly Pod[]
  readonly onMetric?: OnMetric
}

export function* combineMetrics(
  autoscaler: HorizontalPodAutoscaler,
  scale: Scale,
  world: MetricWorld,
): Reconcile<CombinedMetrics> {
  const selected = yield* select(autoscaler, scale, world)
  if ('active' in selected) return selected
  const surroundings = { ...world, ...selected }
  const { metrics = [] } = autoscaler.spec
  const statuses: MetricStatus[] = []
  const failures: MetricFailure[] = []
  let best: ReplicaProposal | undefined
  for (const spec of metrics) {
    try {
      const proposal = yield* proposalOf(spec, surroundings)
      world.onMetric?.(spec.type, proposal.replicas)
      statuses.push(proposal.status)
      if (best === undefined || best.replicas === 0 || proposal.replicas > best.replicas)
        best = proposal
    } catch (error) {
      if (!(error instanceof MetricFailure)) throw error
      world.onMetric?.(spec.type, undefined)
      yield* recordEvent(autoscaler, 'Warning', error.reason, error.inner)
      statuses.push({ type: '' })
      failures.push(error)
    }
  }
  const [first] = failures
  const error =
    first &&
    new Error(
      `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${first.message}`,
    )
  // What failed might have asked for more: nothing goes down without it.
  if (best === undefined || (first !== undefined && best.replicas < world.currentReplicas)) {
    const active = scalingInactive(
      first?.reason ?? 'InvalidMetricSourceType',
      `the HPA was unable to compute the replica count: ${first?.inner}`,
    )
    return { metricName: '', statuses, active, error }
  }
  const { replicas, metricName } = best
  const active: ConditionUpdate = {
    type: 'ScalingActive',
    status: 'True',
    reason: 'ValidMetricFound',
    message: `the HPA was able to successfully calculate a replica count from ${metricName}`,
  }
  return { replicas, metricName, statuses, active, ...(error && { error }) }
}

interface SelectedPods {
  readonly selector: string
  readonly pods: readonly Pod[]
}

function* select(
  autoscaler: HorizontalPodAutoscaler,
  { status }: Scale,
  { namespace, memory, podsMatching }: MetricWorld,
): Reconcile<SelectedPods | CombinedMetrics> {
  const selector = status?.selector ?? ''
  if (selector === '') {
    const text = "the HPA target's scale is missing a selector"
    return yield* refused(
      autoscaler,
      'SelectorRequired',
      'InvalidSelector',
      'selector is required',
      text,
    )
  }
  // One that cannot be read has no scale to begin with.
  const query = parseLabelQuery(selector)
  memory.select(keyOf(autoscaler), query)
  const pods = podsMatching(namespace, query)
  const selecting = memory.selecting(namespace, pods)
  if (selecting.length > 1) {
    const text = `pods by selector ${selector} are controlled by multiple HPAs: [${selecting.join(' ')}]`
    return yield* refused(autoscaler, 'AmbiguousSelector', 'AmbiguousSelector', text, text)
  }
  return { selector, pods }
}

function* refused(
  autoscaler: HorizontalPodAutoscaler,
  eventReason: string,
  conditionReason: string,
  eventText: string,
  conditionText: string,
): Reconcile<CombinedMetrics> {
  yield* recordEvent(autoscaler, 'Warning', eventReason, eventText)
  return {
    metricName: '',
    active: scalingInactive(conditionReason, conditionText),
    error: new Error(eventText),
  }
}

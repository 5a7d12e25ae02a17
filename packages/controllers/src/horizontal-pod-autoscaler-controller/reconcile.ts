/**
 * One sync of an autoscaler. Step numbers are those of docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Sync; 1 is
 * the shell's.
 */
import { keyOf, semanticEqual } from '@gyropilot/api'
import type { HorizontalPodAutoscaler, MetricStatus, Scale } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { errorText, formatTime } from '@gyropilot/foundation'
import { currentTimeMs, recordEvent, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { normalizeWithBehavior, rememberedScale } from './behavior.ts'
import { combineMetrics } from './combine-metrics.ts'
import type { MetricWorld } from './combine-metrics.ts'
import { ableToScale, scalingInactive, scalingLimited, withCondition } from './conditions.ts'
import type { Condition, ConditionUpdate } from './conditions.ts'
import type { HorizontalPodAutoscalerConfiguration } from './config.ts'
import type { AutoscalerMemory } from './memory.ts'
import { normalize } from './normalize.ts'
import { toleranceOf } from './replica-counts.ts'
import { findTarget, writeReplicas } from './scale-target.ts'
import type { ScaleTarget } from './scale-target.ts'
import { isScaledToZero, notScaledToZero, scaledToZero, scalesToZero } from './scale-to-zero.ts'

export type ScaleAction = 'scale_up' | 'scale_down' | 'none'
export type FailureKind = 'spec' | 'internal' | 'none'

export interface AutoscalerSettings {
  readonly configuration: HorizontalPodAutoscalerConfiguration
  readonly memory: AutoscalerMemory
  readonly podsMatching: MetricWorld['podsMatching']
  /** Gates HPAScaleToZero, HPAConfigurableTolerance, PodLevelResources. */
  readonly allowsZero: boolean
  readonly configurableTolerance: boolean
  readonly podLevelResources: boolean
  /** What is remembered has elapsed times: a wall clock that is set must not end a window of stabilization, nor begin one anew. */
  elapsedMs(): number
  onMetric?(type: string, action: ScaleAction, failure: FailureKind): void
  onSynced?(action: ScaleAction, failure: FailureKind): void
  onDesired?(autoscaler: HorizontalPodAutoscaler, replicas: number): void
}

/** What a sync changes of the status. */
class StatusDraft {
  readonly #autoscaler: HorizontalPodAutoscaler
  readonly #nowMs: number
  conditions: readonly Condition[]
  currentReplicas: number | undefined
  desiredReplicas: number
  currentMetrics: readonly MetricStatus[] | undefined
  lastScaleTime: string | undefined
  observedGeneration: number | undefined

  constructor(autoscaler: HorizontalPodAutoscaler, nowMs: number) {
    const { status } = autoscaler
    this.#autoscaler = autoscaler
    this.#nowMs = nowMs
    this.conditions = status?.conditions ?? []
    this.currentReplicas = status?.currentReplicas
    this.desiredReplicas = status?.desiredReplicas ?? 0
    this.currentMetrics = status?.currentMetrics
    this.lastScaleTime = status?.lastScaleTime
    this.observedGeneration = status?.observedGeneration
  }

  set(condition: ConditionUpdate): void {
    this.conditions = withCondition(this.conditions, condition, this.#nowMs)
  }

  drop(dropped: ConditionUpdate['type']): void {
    this.conditions = this.conditions.filter(({ type }) => type !== dropped)
  }

  rescaled(): void {
    this.lastScaleTime = formatTime(this.#nowMs)
  }

  /** Answers the error of a status that changed and could not be written. */
  *write(): Reconcile<unknown> {
    const { status: known } = this.#autoscaler
    const { conditions, currentReplicas, desiredReplicas, currentMetrics, lastScaleTime } = this
    const { observedGeneration } = this
    const status = {
      ...known,
      conditions,
      desiredReplicas,
      // The server leaves a zero out: with it every sync would differ from what is there.
      currentReplicas: currentReplicas === 0 ? undefined : currentReplicas,
      currentMetrics,
      lastScaleTime,
      observedGeneration,
    }
    if (semanticEqual(status, known)) return undefined
    const type = resources.horizontalpodautoscalers
    const updated = yield* write(updateStatus(type, { ...this.#autoscaler, status }))
    if (updated.ok) return undefined
    const text = errorText(updated.error)
    yield* recordEvent(this.#autoscaler, 'Warning', 'FailedUpdateStatus', text)
    return new Error(`failed to update status for ${this.#autoscaler.metadata?.name}: ${text}`, {
      cause: updated.error,
    })
  }
}

interface Decision {
  readonly replicas: number
  readonly reason: string
  readonly rescale: boolean
  readonly error?: unknown
}

export function* reconcile(
  autoscaler: HorizontalPodAutoscaler,
  settings: AutoscalerSettings,
): Reconcile {
  const nowMs = yield* currentTimeMs()
  const draft = new StatusDraft(autoscaler, nowMs)
  // 2. to 4.
  const found = yield* findTarget(autoscaler)
  if (!found.ok) {
    const text = errorText(found.error)
    yield* recordEvent(autoscaler, 'Warning', 'FailedGetScale', text)
    draft.set({
      ...ableToScale(
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${text}`,
      ),
      status: 'False',
    })
    const failure = yield* draft.write()
    settings.onSynced?.('none', found.isSpec ? 'spec' : 'internal')
    return { error: failure ?? found.error }
  }
  // 5.
  draft.set(
    ableToScale(
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    ),
  )
  const { target } = found
  const current = target.scale.spec?.replicas ?? 0
  seed(autoscaler, current, settings)
  // 6. and 7.
  const decision = yield* decide(autoscaler, target.scale, draft, nowMs, settings)
  if (!('replicas' in decision)) {
    settings.onSynced?.('none', 'internal')
    return decision
  }
  return yield* act(autoscaler, target, decision, draft, settings)
}

/** After a start nothing goes down for one window. */
function seed(
  autoscaler: HorizontalPodAutoscaler,
  replicas: number,
  { memory, elapsedMs }: AutoscalerSettings,
): void {
  const key = keyOf(autoscaler)
  const history = memory.historyOf(key)
  if (history.recommendations.length > 0) return
  memory.remember(key, { ...history, recommendations: [{ replicas, timeMs: elapsedMs() }] })
}

/** What is wanted; or the end of the sync, its status written. */
function* decide(
  autoscaler: HorizontalPodAutoscaler,
  scale: Scale,
  draft: StatusDraft,
  nowMs: number,
  settings: AutoscalerSettings,
): Reconcile<Decision | { readonly error: unknown }> {
  const { minReplicas = 1, maxReplicas } = autoscaler.spec
  const current = scale.spec?.replicas ?? 0
  // What was measured earlier is no reason for what is decided without metrics.
  draft.currentMetrics = undefined
  // As upstream: it is nobody's, and goes when somebody else has written it.
  draft.observedGeneration = undefined
  // 6.
  if (current === 0 && !(settings.allowsZero && isScaledToZero(autoscaler))) {
    // Without the gate it is a word that nobody keeps.
    if (!settings.allowsZero) draft.drop('ScaledToZero')
    draft.set(
      scalingInactive(
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      ),
    )
    return { replicas: 0, reason: '', rescale: false }
  }
  if (current > maxReplicas) {
    const reason = 'Current number of replicas above Spec.MaxReplicas'
    return { replicas: maxReplicas, reason, rescale: true }
  }
  // What was taken to nothing comes back by its metrics alone, to the least number too.
  if (current !== 0 && current < minReplicas) {
    const reason = 'Current number of replicas below Spec.MinReplicas'
    return { replicas: minReplicas, reason, rescale: true }
  }
  // 7.
  const world = metricWorld(autoscaler, scale, nowMs, settings)
  const combined = yield* combineMetrics(autoscaler, scale, world)
  draft.set(combined.active)
  if (combined.replicas === undefined) {
    draft.currentReplicas = current
    draft.currentMetrics = combined.statuses
    const failure = yield* draft.write()
    const text = errorText(combined.error)
    yield* recordEvent(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', text)
    const error = new Error(
      `failed to compute desired number of replicas based on listed metrics: ${text}`,
    )
    return { error: failure ?? error }
  }
  draft.currentMetrics = combined.statuses ?? []
  const proposed = Math.max(0, combined.replicas)
  const reason =
    proposed > current
      ? `${combined.metricName} above target`
      : proposed < current
        ? 'All metrics below target'
        : ''
  const replicas = normalized(autoscaler, current, proposed, draft, settings)
  const { error } = combined
  return { replicas, reason, rescale: replicas !== current, ...(error !== undefined && { error }) }
}

function metricWorld(
  { metadata, spec }: HorizontalPodAutoscaler,
  scale: Scale,
  nowMs: number,
  settings: AutoscalerSettings,
): MetricWorld {
  const { configuration, memory, podsMatching, onMetric } = settings
  const { tolerance, syncPeriodMs } = configuration
  const currentReplicas = scale.spec?.replicas ?? 0
  const toleranceIn = (direction: 'scaleUp' | 'scaleDown'): number => {
    const own = settings.configurableTolerance ? spec.behavior?.[direction]?.tolerance : undefined
    return own === undefined ? tolerance : toleranceOf(own)
  }
  return {
    namespace: metadata?.namespace ?? '',
    currentReplicas,
    statusReplicas: scale.status?.replicas ?? 0,
    tolerances: { down: toleranceIn('scaleDown'), up: toleranceIn('scaleUp') },
    startUp: configuration,
    readsPodLevel: settings.podLevelResources,
    memory,
    clock: { nowMs, elapsedMs: settings.elapsedMs(), versionAgeMs: syncPeriodMs },
    podsMatching,
    onMetric: (type, proposed) =>
      onMetric?.(
        type,
        proposed === undefined ? 'none' : actionOf(currentReplicas, proposed),
        proposed === undefined ? 'internal' : 'none',
      ),
  }
}

function normalized(
  autoscaler: HorizontalPodAutoscaler,
  currentReplicas: number,
  proposedReplicas: number,
  draft: StatusDraft,
  { memory, configuration, elapsedMs }: AutoscalerSettings,
): number {
  const { minReplicas = 1, maxReplicas, behavior } = autoscaler.spec
  const key = keyOf(autoscaler)
  const history = memory.historyOf(key)
  const nowMs = elapsedMs()
  const proposal = { currentReplicas, proposedReplicas, minReplicas, maxReplicas, nowMs }
  const windowMs = configuration.downscaleStabilizationMs
  const { replicas, recommendations, able, limit } =
    behavior === undefined
      ? normalize(proposal, history.recommendations, windowMs)
      : normalizeWithBehavior(proposal, history, behavior, windowMs)
  memory.remember(key, { ...history, recommendations })
  draft.set(able)
  draft.set(scalingLimited(limit))
  return replicas
}

/** 8. to 10. */
function* act(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget,
  { replicas, reason, rescale, error: partial }: Decision,
  draft: StatusDraft,
  settings: AutoscalerSettings,
): Reconcile {
  const current = target.scale.spec?.replicas ?? 0
  draft.currentReplicas = current
  if (rescale) {
    const failure = yield* rescaleTo(replicas, reason, autoscaler, target, draft)
    if (failure !== undefined) {
      const unwritten = yield* draft.write()
      settings.onSynced?.(actionOf(current, replicas), 'internal')
      const text = `failed to rescale ${keyOf(autoscaler)}: ${errorText(failure)}`
      return { error: unwritten ?? new Error(text, { cause: failure }) }
    }
    remember(autoscaler, current, replicas, settings)
    if (settings.allowsZero) {
      draft.set(scalesToZero(autoscaler, replicas) ? scaledToZero : notScaledToZero)
    }
    draft.rescaled()
  }
  draft.desiredReplicas = replicas
  settings.onDesired?.(autoscaler, replicas)
  const failure = yield* draft.write()
  const error = failure ?? partial
  settings.onSynced?.(actionOf(current, replicas), error === undefined ? 'none' : 'internal')
  return error === undefined ? undefined : { error }
}

function* rescaleTo(
  replicas: number,
  reason: string,
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget,
  draft: StatusDraft,
): Reconcile<unknown> {
  const written = yield* writeReplicas(target, replicas)
  const message = `New size: ${replicas}; reason: ${reason}`
  if (written.ok) {
    const text = `the HPA controller was able to update the target scale to ${replicas}`
    draft.set(ableToScale('SucceededRescale', text))
    yield* recordEvent(autoscaler, 'Normal', 'SuccessfulRescale', message)
    return undefined
  }
  const error = errorText(written.error)
  yield* recordEvent(autoscaler, 'Warning', 'FailedRescale', `${message}; error: ${error}`)
  draft.set({
    ...ableToScale(
      'FailedUpdateScale',
      `the HPA controller was unable to update the target scale: ${error}`,
    ),
    status: 'False',
  })
  return written.error
}

/** Only policies of a behavior look back. */
function remember(
  autoscaler: HorizontalPodAutoscaler,
  fromReplicas: number,
  toReplicas: number,
  { memory, elapsedMs }: AutoscalerSettings,
): void {
  const { behavior } = autoscaler.spec
  if (behavior === undefined) return
  const key = keyOf(autoscaler)
  const known = memory.historyOf(key)
  memory.remember(key, rememberedScale(known, behavior, fromReplicas, toReplicas, elapsedMs()))
}

function actionOf(current: number, desired: number): ScaleAction {
  return desired > current ? 'scale_up' : desired < current ? 'scale_down' : 'none'
}

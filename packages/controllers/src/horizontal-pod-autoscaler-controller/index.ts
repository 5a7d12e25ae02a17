/**
 * horizontal-pod-autoscaler-controller: as many pods as the load asks for.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { HorizontalPodAutoscaler } from '@gyropilot/api'
import { defineErrors, formatGoDuration } from '@gyropilot/foundation'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodLabelIndex, podsMatching } from '../workload-support/pod-label-index.ts'
import {
  CONFIGURABLE_TOLERANCE_GATE,
  EVENT_COMPONENT,
  POD_LEVEL_RESOURCES_GATE,
  QUEUE_NAME,
  SCALE_TO_ZERO_GATE,
  SERVICE_ACCOUNT,
} from './config.ts'
import { AutoscalerMemory } from './memory.ts'
import { autoscalerMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import type { AutoscalerSettings } from './reconcile.ts'
import { autoscalerWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

/** Errors of autoscalers that a user of kube-controller-manager can meet. */
const autoscalerErrors = defineErrors({
  AUTOSCALER_PERIOD_INVALID: {
    // That of a panic, which it is upstream.
    exitCode: 2,
    meaning: '--horizontal-pod-autoscaler-sync-period is nothing or less.',
    remedy: 'Set it to a time, or leave it out: it is 15 seconds then.',
  },
})

export const horizontalPodAutoscalerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(horizontalPodAutoscalerLogic(context), context),
}

export function horizontalPodAutoscalerLogic(
  context: Context,
): KeyedController<HorizontalPodAutoscaler> {
  const { informers } = context
  const configuration = context.configuration.horizontalPodAutoscaler
  const { syncPeriodMs, concurrentSyncs } = configuration
  // Keys would come again without end; upstream panics.
  if (syncPeriodMs <= 0)
    throw autoscalerErrors.make(
      'AUTOSCALER_PERIOD_INVALID',
      `invalid sync period of autoscalers: ${formatGoDuration(syncPeriodMs)}`,
    )
  const autoscalers = informers.informer(resources.horizontalpodautoscalers).lister
  const pods = informers.informer(resources.pods)
  addPodLabelIndex(pods)
  const memory = new AutoscalerMemory()
  const metrics = autoscalerMetrics(context.metrics, () => memory.desired)
  const settingsOf = (): AutoscalerSettings =>
    settings(context, memory, metrics, (namespace, query) =>
      podsMatching(pods.lister, namespace, query),
    )
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: concurrentSyncs,
    // There is no back-off: every key comes again one period later, whatever came of it.
    rateLimiter: { whenMs: () => syncPeriodMs, forget() {}, requeues: () => 0 },
    mapper: context.mapper,
    watches: [
      autoscalerWatch(syncPeriodMs, {
        seen(key) {
          memory.register(key)
          metrics.autoscalers.set(memory.count)
        },
        deleted(key) {
          memory.unregister(key)
          metrics.autoscalers.set(memory.count)
        },
      }),
    ],
    alsoAwait: [pods],
    observe: (key) => autoscalers.getByKey(key),
    *reconcile(autoscaler) {
      const verdict = yield* reconcile(autoscaler, settingsOf())
      return verdict?.error === undefined ? { requeueAfterMs: syncPeriodMs } : verdict
    },
    forget: (key) => memory.forget(key),
  }
}

function settings(
  { configuration, clock }: Context,
  memory: AutoscalerMemory,
  metrics: ReturnType<typeof autoscalerMetrics>,
  matching: AutoscalerSettings['podsMatching'],
): AutoscalerSettings {
  const startMs = clock.monotonicMs()
  let metricMs = startMs
  const secondsSince = (sinceMs: number): number => (clock.monotonicMs() - sinceMs) / 1_000
  return {
    configuration: configuration.horizontalPodAutoscaler,
    memory,
    podsMatching: matching,
    allowsZero: configuration.featureGates[SCALE_TO_ZERO_GATE] === true,
    configurableTolerance: featureEnabled(configuration, CONFIGURABLE_TOLERANCE_GATE),
    podLevelResources: featureEnabled(configuration, POD_LEVEL_RESOURCES_GATE),
    elapsedMs: () => clock.monotonicMs(),
    onMetric(type, action, failure) {
      metrics.computed(type, action, failure, secondsSince(metricMs))
      metricMs = clock.monotonicMs()
    },
    onSynced: (action, failure) => metrics.synced(action, failure, secondsSince(startMs)),
    onDesired: (autoscaler, replicas) => memory.decided(keyOf(autoscaler), replicas),
  }
}

/**
 * endpointslice-mirroring-controller: copies Endpoints that people or programs keep into
 * EndpointSlices.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md.
 */
import { resources } from '@gyropilot/api'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { SLICES_BY_SERVICE, sliceServiceIndex } from '../endpoint-support/slice-labels.ts'
import { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { sliceWatch } from '../endpoint-support/slice-watch.ts'
import {
  EVENT_COMPONENT,
  MANAGER,
  MAX_BACKOFF_MS,
  MAX_RETRIES,
  MIN_BACKOFF_MS,
  QUEUE_NAME,
  SERVICE_ACCOUNT,
} from './config.ts'
import { MirroringMetrics } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedMirror } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { MirrorMemory } from './reconcile.ts'
import { endpointsWatch, serviceWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const endpointSliceMirroringController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(mirroringLogic(context), context),
}

export function mirroringLogic(context: Context): KeyedController<ObservedMirror> {
  const { informers, configuration, clock, metrics } = context
  const { concurrentServiceEndpointSyncs, maxEndpointsPerSubset, endpointUpdatesBatchPeriodMs } =
    configuration.endpointSliceMirroring
  const slices = informers.informer(resources.endpointslices)
  slices.addIndex(SLICES_BY_SERVICE, sliceServiceIndex)
  const listers = {
    endpoints: informers.informer(resources.endpoints).lister,
    services: informers.informer(resources.services).lister,
    slices: slices.lister,
  }
  const tracker = new SliceTracker(() => slices.lastSyncResourceVersion())
  const memory: MirrorMemory = { tracker, metrics: new MirroringMetrics(metrics) }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: concurrentServiceEndpointSyncs,
    rateLimiter: exponentialAndBucket(clock, MIN_BACKOFF_MS, MAX_BACKOFF_MS),
    maxRetries: MAX_RETRIES,
    watches: [
      endpointsWatch,
      serviceWatch,
      sliceWatch({ manager: MANAGER, tracker, delayMs: endpointUpdatesBatchPeriodMs }),
    ],
    observe: (key) => observe(key, listers),
    *reconcile(observed) {
      const startedMs = clock.monotonicMs()
      const verdict = yield* reconcile(observed, memory, maxEndpointsPerSubset)
      memory.metrics.took((clock.monotonicMs() - startedMs) / 1_000)
      return verdict
    },
  }
}

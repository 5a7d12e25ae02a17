/**
 * endpointslice-controller: keeps the EndpointSlices of Services that have a selector.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addServiceSelectorIndex, podWatch } from '../endpoint-support/pod-services.ts'
import { SLICES_BY_SERVICE, sliceServiceIndex } from '../endpoint-support/slice-labels.ts'
import { serviceWatch } from '../endpoint-support/service-watch.ts'
import { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { sliceWatch } from '../endpoint-support/slice-watch.ts'
import { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import {
  EVENT_COMPONENT,
  MANAGER,
  MAX_BACKOFF_MS,
  MAX_RETRIES,
  MIN_BACKOFF_MS,
  MIN_SLICE_EVENT_DELAY_MS,
  QUEUE_NAME,
  SERVICE_ACCOUNT,
} from './config.ts'
import { SliceMetrics } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedService } from './observe.ts'
import { forgetService, reconcile } from './reconcile.ts'
import type { SliceMemory } from './reconcile.ts'
import { Topology } from './topology.ts'
import { nodeWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const endpointSliceController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: buildEndpointSliceController,
}

/** Two queues: one of Services, and one of a single key for all that nodes say about zones. */
function buildEndpointSliceController(context: Context): RunnableController {
  const topology = new Topology()
  const services = runKeyedController(serviceLogic(context, topology), context)
  const nodes = context.informers.informer(resources.nodes)
  const zones = runKeyedController(
    zoneLogic(
      () => nodes.lister.list(),
      topology,
      (key) => services.enqueue(key),
    ),
    context,
  )
  return {
    async run(signal) {
      // Else the first syncs would find no zones and say so in events.
      if (await nodes.whenSynced(signal)) topology.setNodes(nodes.lister.list())
      await Promise.all([services.run(signal), zones.run(signal)])
    },
  }
}

export function serviceLogic(
  { informers, configuration, clock, metrics }: Context,
  topology: Topology,
): KeyedController<ObservedService> {
  const { concurrentServiceEndpointSyncs, maxEndpointsPerSlice, endpointUpdatesBatchPeriodMs } =
    configuration.endpointSlice
  const slices = informers.informer(resources.endpointslices)
  slices.addIndex(SLICES_BY_SERVICE, sliceServiceIndex)
  const services = informers.informer(resources.services)
  const pods = informers.informer(resources.pods)
  addServiceSelectorIndex(services)
  addPodLabelIndex(pods)
  const listers = {
    services: services.lister,
    pods: pods.lister,
    nodes: informers.informer(resources.nodes).lister,
    slices: slices.lister,
  }
  const memory: SliceMemory = {
    tracker: new SliceTracker(() => slices.lastSyncResourceVersion()),
    triggerTimes: new TriggerTimes(),
    topology,
    metrics: new SliceMetrics(metrics, maxEndpointsPerSlice),
  }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: concurrentServiceEndpointSyncs,
    rateLimiter: exponentialAndBucket(clock, MIN_BACKOFF_MS, MAX_BACKOFF_MS),
    maxRetries: MAX_RETRIES,
    watches: [
      serviceWatch,
      podWatch(listers.services, endpointUpdatesBatchPeriodMs),
      sliceWatch({
        manager: MANAGER,
        tracker: memory.tracker,
        delayMs: Math.max(MIN_SLICE_EVENT_DELAY_MS, endpointUpdatesBatchPeriodMs),
      }),
    ],
    observe: (key) => observe(key, listers),
    reconcile: (observed) => reconcile(observed, memory, { maxEndpointsPerSlice }),
    forget: (key) => forgetService(key, memory),
  }
}

/** Takes nodes in, and has the Services looked at again whose hints no longer suit them. */
function zoneLogic(
  nodes: () => readonly Node[],
  topology: Topology,
  enqueueService: (key: string) => void,
): KeyedController<readonly Node[]> {
  return {
    workers: 1,
    watches: [nodeWatch],
    observe: nodes,
    *reconcile(observed) {
      topology.setNodes(observed)
      for (const key of topology.overloadedServices()) enqueueService(key)
    },
  }
}

/**
 * endpoints-controller: keeps the Endpoints of Services that have a selector.
 * Contract: docs/behaviour/controllers/endpoints-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addServiceSelectorIndex, podWatch } from '../endpoint-support/pod-services.ts'
import { serviceWatch } from '../endpoint-support/service-watch.ts'
import { TriggerTimes } from '../endpoint-support/trigger-times.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { EVENT_COMPONENT, MAX_RETRIES, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { observe } from './observe.ts'
import type { ObservedEndpoints } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { ReplacedVersions } from './replaced-versions.ts'
import { endpointsWatch, leftOverKeys } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const endpointsController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: buildEndpointsController,
}

function buildEndpointsController(context: Context): RunnableController {
  const controller = runKeyedController(endpointsLogic(context), context)
  const endpoints = context.informers.informer(resources.endpoints)
  return {
    async run(signal) {
      const enqueueLeftOvers = async (): Promise<void> => {
        if (!(await endpoints.whenSynced(signal))) return
        for (const key of leftOverKeys(endpoints.lister.list())) controller.enqueue(key)
      }
      await Promise.all([enqueueLeftOvers(), controller.run(signal)])
    },
  }
}

export function endpointsLogic({
  informers,
  configuration,
}: Context): KeyedController<ObservedEndpoints> {
  const { concurrentEndpointSyncs, endpointUpdatesBatchPeriodMs } = configuration.endpoints
  const services = informers.informer(resources.services)
  const pods = informers.informer(resources.pods)
  addServiceSelectorIndex(services)
  addPodLabelIndex(pods)
  const listers = {
    services: services.lister,
    endpoints: informers.informer(resources.endpoints).lister,
    pods: pods.lister,
  }
  const memory = {
    triggerTimes: new TriggerTimes(),
    replaced: new ReplacedVersions(),
    created: new Set<string>(),
  }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: concurrentEndpointSyncs,
    maxRetries: MAX_RETRIES,
    watches: [
      serviceWatch,
      endpointsWatch,
      podWatch(services.lister, endpointUpdatesBatchPeriodMs),
    ],
    observe: (key) => observe(key, listers),
    reconcile: (observed) => reconcile(observed, memory),
  }
}

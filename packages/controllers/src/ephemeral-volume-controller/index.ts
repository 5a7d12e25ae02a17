/** ephemeral-volume-controller: makes the claims of pods' own volumes. Contract: docs/behaviour/controllers/ephemeral-volume-controller.md. */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodClaimIndex } from '../volume-support/pod-claims.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { creationMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedPod } from './reconcile.ts'
import { claimWatch, podWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const ephemeralVolumeController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'ephemeral-volume-controller',
  aliases: ['ephemeral-volume'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(ephemeralVolumeLogic(context), context),
}

export function ephemeralVolumeLogic({
  informers,
  configuration,
  metrics,
}: Pick<Context, 'informers' | 'configuration' | 'metrics'>): KeyedController<ObservedPod> {
  const pods = informers.informer(resources.pods)
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  addPodClaimIndex(pods)
  const counted = creationMetrics(metrics)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.ephemeralVolume.concurrentSyncs,
    watches: [podWatch, claimWatch(pods.lister)],
    observe(key) {
      const pod = pods.lister.getByKey(key)
      const claimNamed = (name: string) => claims.get(pod?.metadata?.namespace, name)
      return pod && { pod, claimNamed }
    },
    reconcile: (observed) => reconcile(observed, counted),
  }
}

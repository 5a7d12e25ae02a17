/** selinux-warning-controller: tells pods that they share a volume with others that they could not share a node with. Contract: docs/behaviour/controllers/selinux-warning-controller.md. */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodClaimIndex, podsUsing } from '../volume-support/pod-claims.ts'
import { CONTROLLER_NAME, EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { collectConflicts } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedPod } from './reconcile.ts'
import { VolumeCache } from './volume-cache.ts'
import { claimWatch, driverWatch, podWatch, volumeWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const selinuxWarningController: ControllerDescriptor<ControllersConfiguration> = {
  name: CONTROLLER_NAME,
  aliases: [],
  enabledByDefault: false,
  featureGates: ['SELinuxChangePolicy'],
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(selinuxWarningLogic(context), context),
}

export function selinuxWarningLogic({
  informers,
  configuration,
  metrics,
}: Pick<Context, 'informers' | 'configuration' | 'metrics'>): KeyedController<ObservedPod> {
  const pods = informers.informer(resources.pods)
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const volumes = informers.informer(resources.persistentvolumes).lister
  const drivers = informers.informer(resources.csidrivers).lister
  addPodClaimIndex(pods)
  const cache = new VolumeCache()
  collectConflicts(metrics, cache)
  const podsOf = (claimKey: string) => podsUsing(pods.lister, claimKey)
  const known: Omit<ObservedPod, 'pod'> = {
    cache,
    hasLabels: featureEnabled(configuration, 'SELinuxMountReadWriteOncePod'),
    claimNamed: (namespace, name) => claims.get(namespace, name),
    volumeNamed: (name) => volumes.get(undefined, name),
    driverNamed: (name) => drivers.get(undefined, name),
    podByKey: (key) => pods.lister.getByKey(key),
  }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    watches: [podWatch, claimWatch(podsOf), volumeWatch(podsOf), driverWatch(cache)],
    observe(key) {
      const pod = pods.lister.getByKey(key)
      return pod && { ...known, pod }
    },
    reconcile,
    forget: (key) => cache.forget(key),
  }
}

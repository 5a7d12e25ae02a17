/** persistentvolume-expander-controller: sees to it that claims get larger. Contract: docs/behaviour/controllers/persistentvolume-expander-controller.md. */
import { resources } from '@gyropilot/api'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { expansionMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import { claimWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const persistentVolumeExpanderController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'persistentvolume-expander-controller',
  aliases: ['persistentvolume-expander'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(volumeExpanderLogic(context), context),
}

export function volumeExpanderLogic({
  informers,
  metrics,
}: Pick<Context, 'informers' | 'metrics'>): KeyedController<PersistentVolumeClaim> {
  const claims = informers.informer(resources.persistentvolumeclaims).lister
  const counted = expansionMetrics(metrics)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    watches: [claimWatch],
    observe: (key) => claims.getByKey(key),
    reconcile: (claim) => reconcile(claim, counted),
  }
}

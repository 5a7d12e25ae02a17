/**
 * persistentvolume-protection-controller: a volume stays while it is bound.
 * Contract: docs/behaviour/controllers/persistentvolume-protection-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { concernsProtection } from '../protection-support/protection.ts'
import { FINALIZER, QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'

export const persistentVolumeProtectionController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'persistentvolume-protection-controller',
    aliases: ['pv-protection'],
    enabledByDefault: true,
    serviceAccount: SERVICE_ACCOUNT,
    build: (context) => runKeyedController(persistentVolumeProtectionLogic(context), context),
  }

export function persistentVolumeProtectionLogic({
  informers,
}: Pick<ControllerContext, 'informers'>): KeyedController<PersistentVolume> {
  const { lister } = informers.informer(resources.persistentvolumes)
  const keys = (volume: PersistentVolume): readonly string[] =>
    concernsProtection(volume, FINALIZER) ? [keyOf(volume)] : []
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [
      {
        type: resources.persistentvolumes,
        onAdd: keys,
        onUpdate: (_, current) => keys(current),
      },
    ],
    observe: (key) => lister.getByKey(key),
    reconcile,
  }
}

/**
 * volumeattributesclass-protection-controller: a class stays while a volume or a claim refers to it.
 * Contract: docs/behaviour/controllers/volumeattributesclass-protection-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedClass } from './reconcile.ts'
import { CLASS_INDEX, classesOfClaim, classesOfVolume } from './references.ts'
import { classWatch, referrerWatch } from './watches.ts'

export const volumeAttributesClassProtectionController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'volumeattributesclass-protection-controller',
    aliases: [],
    enabledByDefault: true,
    featureGates: ['VolumeAttributesClass'],
    serviceAccount: SERVICE_ACCOUNT,
    build: (context) => runKeyedController(volumeAttributesClassProtectionLogic(context), context),
  }

export function volumeAttributesClassProtectionLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): KeyedController<ObservedClass> {
  const classes = informers.informer(resources.volumeattributesclasses)
  const volumes = informers.informer(resources.persistentvolumes)
  const claims = informers.informer(resources.persistentvolumeclaims)
  volumes.addIndex(CLASS_INDEX, classesOfVolume)
  claims.addIndex(CLASS_INDEX, classesOfClaim)
  const unknownDeletion = (key: string): void =>
    logger.error(undefined, 'What was deleted is not known any more', { key })
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [
      classWatch,
      referrerWatch(resources.persistentvolumes, classesOfVolume, unknownDeletion),
      referrerWatch(resources.persistentvolumeclaims, classesOfClaim, unknownDeletion),
    ],
    observe(key) {
      const object = classes.lister.getByKey(key)
      if (object === undefined) return undefined
      const isReferred = (): boolean =>
        volumes.lister.byIndex(CLASS_INDEX, key).length > 0 ||
        claims.lister.byIndex(CLASS_INDEX, key).length > 0
      return { object, isReferred }
    },
    reconcile,
  }
}

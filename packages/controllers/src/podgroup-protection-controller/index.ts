/**
 * podgroup-protection-controller: a PodGroup that is being deleted stays until its pods are finished.
 * Contract: docs/behaviour/controllers/podgroup-protection-controller.md.
 */
import { POD_GROUPS, resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { FEATURE_GATE, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { ACTIVE_PODS_BY_GROUP, activePodsByGroup } from './group-pods.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedGroup } from './reconcile.ts'
import { groupWatch, podWatch } from './watches.ts'

export const podGroupProtectionController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'podgroup-protection-controller',
  aliases: [],
  enabledByDefault: true,
  featureGates: [FEATURE_GATE],
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    // An alpha gate: who says nothing has it off, and no informer may ask for what is not served.
    if (context.configuration.featureGates[FEATURE_GATE] !== true) return undefined
    return runKeyedController(podGroupProtectionLogic(context), context)
  },
}

export function podGroupProtectionLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): KeyedController<ObservedGroup> {
  const groups = informers.informer(POD_GROUPS)
  const pods = informers.informer(resources.pods)
  pods.addIndex(ACTIVE_PODS_BY_GROUP, activePodsByGroup)
  const unknownDeletion = (key: string): void =>
    logger.error(undefined, 'What was deleted is not known any more', { key })
  return {
    queueName: QUEUE_NAME,
    workers: 1,
    watches: [groupWatch, podWatch(unknownDeletion)],
    observe(key) {
      const group = groups.lister.getByKey(key)
      if (group === undefined) return undefined
      return { group, hasActivePods: pods.lister.byIndex(ACTIVE_PODS_BY_GROUP, key).length > 0 }
    },
    reconcile,
  }
}

/**
 * clusterrole-aggregation-controller: fills the rules of ClusterRoles that are made of others.
 * Contract: docs/behaviour/controllers/clusterrole-aggregation-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedClusterRole } from './reconcile.ts'
import { AGGREGATED_INDEX, aggregatedIndexValues, clusterRoleWatch } from './watches.ts'

export const clusterRoleAggregationController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'clusterrole-aggregation-controller',
  aliases: ['clusterrole-aggregation'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(clusterRoleAggregationLogic(context), context),
}

export function clusterRoleAggregationLogic({
  informers,
}: Pick<ControllerContext, 'informers'>): KeyedController<ObservedClusterRole> {
  const clusterRoles = informers.informer(resources.clusterroles)
  clusterRoles.addIndex(AGGREGATED_INDEX, aggregatedIndexValues)
  const { lister } = clusterRoles
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [clusterRoleWatch(lister)],
    observe(key) {
      const role = lister.getByKey(key)
      return role && { role, roles: lister.list() }
    },
    reconcile,
  }
}

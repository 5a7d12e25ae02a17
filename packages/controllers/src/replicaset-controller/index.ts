/**
 * replicaset-controller: keeps spec.replicas pods alive.
 * Contract: docs/behaviour/controllers/replicaset-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { CONTROLLER_UID_INDEX, controllerUidIndexValues } from '../workload-support/ownership.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { replicaLogic } from '../workload-support/pod-replicas/controller.ts'
import type { ObservedReplicas } from '../workload-support/pod-replicas/observe.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT, STALE_SYNC_SKIPS } from './config.ts'
import { relatedPods } from './related-pods.ts'

type Context = ControllerContext<ControllersConfiguration>

export const replicaSetController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(replicaSetLogic(context), context),
}

export function replicaSetLogic(context: Context): KeyedController<ObservedReplicas<ReplicaSet>> {
  const { configuration, informers } = context
  const replicaSets = informers.informer(resources.replicasets)
  const pods = informers.informer(resources.pods)
  addPodLabelIndex(pods)
  replicaSets.addIndex(CONTROLLER_UID_INDEX, controllerUidIndexValues)
  const listers = { replicaSets: replicaSets.lister, pods: pods.lister }
  const logic = replicaLogic(context, {
    kind: {
      type: resources.replicasets,
      selectorOf: ({ spec }) => spec?.selector,
      relatedPods: (replicaSet) => relatedPods(replicaSet, listers),
    },
    names: { queueName: QUEUE_NAME, eventComponent: EVENT_COMPONENT, logKey: 'replicaSet' },
    workers: configuration.replicaSet.concurrentReplicaSetSyncs,
    terminatingReplicas: featureEnabled(configuration, 'DeploymentReplicaSetTerminatingReplicas'),
  })
  if (!featureEnabled(configuration, 'StaleControllerConsistencyReplicaSet')) return logic
  return {
    ...logic,
    staleGuard: {
      informers: [pods, replicaSets],
      ownerUid: ({ owner }) => owner.metadata?.uid ?? '',
      metric: { name: STALE_SYNC_SKIPS, kind: 'ReplicaSet' },
    },
  }
}

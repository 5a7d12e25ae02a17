/**
 * replicaset-controller: keeps spec.replicas pods alive.
 * Contract: docs/behaviour/controllers/replicaset-controller.md.
 */
import { resources } from '@gyropilot/api'
import { createExpectations, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import {
  CONTROLLER_UID_INDEX,
  POD_CONTROLLER_INDEX,
  addControllerIndex,
  controllerUidIndexValues,
} from '../workload-support/ownership.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { BURST_REPLICAS } from './config.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './events.ts'
import { STALE_SYNC_SKIPS, deletionAgeRatios, sortingDeletionAgeRatio } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedReplicaSet } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { ReplicaSetSettings } from './reconcile.ts'
import { podWatch, replicaSetWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const replicaSetController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(replicaSetLogic(context), context),
}

export function replicaSetLogic(context: Context): KeyedController<ObservedReplicaSet> {
  const { configuration } = context
  const replicaSets = context.informers.informer(resources.replicasets)
  const pods = context.informers.informer(resources.pods)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  addPodLabelIndex(pods)
  replicaSets.addIndex(CONTROLLER_UID_INDEX, controllerUidIndexValues)
  const listers = { replicaSets: replicaSets.lister, pods: pods.lister }
  const expectations = createExpectations(context.clock)
  const settings = settingsOf(context)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.replicaSet.concurrentReplicaSetSyncs,
    watches: [replicaSetWatch(expectations), podWatch(replicaSets.lister, expectations)],
    observe: (key) => observe(key, listers, expectations),
    reconcile: (observed) => reconcile(observed, settings),
    forget: (key) => expectations.delete(key),
    expectations,
    ...(featureEnabled(configuration, 'StaleControllerConsistencyReplicaSet')
      ? {
          staleGuard: {
            informers: [pods, replicaSets],
            ownerUid: (observed) => observed.replicaSet.metadata?.uid ?? '',
            metric: { name: STALE_SYNC_SKIPS, kind: 'ReplicaSet' },
          },
        }
      : {}),
  }
}

function settingsOf({ configuration, metrics, logger }: Context): ReplicaSetSettings {
  const ageRatio = sortingDeletionAgeRatio(metrics)
  return {
    burstReplicas: BURST_REPLICAS,
    deletionCost: featureEnabled(configuration, 'PodDeletionCost'),
    terminatingReplicas: featureEnabled(configuration, 'DeploymentReplicaSetTerminatingReplicas'),
    onSortedDeletion(all, chosen, nowMs) {
      for (const ratio of deletionAgeRatios(all, chosen, nowMs)) ageRatio.observe(ratio)
    },
    onInvalidSelector(replicaSet, error) {
      logger.error(error, 'Error converting pod selector to selector', {
        namespace: replicaSet.metadata?.namespace,
        replicaSet: replicaSet.metadata?.name,
      })
    },
  }
}

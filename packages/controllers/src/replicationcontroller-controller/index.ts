/**
 * replicationcontroller-controller: keeps spec.replicas pods of a ReplicationController alive, by
 * the rules of ReplicaSets.
 * Contract: docs/behaviour/controllers/replicationcontroller-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { LabelSelector, ReplicationController } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { replicaLogic } from '../workload-support/pod-replicas/controller.ts'
import type { ObservedReplicas } from '../workload-support/pod-replicas/observe.ts'
import type { ReplicaOwnerKind } from '../workload-support/pod-replicas/replica-owner.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'

export const replicationControllerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'replicationcontroller-controller',
  aliases: ['replicationcontroller'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(replicationControllerLogic(context), context),
}

type Labels = Readonly<Record<string, string>>

/** Selectors in caches are shared and never edited, so what was made of them stays true. */
const selectors = new WeakMap<Labels, LabelSelector>()

/** Without related pods: all ranks are 0. */
export const replicationControllers: ReplicaOwnerKind<ReplicationController> = {
  type: resources.replicationcontrollers,
  selectorOf({ spec }) {
    const matchLabels = spec?.selector
    if (matchLabels === undefined || matchLabels === null) return undefined
    let selector = selectors.get(matchLabels)
    if (selector === undefined) selectors.set(matchLabels, (selector = { matchLabels }))
    return selector
  },
}

/** No stale-cache guard: that is a ReplicaSet's. */
export function replicationControllerLogic(
  context: ControllerContext<ControllersConfiguration>,
): KeyedController<ObservedReplicas<ReplicationController>> {
  return replicaLogic(context, {
    kind: replicationControllers,
    names: {
      queueName: QUEUE_NAME,
      eventComponent: EVENT_COMPONENT,
      logKey: 'replicationController',
    },
    workers: context.configuration.replicationController.concurrentRcSyncs,
    terminatingReplicas: false,
  })
}

/**
 * disruption-controller: keeps the status of PodDisruptionBudgets, which the eviction API obeys.
 * Contract: docs/behaviour/controllers/disruption-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import {
  EVENT_COMPONENT,
  QUEUE_NAME,
  RECHECK_QUEUE_NAME,
  SERVICE_ACCOUNT,
  STALE_POD_QUEUE_NAME,
} from './config.ts'
import { observe } from './observe.ts'
import type { ObservedBudget } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { reconcileStalePod } from './stale-condition.ts'
import { budgetWatch, podWatch, stalePodWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const disruptionController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'disruption-controller',
  aliases: ['disruption'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: buildDisruptionController,
}

/** Three queues: budgets, budgets to be looked at again at a time, and pods. */
function buildDisruptionController(context: Context): RunnableController {
  const recheck = runKeyedController(
    recheckLogic((key) => budgets.enqueue(key)),
    context,
  )
  const budgets = runKeyedController(
    budgetLogic(context, (key, afterMs) => recheck.enqueue({ key, afterMs })),
    context,
  )
  const stalePods = runKeyedController(stalePodLogic(context), context)
  return {
    async run(signal) {
      await Promise.all([budgets.run(signal), recheck.run(signal), stalePods.run(signal)])
    },
  }
}

export function budgetLogic(
  context: Context,
  recheck: (key: string, afterMs: number) => void,
): KeyedController<ObservedBudget> {
  const { informers } = context
  const budgets = informers.informer(resources.poddisruptionbudgets)
  const pods = informers.informer(resources.pods)
  const replicationControllers = informers.informer(resources.replicationcontrollers)
  const replicaSets = informers.informer(resources.replicasets)
  const deployments = informers.informer(resources.deployments)
  const statefulSets = informers.informer(resources.statefulsets)
  addPodLabelIndex(pods)
  const owners = {
    replicationControllers: replicationControllers.lister,
    replicaSets: replicaSets.lister,
    deployments: deployments.lister,
    statefulSets: statefulSets.lister,
  }
  const listers = { budgets: budgets.lister, pods: pods.lister, owners }
  const recorder = context.recorder(EVENT_COMPONENT)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: 1,
    watches: [budgetWatch, podWatch(budgets.lister, (event) => recorder.record(event))],
    alsoAwait: [replicationControllers, replicaSets, deployments, statefulSets],
    mapper: context.mapper,
    observe: (key) => observe(key, listers),
    *reconcile(observed) {
      const { recheckAfterMs, ...verdict } = yield* reconcile(observed)
      if (recheckAfterMs !== undefined) recheck(observed.key, recheckAfterMs)
      return verdict
    },
  }
}

/** Only waits. */
export function recheckLogic(enqueue: (key: string) => void): KeyedController<string> {
  return {
    queueName: RECHECK_QUEUE_NAME,
    workers: 1,
    watches: [],
    observe: (key) => key,
    *reconcile(key) {
      enqueue(key)
    },
  }
}

export function stalePodLogic({ informers, clock }: Context): KeyedController<Pod> {
  const pods = informers.informer(resources.pods)
  return {
    queueName: STALE_POD_QUEUE_NAME,
    workers: 1,
    watches: [stalePodWatch(() => clock.nowMs())],
    observe: (key) => pods.lister.getByKey(key),
    reconcile: reconcileStalePod,
  }
}

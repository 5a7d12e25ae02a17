/**
 * daemonset-controller: a pod on every node that qualifies.
 * Contract: docs/behaviour/controllers/daemonset-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { every } from '@gyropilot/foundation'
import { KeyedBackoff, createExpectations, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { podsOnNode } from '../node-support/pods-on-node.ts'
import {
  CONTROLLER_REVISION_INDEX,
  POD_CONTROLLER_INDEX,
  addControllerIndex,
} from '../workload-support/ownership.ts'
import {
  BACKOFF_COLLECTION_PERIOD_MS,
  FAILED_POD_BACKOFF_MAX_MS,
  FAILED_POD_BACKOFF_MS,
} from './config.ts'
import { EVENT_COMPONENT, NODE_QUEUE_NAME, QUEUE_NAME, SERVICE_ACCOUNT } from './events.ts'
import { STALE_SYNC_SKIPS } from './metrics.ts'
import { nodeDecisions } from './node-decision.ts'
import type { DecideNode } from './node-decision.ts'
import { concernedBy, nodeWatch } from './node-updates.ts'
import { observe } from './observe.ts'
import type { DaemonSetListers, ObservedDaemonSet } from './observe.ts'
import type { FailedPodBackoff } from './plan-nodes.ts'
import { reconcile } from './reconcile.ts'
import { daemonSetWatch, podWatch, revisionWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const daemonSetController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'daemonset-controller',
  aliases: ['daemonset'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const { clock } = context
    const failedPods = new KeyedBackoff(clock, FAILED_POD_BACKOFF_MS, FAILED_POD_BACKOFF_MAX_MS)
    const decide = nodeDecisions({ comparisonOperators: comparesTaints(context) })
    const daemonSets = runKeyedController(daemonSetLogic(context, decide, failedPods), context)
    const nodes = runKeyedController(
      nodeLogic(context, decide, (key) => daemonSets.enqueue(key)),
      context,
    )
    return together(context, failedPods, [daemonSets, nodes])
  },
}

export function daemonSetLogic(
  context: Context,
  decide: DecideNode,
  failedPods: KeyedBackoff,
): KeyedController<ObservedDaemonSet> {
  const { clock, configuration, informers } = context
  const daemonSets = informers.informer(resources.daemonsets)
  const pods = informers.informer(resources.pods)
  const revisions = informers.informer(resources.controllerrevisions)
  const nodes = informers.informer(resources.nodes)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  addControllerIndex(revisions, CONTROLLER_REVISION_INDEX)
  const listers: DaemonSetListers = {
    daemonSets: daemonSets.lister,
    pods: pods.lister,
    nodes: nodes.lister,
    revisions: revisions.lister,
  }
  const expectations = createExpectations(clock)
  const settings = { decide, failedPods: failedPodBackoff(failedPods) }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.daemonSet.concurrentDaemonSetSyncs,
    watches: [
      daemonSetWatch(expectations),
      podWatch(daemonSets.lister, expectations),
      revisionWatch(daemonSets.lister),
    ],
    alsoAwait: [nodes],
    observe: (key) => observe(key, listers, expectations),
    reconcile: (observed) => reconcile(observed, settings),
    forget: (key) => expectations.delete(key),
    expectations,
    ...(featureEnabled(configuration, 'StaleControllerConsistencyDaemonSet')
      ? {
          staleGuard: {
            // Upstream leaves revisions out, and makes one that its cache does not show yet once more, in vain.
            informers: [pods, daemonSets, revisions],
            ownerUid: (observed) => observed.daemonSet.metadata?.uid ?? '',
            metric: { name: STALE_SYNC_SKIPS, kind: 'DaemonSet' },
          },
        }
      : {}),
  }
}

function nodeLogic(
  { configuration, informers }: Context,
  decide: DecideNode,
  enqueue: (key: string) => void,
): KeyedController<Node> {
  const nodes = informers.informer(resources.nodes)
  const daemonSets = informers.informer(resources.daemonsets)
  const pods = informers.informer(resources.pods)
  const podsOn = podsOnNode(informers)
  return {
    queueName: NODE_QUEUE_NAME,
    workers: configuration.daemonSet.concurrentDaemonSetSyncs,
    watches: [nodeWatch],
    alsoAwait: [daemonSets, pods],
    observe: (name) => nodes.lister.getByKey(name),
    // Nothing is written: what follows is the other queue's.
    *reconcile(node) {
      const here = podsOn(node.metadata?.name ?? '')
      for (const key of concernedBy(node, daemonSets.lister.list(), here, decide)) enqueue(key)
    },
  }
}

function failedPodBackoff(backoff: KeyedBackoff): FailedPodBackoff {
  return {
    waitMs: (id) => (backoff.isInBackoff(id) ? backoff.currentMs(id) : undefined),
    replaced: (id) => backoff.next(id),
  }
}

function together(
  { clock }: Context,
  failedPods: KeyedBackoff,
  parts: readonly RunnableController[],
): RunnableController {
  return {
    async run(signal) {
      const collection = every(clock, BACKOFF_COLLECTION_PERIOD_MS, () =>
        failedPods.collectGarbage(),
      )
      try {
        await Promise.all(parts.map((part) => part.run(signal)))
      } finally {
        collection.cancel()
      }
    },
  }
}

/** Alpha, and off where nobody set it. */
function comparesTaints({ configuration }: Context): boolean {
  return configuration.featureGates['TaintTolerationComparisonOperators'] ?? false
}

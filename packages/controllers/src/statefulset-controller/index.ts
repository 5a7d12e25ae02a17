/**
 * statefulset-controller: pods with names, ordinals and claims of their own.
 * Contract: docs/behaviour/controllers/statefulset-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import {
  CONTROLLER_REVISION_INDEX,
  POD_CONTROLLER_INDEX,
  addControllerIndex,
} from '../workload-support/ownership.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './events.ts'
import { availabilityMetrics } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedStatefulSet } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { StatefulSetSettings } from './reconcile.ts'
import { podWatch, statefulSetWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const statefulSetController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'statefulset-controller',
  aliases: ['statefulset'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(statefulSetLogic(context), context),
}

export function statefulSetLogic(context: Context): KeyedController<ObservedStatefulSet> {
  const { configuration } = context
  const sets = context.informers.informer(resources.statefulsets)
  const pods = context.informers.informer(resources.pods)
  const claims = context.informers.informer(resources.persistentvolumeclaims)
  const revisions = context.informers.informer(resources.controllerrevisions)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  addControllerIndex(revisions, CONTROLLER_REVISION_INDEX)
  const listers = {
    sets: sets.lister,
    pods: pods.lister,
    claims: claims.lister,
    revisions: revisions.lister,
  }
  const settings = settingsOf(context)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.statefulSet.concurrentStatefulSetSyncs,
    watches: [statefulSetWatch(), podWatch(sets.lister)],
    alsoAwait: [claims, revisions],
    observe: (key) => observe(key, listers),
    reconcile: (observed) => reconcile(observed, settings),
    countedObjects: ({ set }) => Math.max(set.spec?.replicas ?? 1, set.status?.replicas ?? 0),
    ...(featureEnabled(configuration, 'StaleControllerConsistencyStatefulSet')
      ? {
          staleGuard: {
            // Upstream leaves revisions out, and makes one that its cache does not show yet once more, in vain.
            informers: [pods, claims, sets, revisions],
            // Nothing else tells that a pod was asked to end, and asking twice is an event too many.
            deletions: true,
            ownerUid: (observed) => observed.set.metadata?.uid ?? '',
          },
        }
      : {}),
  }
}

function settingsOf({ configuration, metrics, logger }: Context): StatefulSetSettings {
  const maxUnavailable = featureEnabled(configuration, 'MaxUnavailableStatefulSet', false)
  const availability = maxUnavailable ? availabilityMetrics(metrics) : undefined
  return {
    semanticRevisions: featureEnabled(configuration, 'StatefulSetSemanticRevisionComparison'),
    maxUnavailable,
    onUnavailable: (set, most, now) => availability?.observe(set, most, now),
    onInvalidSelector(set, error) {
      logger.error(error, 'Error converting pod selector to selector', {
        namespace: set.metadata?.namespace,
        statefulSet: set.metadata?.name,
      })
    },
  }
}

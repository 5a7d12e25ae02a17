/** The wiring that controllers of replicas share: caches, indexes, expectations, the sync. */
import { resources } from '@gyropilot/api'
import { createExpectations } from '@gyropilot/runtime'
import type { ControllerContext, Informer, KeyedController } from '@gyropilot/runtime'
import type { Pod } from '@gyropilot/api'
import { featureEnabled } from '../../configuration.ts'
import type { ControllersConfiguration } from '../../configuration.ts'
import { POD_CONTROLLER_INDEX, addControllerIndex } from '../ownership.ts'
import { deletionAgeRatios, sortingDeletionAgeRatio } from './deletion-age-ratio.ts'
import { EmptiedNamespaces } from './emptied-namespaces.ts'
import { BURST_REPLICAS } from './manage-replicas.ts'
import { observe } from './observe.ts'
import type { ObservedReplicas } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { ReplicaSettings } from './reconcile.ts'
import type { ReplicaOwner, ReplicaOwnerKind } from './replica-owner.ts'
import { ownerWatch, podWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

interface ReplicaControllerNames {
  readonly queueName: string
  readonly eventComponent: string
  /** Key of the owner in log lines. */
  readonly logKey: string
}

interface ReplicaControllerOptions<Owner extends ReplicaOwner> {
  readonly kind: ReplicaOwnerKind<Owner>
  readonly names: ReplicaControllerNames
  readonly workers: number
  /** Whether the status counts terminating pods. */
  readonly terminatingReplicas: boolean
}

export function replicaLogic<Owner extends ReplicaOwner>(
  context: Context,
  { kind, names, workers, terminatingReplicas }: ReplicaControllerOptions<Owner>,
): KeyedController<ObservedReplicas<Owner>> {
  const owners = context.informers.informer(kind.type)
  const pods: Informer<Pod> = context.informers.informer(resources.pods)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  const listers = { owners: owners.lister, pods: pods.lister }
  // Its own: keys are only namespace and name, and kinds share names.
  const expectations = createExpectations(context.clock)
  const emptied = new EmptiedNamespaces(context.clock)
  const settings = {
    ...settingsOf(context, names, terminatingReplicas),
    onNamespaceTerminating: (owner: ReplicaOwner) =>
      emptied.found(owner, () => owners.lister.list(owner.metadata?.namespace)),
  }
  return {
    queueName: names.queueName,
    eventComponent: names.eventComponent,
    workers,
    watches: [ownerWatch(kind.type, expectations), podWatch(owners.lister, kind, expectations)],
    observe(key) {
      const observed = observe(key, kind, listers, expectations)
      if (observed === undefined) return undefined
      return { ...observed, restMs: emptied.restMs(key, observed.owner.metadata?.uid ?? '') }
    },
    reconcile: (observed) => reconcile(observed, kind, settings),
    forget(key) {
      expectations.delete(key)
      emptied.forget(key)
    },
    expectations,
    // Not the orphans that were looked at too: small owners beside them do not rest.
    restsWithoutWrites: true,
    countedObjects: ({ owner }) => Math.max(owner.spec?.replicas ?? 1, owner.status?.replicas ?? 0),
  }
}

function settingsOf(
  { configuration, metrics, logger }: Context,
  { logKey }: ReplicaControllerNames,
  terminatingReplicas: boolean,
): ReplicaSettings {
  const ageRatio = sortingDeletionAgeRatio(metrics)
  return {
    burstReplicas: BURST_REPLICAS,
    deletionCost: featureEnabled(configuration, 'PodDeletionCost'),
    terminatingReplicas,
    onSortedDeletion(all, chosen, nowMs) {
      for (const ratio of deletionAgeRatios(all, chosen, nowMs)) ageRatio.observe(ratio)
    },
    onInvalidSelector(owner, error) {
      logger.error(error, 'Error converting pod selector to selector', {
        namespace: owner.metadata?.namespace,
        [logKey]: owner.metadata?.name,
      })
    },
  }
}

/**
 * Which Deployments an event concerns.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Watches and keys.
 */
import { controllerOf, keyOf, resources } from '@gyropilot/api'
import type { Deployment, Pod, ReplicaSet } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { selectsOrphan } from '../workload-support/label-selector.ts'
import {
  POD_CONTROLLER_INDEX,
  REPLICA_SET_CONTROLLER_INDEX,
  ownedOnly,
  resolveController,
  sameController,
  sameLabels,
} from '../workload-support/ownership.ts'
import type { DeploymentListers } from './observe.ts'

export const deploymentWatch: Watch<Deployment> = {
  type: resources.deployments,
  onAdd: (deployment) => [keyOf(deployment)],
  onUpdate: (_, deployment) => [keyOf(deployment)],
  onDelete: (deployment) => [keyOfDeleted(deployment)],
}

export function replicaSetWatch(deployments: Lister<Deployment>): Watch<ReplicaSet> {
  const ownersOf = (replicaSet: ReplicaSet): readonly string[] => {
    const owner = resolveController(
      deployments,
      'Deployment',
      replicaSet.metadata?.namespace,
      controllerOf(replicaSet),
    )
    return owner === undefined ? [] : [keyOf(owner)]
  }
  const ownersOfOrphan = (replicaSet: ReplicaSet): readonly string[] =>
    deployments
      .list(replicaSet.metadata?.namespace)
      .filter((deployment) => selectsOrphan(deployment.spec?.selector, replicaSet))
      .map(keyOf)
  return {
    type: resources.replicasets,
    onAdd(replicaSet) {
      if (replicaSet.metadata?.deletionTimestamp !== undefined) return ownersOf(replicaSet)
      return controllerOf(replicaSet) === undefined
        ? ownersOfOrphan(replicaSet)
        : ownersOf(replicaSet)
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      const controllerChanged = !sameController(previous, current)
      const keys = controllerChanged ? [...ownersOf(previous)] : []
      if (controllerOf(current) !== undefined) return [...keys, ...ownersOf(current)]
      return controllerChanged || !sameLabels(previous, current)
        ? [...keys, ...ownersOfOrphan(current)]
        : keys
    },
    onDelete: (replicaSet) =>
      replicaSet instanceof DeletedFinalStateUnknown ? [] : ownersOf(replicaSet),
  }
}

/**
 * Only Recreate waits for pods, and only for the last one. ReplicaSets are taken from the cache
 * where upstream lists them live: one that is missing in the cache can only make the Deployment be
 * looked at once too often.
 */
export function podWatch({ deployments, replicaSets, pods }: DeploymentListers): Watch<Pod> {
  const deploymentOf = (pod: Pod): Deployment | undefined => {
    const { namespace } = pod.metadata ?? {}
    const replicaSet = resolveController(replicaSets, 'ReplicaSet', namespace, controllerOf(pod))
    return (
      replicaSet &&
      resolveController(deployments, 'Deployment', namespace, controllerOf(replicaSet))
    )
  }
  return {
    type: resources.pods,
    onDelete(pod) {
      if (pod instanceof DeletedFinalStateUnknown) return []
      const deployment = deploymentOf(pod)
      if (deployment?.spec?.strategy?.type !== 'Recreate') return []
      const hasPods = ownedOnly(
        replicaSets,
        REPLICA_SET_CONTROLLER_INDEX,
        deployment,
        'Deployment',
      ).some(
        (replicaSet) => ownedOnly(pods, POD_CONTROLLER_INDEX, replicaSet, 'ReplicaSet').length > 0,
      )
      return hasPods ? [] : [keyOf(deployment)]
    },
  }
}

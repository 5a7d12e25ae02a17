/**
 * Gathers what the rules of a Deployment need from the caches.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Sync.
 */
import type { Deployment, Pod, ReplicaSet } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import {
  POD_CONTROLLER_INDEX,
  REPLICA_SET_CONTROLLER_INDEX,
  ownedAndOrphaned,
  ownedOnly,
} from '../workload-support/ownership.ts'

export interface ObservedDeployment {
  readonly deployment: Deployment
  /** Those with this Deployment's uid as controller, and the orphans of the namespace. */
  readonly replicaSets: readonly ReplicaSet[]
  /** Any ReplicaSet of the namespace, whoever owns it. */
  cachedReplicaSet(name: string): ReplicaSet | undefined
  /** Pods that the ReplicaSet controls, in any phase. */
  podsOf(replicaSet: ReplicaSet): readonly Pod[]
}

export interface DeploymentListers {
  readonly deployments: Lister<Deployment>
  readonly replicaSets: Lister<ReplicaSet>
  readonly pods: Lister<Pod>
}

export function observe(key: string, listers: DeploymentListers): ObservedDeployment | undefined {
  const deployment = listers.deployments.getByKey(key)
  if (deployment === undefined) return undefined
  return {
    deployment,
    replicaSets: ownedAndOrphaned(
      listers.replicaSets,
      REPLICA_SET_CONTROLLER_INDEX,
      deployment,
      'Deployment',
    ),
    cachedReplicaSet: (name) => listers.replicaSets.get(deployment.metadata?.namespace, name),
    podsOf: (replicaSet) => ownedOnly(listers.pods, POD_CONTROLLER_INDEX, replicaSet, 'ReplicaSet'),
  }
}

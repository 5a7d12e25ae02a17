/**
 * A kind that keeps replicas of one pod. ReplicaSets and ReplicationControllers do it by the same
 * rules: docs/behaviour/controllers/replicaset-controller.md, and what
 * docs/behaviour/controllers/replicationcontroller-controller.md says otherwise.
 */
import type {
  KubernetesObject,
  LabelSelector,
  Pod,
  PodTemplateSpec,
  ReplicaSetStatus,
  ResourceType,
} from '@gyropilot/api'

export interface ReplicaOwner extends KubernetesObject {
  readonly spec?: {
    /** Default 1. */
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly template?: PodTemplateSpec
  }
  /** terminatingReplicas is only a ReplicaSet's. */
  readonly status?: ReplicaSetStatus
}

export interface ReplicaOwnerKind<Owner extends ReplicaOwner> {
  readonly type: ResourceType<Owner>
  /** Which pods may be its own. The same selector answers the same object. */
  selectorOf(owner: Owner): LabelSelector | undefined
  /**
   * Pods that it should not share nodes with when some must go. Asked for only when pods are ranked
   * for deletion. Absent: of none.
   */
  relatedPods?(owner: Owner): readonly Pod[]
}

/**
 * Names that users see.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Events, Status and conditions.
 */
export const EVENT_COMPONENT = 'deployment-controller'
export const QUEUE_NAME = 'deployment'
export const SERVICE_ACCOUNT = 'deployment-controller'

export const SCALING_REPLICA_SET = 'ScalingReplicaSet'
export const SELECTING_ALL = 'SelectingAll'
export const ROLLED_BACK = 'DeploymentRollback'
export const ROLLBACK_REVISION_NOT_FOUND = 'DeploymentRollbackRevisionNotFound'
export const ROLLBACK_TEMPLATE_UNCHANGED = 'DeploymentRollbackTemplateUnchanged'

/** Condition types. */
export const AVAILABLE = 'Available'
export const PROGRESSING = 'Progressing'
export const REPLICA_FAILURE = 'ReplicaFailure'

/** Condition reasons; REPLICA_SET_CREATE_ERROR is the reason of an event as well. */
export const MINIMUM_REPLICAS_AVAILABLE = 'MinimumReplicasAvailable'
export const MINIMUM_REPLICAS_UNAVAILABLE = 'MinimumReplicasUnavailable'
export const NEW_REPLICA_SET_CREATED = 'NewReplicaSetCreated'
export const FOUND_NEW_REPLICA_SET = 'FoundNewReplicaSet'
export const REPLICA_SET_UPDATED = 'ReplicaSetUpdated'
export const NEW_REPLICA_SET_AVAILABLE = 'NewReplicaSetAvailable'
export const PROGRESS_DEADLINE_EXCEEDED = 'ProgressDeadlineExceeded'
export const REPLICA_SET_CREATE_ERROR = 'ReplicaSetCreateError'
export const DEPLOYMENT_PAUSED = 'DeploymentPaused'
export const DEPLOYMENT_RESUMED = 'DeploymentResumed'

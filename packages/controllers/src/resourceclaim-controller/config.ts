/**
 * Settings, names and numbers.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md.
 */
export interface ResourceClaimConfiguration {
  /** --concurrent-resourceclaim-syncs */
  readonly concurrentSyncs: number
}

export const defaultResourceClaimConfiguration: ResourceClaimConfiguration = {
  concurrentSyncs: 50,
}

export const QUEUE_NAME = 'resource_claim'
export const EVENT_COMPONENT = 'resource_claim'
export const SERVICE_ACCOUNT = 'resource-claim-controller'
/** Of the status of pods. */
export const FIELD_MANAGER = 'ResourceClaimController'

/** Which entry of its pod a claim was made for. */
export const POD_CLAIM_ANNOTATION = 'resource.kubernetes.io/pod-claim-name'
/** Set by who allocates: the claim stays while its devices are taken. */
export const FINALIZER = 'resource.kubernetes.io/delete-protection'

/** How long a claim of our own is remembered that the cache has not shown yet. */
export const OWN_CREATES_MS = 3_600_000
/** How many deleted pods and PodGroups are remembered. */
export const GONE_USERS_MAX = 500
/** The server adds five characters of its own to a generated name, of 63 at most, and there is a dash before them. */
export const GENERATED_BASE_BYTES_MAX = 57

/** Gates that a template may need. */
export interface TemplateGates {
  /** DRAAdminAccess */
  readonly adminAccess: boolean
  /** DRAPrioritizedList */
  readonly prioritizedList: boolean
}

/** Names and settings. Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md. */
import type { Pod } from '@gyropilot/api'

export interface PersistentVolumeBinderConfiguration {
  /** --pvclaimbinder-sync-period */
  readonly syncPeriodMs: number
  /** --enable-dynamic-provisioning */
  readonly enableDynamicProvisioning: boolean
  /** --enable-hostpath-provisioner */
  readonly enableHostPathProvisioner: boolean
  readonly recyclers: Readonly<Record<'nfs' | 'hostPath', RecyclerConfiguration>>
  /** Of the machine that the manager runs on. Absent: no folder is made or removed. */
  readonly hostFolders?: HostFolders
}

export interface RecyclerConfiguration {
  /** --pv-recycler-minimum-timeout-nfs, -hostpath */
  readonly minimumSeconds: number
  /** --pv-recycler-increment-timeout-nfs, --pv-recycler-timeout-increment-hostpath */
  readonly secondsPerGibibyte: number
  /** --pv-recycler-pod-template-filepath-nfs, -hostpath. Its first volume becomes the one to be emptied. */
  readonly podTemplate?: Pod
}

/** Rejects with an error whose message is for people. */
export interface HostFolders {
  make(path: string): Promise<void>
  /** With all that is in it; one that is not there is no error. */
  remove(path: string): Promise<void>
}

export const defaultPersistentVolumeBinderConfiguration: PersistentVolumeBinderConfiguration = {
  syncPeriodMs: 15_000,
  enableDynamicProvisioning: true,
  enableHostPathProvisioner: false,
  recyclers: {
    nfs: { minimumSeconds: 300, secondsPerGibibyte: 30 },
    hostPath: { minimumSeconds: 60, secondsPerGibibyte: 30 },
  },
}

export const CLAIM_QUEUE = 'claims'
export const VOLUME_QUEUE = 'volumes'
/** One of each queue: what one bind writes is in the own cache before the next claim looks for a volume. */
export const WORKERS = 1
export const EVENT_COMPONENT = 'persistentvolume-controller'
export const SERVICE_ACCOUNT = 'persistent-volume-binder'

/** Of provisionings and deletions that fail, by claim and by volume. */
export const MIN_OPERATION_RETRY_MS = 500
export const MAX_OPERATION_RETRY_MS = 122_000

/** Of the annotations that mean something by being there. */
export const YES = 'yes'

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller'
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner'
export const BETA_STORAGE_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner'
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
export const MIGRATED_TO = 'pv.kubernetes.io/migrated-to'
export const BETA_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class'
export const PRE_RESIZE_CAPACITY = 'volume.alpha.kubernetes.io/pre-resize-capacity'
/** Of volumes that could not be saved, and of what is then to be removed again. */
export const SAVE_TRIES = 5
export const SAVE_INTERVAL_MS = 10_000

export const IN_TREE_FINALIZER = 'kubernetes.io/pv-controller'
export const EXTERNAL_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'

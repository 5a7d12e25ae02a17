/**
 * Fixed values of both controllers.
 * Contract: docs/behaviour/controllers/storageversion-gc-and-migrator.md.
 */

/** What the collection of entries needs; the first is on unless it was turned off, the second off unless it was turned on. */
export const IDENTITY_GATE = 'APIServerIdentity'
export const STORAGE_VERSION_GATE = 'StorageVersionAPI'
export const MIGRATOR_GATE = 'StorageVersionMigrator'
/** On by default: without them nobody knows how far a cache has come. */
export const VERSION_GATES = ['InformerResourceVersion', 'InOrderInformers'] as const

export const COLLECTOR_IDENTITY = 'storage-version-garbage-collector'
export const LEASE_QUEUE = 'storage_version_garbage_collector_leases'
export const STORAGE_VERSION_QUEUE = 'storage_version_garbage_collector_storageversions'
/** Where API servers announce themselves, and the label by which they are told from others. */
export const LEASE_NAMESPACE = 'kube-system'
export const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity'
export const IDENTITY_VALUE = 'kube-apiserver'

export const MIGRATOR_IDENTITY = 'storage-version-migrator-controller'
export const MIGRATION_FIELD_MANAGER = 'storage-version-migrator-controller'
export const RUNNER_FIELD_MANAGER = 'migration-runner-controller'
/** The runner's queue has no name. */
export const VERSION_QUEUE = 'resource-version-controller'
export const MIGRATION_QUEUE = 'storage-version-migrator-controller'
export const MIGRATION_WORKERS = 5
/** A resource younger than its migration may not be in discovery or in the caches yet. */
export const NEW_RESOURCE_GRACE_MS = 60_000
export const MONITOR_WAIT_MS = 10_000
export const MONITOR_POLL_MS = 100
/** A namespace that cannot be: a list of it costs nothing and tells the version. */
export const IMPOSSIBLE_NAMESPACE = '@fake:svm_ns!'
/** Tries of a write to a CustomResourceDefinition, and the pause between two. */
export const CONFLICT_TRIES = 5
export const CONFLICT_PAUSE_MS = 10
export const CONFLICT_JITTER = 0.1

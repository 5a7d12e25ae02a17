/** Settings of the namespace controller. Contract: docs/behaviour/controllers/namespace-controller.md, Flags and timing. */
export interface NamespaceConfiguration {
  /** --concurrent-namespace-syncs */
  readonly concurrentNamespaceSyncs: number
  /** --namespace-sync-period */
  readonly namespaceSyncPeriodMs: number
}

export const defaultNamespaceConfiguration: NamespaceConfiguration = {
  concurrentNamespaceSyncs: 10,
  namespaceSyncPeriodMs: 300_000,
}

/** Every API server must have seen the deletion, and late creates must be visible, before content is counted. */
export const DELETION_GRACE_MS = 5_000
/** With so many pods a namespace is large: they take seconds to delete, and are asked to go before the rest is looked at. */
export const LARGE_POD_COUNT = 500
/** When a namespace is asked whether it is large. */
export const LARGE_GRACE_MS = 1_000
/** How long content with finalizers is expected to take. */
export const FINALIZER_ESTIMATE_SECONDS = 15

export const QUEUE_NAME = 'namespace'
export const SERVICE_ACCOUNT = 'namespace-controller'

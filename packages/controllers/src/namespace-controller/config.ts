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
/** How long content with finalizers is expected to take. */
export const FINALIZER_ESTIMATE_SECONDS = 15

export const QUEUE_NAME = 'namespace'
export const SERVICE_ACCOUNT = 'namespace-controller'

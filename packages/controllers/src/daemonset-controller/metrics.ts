/**
 * Metrics of the DaemonSet controller.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Metrics.
 */
export const STALE_SYNC_SKIPS = 'daemonset_controller_stale_sync_skips_total'

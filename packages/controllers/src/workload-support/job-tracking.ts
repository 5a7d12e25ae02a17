/** How Jobs hold pods that they have still to count. Contract: docs/behaviour/controllers/job-controller.md. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking'

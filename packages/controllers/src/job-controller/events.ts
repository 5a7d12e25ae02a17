/**
 * Names that users see.
 * Contract: docs/behaviour/controllers/job-controller.md, Names, Events, Concurrency.
 */
export const EVENT_COMPONENT = 'job-controller'
export const QUEUE_NAME = 'job'
export const ORPHAN_QUEUE_NAME = 'job_orphan_pod'
export const SERVICE_ACCOUNT = 'job-controller'

/** The value of spec.managedBy that means this controller. */
export const BUILT_IN_CONTROLLER = 'kubernetes.io/job-controller'
/** Annotation and label. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'
export const INDEX_FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count'
export const INDEX_IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count'
export const COMPLETION_INDEX_ENV = 'JOB_COMPLETION_INDEX'

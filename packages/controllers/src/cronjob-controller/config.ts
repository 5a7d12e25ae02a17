/** Settings. Contract: docs/behaviour/controllers/cronjob-controller.md, Flags and configuration. */
export interface CronJobConfiguration {
  /** --concurrent-cron-job-syncs */
  readonly concurrentCronJobSyncs: number
  /** The zone of this process, an IANA name: it counts for schedules that name none. */
  readonly localTimeZone: string
}

export const defaultCronJobConfiguration: CronJobConfiguration = {
  concurrentCronJobSyncs: 5,
  localTimeZone: 'UTC',
}

export const QUEUE_NAME = 'cronjob'
export const SERVICE_ACCOUNT = 'cronjob-controller'
export const EVENT_COMPONENT = 'cronjob-controller'
/** Added to every delay, so that a sync never comes a moment before its time. */
export const DELAY_PADDING_MS = 100
/** More missed times than this are worth a warning. */
export const MANY_MISSED = 100
/** On Jobs: the time they were due, RFC 3339 in the zone of the CronJob. */
export const SCHEDULED_TIMESTAMP = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

/** Contract: docs/behaviour/controllers/cronjob-controller.md, Watches and keys. */
import { controllerOf, keyOf, resources } from '@gyropilot/api'
import type { CronJob, Job, TimeZone } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { resolveController, sameController } from '../workload-support/ownership.ts'
import { nextDelayMs } from './missed-time.ts'
import { dueTimesOf } from './schedule-of.ts'

export interface CronJobWatchSettings {
  readonly localTimeZone: TimeZone
  nowMs(): number
  /** The schedule was changed to this one. */
  onScheduleChanged(cronJob: CronJob, isParseable: boolean): void
}

export function cronJobWatch(settings: CronJobWatchSettings): Watch<CronJob> {
  const { localTimeZone, nowMs, onScheduleChanged } = settings
  return {
    type: resources.cronjobs,
    onAdd: (cronJob) => [keyOf(cronJob)],
    onUpdate(previous, current): readonly QueueKey[] {
      const isSameSchedule =
        previous.spec?.schedule === current.spec?.schedule &&
        previous.spec?.timeZone === current.spec?.timeZone
      if (isSameSchedule) return [keyOf(current)]
      const due = dueTimesOf(current, localTimeZone)
      onScheduleChanged(current, typeof due !== 'string')
      if (typeof due === 'string') return []
      return [{ key: keyOf(current), afterMs: nextDelayMs(current, nowMs(), due) }]
    },
    onDelete: (cronJob) => [keyOfDeleted(cronJob)],
  }
}

export function jobWatch(cronJobs: Lister<CronJob>): Watch<Job> {
  const ownerKeys = (job: Job): readonly string[] => {
    const owner = resolveController(cronJobs, 'CronJob', job.metadata?.namespace, controllerOf(job))
    return owner === undefined ? [] : [keyOf(owner)]
  }
  return {
    type: resources.jobs,
    onAdd: ownerKeys,
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      return sameController(previous, current)
        ? ownerKeys(current)
        : [...ownerKeys(previous), ...ownerKeys(current)]
    },
    onDelete: (job) => (job instanceof DeletedFinalStateUnknown ? [] : ownerKeys(job)),
  }
}

/** cronjob-controller: starts Jobs at their times. Contract: docs/behaviour/controllers/cronjob-controller.md. */
import { UTC, controllerOf, resources, timeZoneNamed } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { creationSkew } from './metrics.ts'
import { reconcile, zoneInSchedule } from './reconcile.ts'
import type { CronJobSettings, ObservedCronJob } from './reconcile.ts'
import { namesZoneInSchedule } from './schedule-of.ts'
import { cronJobWatch, jobWatch } from './watches.ts'
import type { CronJobWatchSettings } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

/** Jobs by `namespace/name` of their controller, of whatever kind. */
const CONTROLLER_NAME_INDEX = 'controllerName'

export const cronJobController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(cronJobLogic(context), context),
}

export function cronJobLogic(context: Context): KeyedController<ObservedCronJob> {
  const { informers, configuration, metrics } = context
  const informer = informers.informer(resources.cronjobs)
  const cronJobs = informer.lister
  const jobs = informers.informer(resources.jobs)
  jobs.addIndex(CONTROLLER_NAME_INDEX, controllerNameOf)
  const localTimeZone = timeZoneNamed(configuration.cronJob.localTimeZone) ?? UTC
  const skew = creationSkew(metrics)
  const settings: CronJobSettings = {
    localTimeZone,
    onJobCreated: (skewSeconds) => skew.observe(skewSeconds),
  }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.cronJob.concurrentCronJobSyncs,
    watches: [cronJobWatch(watchSettings(context, settings)), jobWatch(cronJobs)],
    observe(key) {
      const cronJob = cronJobs.getByKey(key)
      return cronJob && { cronJob, children: jobs.lister.byIndex(CONTROLLER_NAME_INDEX, key) }
    },
    reconcile: (observed) => reconcile(observed, settings),
    // Upstream has none here: a status written from a CronJob that is older than the last one is refused.
    staleGuard: {
      informers: [informer],
      ownerUid: ({ cronJob }) => cronJob.metadata?.uid ?? '',
    },
  }
}

function watchSettings(
  { clock, recorder }: Context,
  { localTimeZone }: CronJobSettings,
): CronJobWatchSettings {
  const events = recorder(EVENT_COMPONENT)
  return {
    localTimeZone,
    nowMs: () => clock.nowMs(),
    onScheduleChanged(cronJob, isParseable) {
      const warn = (reason: string, message: string): void =>
        events.record({ regarding: cronJob, type: 'Warning', reason, message })
      const { schedule = '' } = cronJob.spec ?? {}
      if (namesZoneInSchedule(cronJob)) warn('UnsupportedSchedule', zoneInSchedule(schedule))
      if (!isParseable)
        warn('UnParseableCronJobSchedule', `unparseable schedule for cronjob: ${schedule}`)
    },
  }
}

function controllerNameOf(job: Job): readonly string[] {
  const controller = controllerOf(job)
  return controller === undefined ? [] : [`${job.metadata?.namespace}/${controller.name}`]
}

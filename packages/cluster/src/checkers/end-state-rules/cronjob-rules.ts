/** CronJobs at rest. Contract: docs/behaviour/controllers/cronjob-controller.md. */
import type { CronJob, Job } from '@gyropilot/api'
import { controllerOf, isConditionTrue, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** Active are Jobs that are there and run; of those that are over no more are kept than was asked for. */
export function* cronJobs(objects: Objects): Iterable<string> {
  for (const cronJob of objects.all(resources.cronjobs)) {
    const { namespace, name, uid } = cronJob.metadata ?? {}
    const own = objects
      .all(resources.jobs, namespace)
      .filter((job) => controllerOf(job)?.uid === uid)
    const text = `CronJob ${namespace}/${name}`
    yield* activeJobs(cronJob, own, text)
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec ?? {}
    yield* kept(own, 'Complete', successfulJobsHistoryLimit, text)
    yield* kept(own, 'Failed', failedJobsHistoryLimit, text)
  }
}

function* activeJobs({ status }: CronJob, own: readonly Job[], text: string): Iterable<string> {
  for (const { uid, name } of status?.active ?? []) {
    const job = own.find(({ metadata }) => metadata?.uid === uid)
    if (job === undefined) yield `${text} says that ${name} is active, which is not there`
    else if (isOver(job, 'Complete') || isOver(job, 'Failed'))
      yield `${text} says that ${name} is active, which is over`
  }
}

function* kept(
  own: readonly Job[],
  end: 'Complete' | 'Failed',
  limit: number,
  text: string,
): Iterable<string> {
  const { length } = own.filter((job) => isOver(job, end))
  if (length > limit) yield `${text} keeps ${length} Jobs that are ${end}, at most ${limit}`
}

function isOver({ status }: Job, type: string): boolean {
  return isConditionTrue(status?.conditions, type)
}

/** CronJobs: a minute has one Job, also of a manager that was away. */
import type { Job } from '@gyropilot/api'
import { isConditionTrue, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { cronJob } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const CRON = 'cronjob-controller'
const JOB = 'job-controller'
const COLLECTOR = 'garbage-collector-controller'
const MINUTE_MS = 60_000
const STEP_MS = 10_000
const PATIENCE_MS = 600_000

function complete(cluster: SimulatedCluster): readonly Job[] {
  return cluster.objects
    .all(resources.jobs, 'default')
    .filter(({ status }) => isConditionTrue(status?.conditions, 'Complete'))
}

async function suspend(cluster: SimulatedCluster): Promise<void> {
  const value = { spec: { suspend: true } }
  await cluster.patch(resources.cronjobs, 'default', 'tick', { type: 'merge', value })
  await cluster.advance(STEP_MS)
}

export const cronJobScenarios: readonly Scenario[] = [
  {
    name: 'a CronJob runs twice and is suspended',
    controllers: [CRON, JOB],
    async play(cluster) {
      const annotations = { 'sim.kubelet/run': '5s' }
      await cluster.create(cronJob('tick', { annotations }))
      if (!(await cluster.until(() => complete(cluster).length === 2, PATIENCE_MS)))
        throw new Error('there never were two Jobs')
      await suspend(cluster)
    },
    *ends(cluster) {
      const found = cluster.objects.find(resources.cronjobs, 'default', 'tick')
      // A third may have begun before it was suspended.
      const { length } = complete(cluster)
      if (length < 2 || length > 3) yield `${length} Jobs are complete`
      if ((found?.status?.active ?? []).length > 0) yield 'tick has active Jobs'
      if (found?.status?.lastSuccessfulTime === undefined) yield 'tick knows of no success'
    },
  },
  {
    name: 'a CronJob replaces what runs on',
    controllers: [CRON, JOB, COLLECTOR],
    async play(cluster) {
      const annotations = { 'sim.kubelet/run': '200s' }
      const spec = { concurrencyPolicy: 'Replace' } as const
      await cluster.create(cronJob('tick', { annotations, spec }))
      await cluster.advance(2 * MINUTE_MS + STEP_MS)
      // A manager may end between the deletion and the creation: the Job of this minute is then another's.
      await cluster.until(
        () => cluster.objects.all(resources.jobs, 'default').length > 0,
        PATIENCE_MS,
      )
      await suspend(cluster)
      await cluster.until(() => complete(cluster).length > 0, PATIENCE_MS)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const jobs = cluster.objects.all(resources.jobs, 'default').length
      const done = complete(cluster).length
      if (jobs !== 1 || done !== 1) yield `there are ${jobs} Jobs, ${done} complete, and not one`
    },
  },
]

/** What a random user does with CronJobs. */
import { resources } from '@gyropilot/api'
import { cronJob } from '../scenarios/objects.ts'
import { APPS, deletion, isUsers, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_CRON_JOBS = 3
/** The last one never comes. */
const SCHEDULES = ['* * * * *', '*/2 * * * *', '*/5 * * * *', '59 23 31 2 *'] as const
const ZONES = ['Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Etc/UTC'] as const
const POLICIES = ['Allow', 'Forbid', 'Replace'] as const

/** As long as one is due again and again, nothing comes to rest. */
async function suspendAll(hand: Hand): Promise<boolean> {
  const due = hand.cluster.objects
    .all(resources.cronjobs)
    .filter((found) => isUsers(found) && found.spec?.suspend !== true)
  for (const each of due) await merge(hand, resources.cronjobs, each, { spec: { suspend: true } })
  return due.length > 0
}

export const cronJobOperations: readonly Operation[] = [
  {
    name: 'create a CronJob',
    weight: 2,
    async act(hand) {
      const { cluster, random } = hand
      if (cluster.objects.all(resources.cronjobs).length >= MOST_CRON_JOBS) return false
      const annotations = {
        'sim.kubelet/run': `${hand.number(1, 90)}s`,
        ...(random.next() < 0.2 ? { 'sim.kubelet/exit-code': '1' } : {}),
      }
      const spec = {
        schedule: hand.pick(SCHEDULES)!,
        concurrencyPolicy: hand.pick(POLICIES)!,
        successfulJobsHistoryLimit: hand.number(0, 3),
        failedJobsHistoryLimit: hand.number(0, 2),
        ...(random.next() < 0.3 ? { startingDeadlineSeconds: hand.number(10, 120) } : {}),
      }
      const given = { namespace: somePlace(hand), annotations, spec }
      await cluster.create(cronJob(`cron-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'suspend or resume a CronJob',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.cronjobs)
      if (target === undefined) return false
      const suspend = target.spec?.suspend !== true
      await merge(hand, resources.cronjobs, target, { spec: { suspend } })
      return true
    },
  },
  {
    name: 'change a schedule',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.cronjobs)
      if (target === undefined) return false
      const spec = {
        schedule: hand.pick(SCHEDULES)!,
        timeZone: hand.pick([null, ...ZONES])!,
        concurrencyPolicy: hand.pick(POLICIES)!,
      }
      await merge(hand, resources.cronjobs, target, { spec })
      return true
    },
  },
  deletion('delete a CronJob', 1, resources.cronjobs),
  { name: 'suspend all CronJobs', weight: 0.2, tidies: true, act: suspendAll },
]

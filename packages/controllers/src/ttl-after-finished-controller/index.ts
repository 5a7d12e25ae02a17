/**
 * ttl-after-finished-controller: finished Jobs go when their time is over.
 * Contract: docs/behaviour/controllers/ttl-after-finished-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { DEFAULT_WORKERS, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { deletionDuration } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import { jobWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const ttlAfterFinishedController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(ttlAfterFinishedLogic(context), context),
}

export function ttlAfterFinishedLogic(context: Context): KeyedController<Job> {
  const jobs = context.informers.informer(resources.jobs).lister
  const duration = deletionDuration(context.metrics)
  const { concurrentTtlSyncs } = context.configuration.ttlAfterFinished
  return {
    queueName: QUEUE_NAME,
    workers: concurrentTtlSyncs > 0 ? concurrentTtlSyncs : DEFAULT_WORKERS,
    watches: [jobWatch],
    observe: (key) => jobs.getByKey(key),
    reconcile: (job) => reconcile(job, (sinceExpiryMs) => duration.observe(sinceExpiryMs / 1000)),
  }
}

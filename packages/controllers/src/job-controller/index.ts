/**
 * job-controller: runs pods until the work is done.
 * Contract: docs/behaviour/controllers/job-controller.md.
 */
import { POD_GROUPS, resources } from '@gyropilot/api'
import { ExponentialRateLimiter, createExpectations, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { POD_CONTROLLER_INDEX, addControllerIndex } from '../workload-support/ownership.ts'
import { addPodLabelIndex } from '../workload-support/pod-label-index.ts'
import { MAX_RETRY_MS, MIN_RETRY_MS } from './config.ts'
import { EVENT_COMPONENT, ORPHAN_QUEUE_NAME, QUEUE_NAME, SERVICE_ACCOUNT } from './events.ts'
import {
  FEATURE_GATE,
  POD_GROUPS_BY_WORKLOAD,
  WORKLOADS,
  WORKLOADS_BY_JOB,
  podGroupsByWorkload,
  workloadsByJob,
} from './gangs/gang-objects.ts'
import { JobMemory } from './memory.ts'
import { JobMetrics, STALE_SYNC_SKIPS } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedJob } from './observe.ts'
import {
  jobOrphanWatch,
  observeOrphans,
  podOrphanWatch,
  reconcileOrphans,
} from './pods/orphan-pods.ts'
import type { ObservedOrphans } from './pods/orphan-pods.ts'
import { reconcile } from './reconcile.ts'
import { jobWatch, podWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const jobController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'job-controller',
  aliases: ['job'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: buildJobController,
}

/** Two queues: one of Jobs, and one of pods that have lost theirs. */
function buildJobController(context: Context): RunnableController {
  const jobs = runKeyedController(jobLogic(context), context)
  const orphans = runKeyedController(orphanLogic(context), context)
  return {
    async run(signal) {
      await Promise.all([jobs.run(signal), orphans.run(signal)])
    },
  }
}

export function jobLogic(context: Context): KeyedController<ObservedJob> {
  const { configuration, clock } = context
  const jobs = context.informers.informer(resources.jobs)
  const pods = context.informers.informer(resources.pods)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  const gang = gangInformers(context)
  const listers = {
    jobs: jobs.lister,
    pods: pods.lister,
    ...(gang === undefined
      ? {}
      : { gang: { workloads: gang.workloads.lister, podGroups: gang.podGroups.lister } }),
  }
  const expectations = createExpectations(clock)
  const memory = new JobMemory()
  const metrics = new JobMetrics(context.metrics)
  const state = { expectations, memory, metrics, nowMs: () => clock.nowMs() }
  const settings = {
    memory,
    metrics,
    suspensionClearsStart: featureEnabled(
      configuration,
      'MutableSchedulingDirectivesForSuspendedJobs',
    ),
  }
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.job.concurrentJobSyncs,
    rateLimiter: new ExponentialRateLimiter(MIN_RETRY_MS, MAX_RETRY_MS),
    watches: [jobWatch(state), podWatch(jobs.lister, state)],
    observe: (key) => observe(key, listers, expectations, memory),
    reconcile: (observed) => reconcile(observed, settings),
    forget(key) {
      expectations.delete(key)
      memory.forget(key)
    },
    expectations,
    alsoAwait: gang === undefined ? [] : [gang.workloads, gang.podGroups],
    ...(featureEnabled(configuration, 'StaleControllerConsistencyJob')
      ? {
          staleGuard: {
            // A gang that was made a moment ago must not be taken for one that is missing.
            informers: [
              pods,
              jobs,
              ...(gang === undefined ? [] : [gang.workloads, gang.podGroups]),
            ],
            ownerUid: (observed: ObservedJob) => observed.job.metadata?.uid ?? '',
            metric: { name: STALE_SYNC_SKIPS, kind: 'Job' },
          },
        }
      : {}),
  }
}

/** Only with the gate: no informer may ask for what is not served. */
function gangInformers({ configuration, informers }: Context) {
  if (configuration.featureGates[FEATURE_GATE] !== true) return undefined
  const workloads = informers.informer(WORKLOADS)
  const podGroups = informers.informer(POD_GROUPS)
  workloads.addIndex(WORKLOADS_BY_JOB, workloadsByJob)
  podGroups.addIndex(POD_GROUPS_BY_WORKLOAD, podGroupsByWorkload)
  return { workloads, podGroups }
}

export function orphanLogic(context: Context): KeyedController<ObservedOrphans> {
  const jobs = context.informers.informer(resources.jobs)
  const pods = context.informers.informer(resources.pods)
  addPodLabelIndex(pods)
  const listers = { jobs: jobs.lister, pods: pods.lister }
  return {
    queueName: ORPHAN_QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: context.configuration.job.concurrentJobSyncs,
    rateLimiter: new ExponentialRateLimiter(MIN_RETRY_MS, MAX_RETRY_MS),
    watches: [jobOrphanWatch, podOrphanWatch(jobs.lister)],
    observe: (key) => observeOrphans(key, listers),
    reconcile: reconcileOrphans,
  }
}

/** The smallest valid objects, for tests. */
import { newControllerRef, resources } from '@gyropilot/api'
import type { CronJob, Job } from '@gyropilot/api'

interface CronJobOptions {
  readonly spec?: Partial<NonNullable<CronJob['spec']>>
  readonly status?: CronJob['status']
  readonly createdAt?: string
  readonly deleting?: boolean
}

/** Every hour, made at ten o'clock. */
export function cronJob(given: CronJobOptions = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      namespace: 'ns',
      name: 'tick',
      uid: 'cron-uid',
      resourceVersion: '7',
      creationTimestamp: given.createdAt ?? '2026-01-01T10:00:00Z',
      ...(given.deleting && { deletionTimestamp: '2026-01-01T10:30:00Z' }),
    },
    spec: {
      schedule: '0 * * * *',
      concurrencyPolicy: 'Allow',
      jobTemplate: {
        metadata: { labels: { l: 'x' }, annotations: { a: 'y' } },
        spec: { template: { spec: { containers: [{ name: 'c', image: 'img:1' }] } } },
      },
      ...given.spec,
    },
    ...(given.status && { status: given.status }),
  }
}

interface JobOptions {
  readonly uid?: string
  readonly finished?: 'Complete' | 'Failed'
  readonly startTime?: string
  readonly completionTime?: string
  readonly owner?: CronJob
}

/** Made by `cronJob()`, running. */
export function job(name: string, given: JobOptions = {}): Job {
  const { uid = `${name}-uid`, finished, startTime, completionTime, owner = cronJob() } = given
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'ns',
      name,
      uid,
      resourceVersion: '3',
      creationTimestamp: '2026-01-01T10:00:00Z',
      ownerReferences: [newControllerRef(owner, resources.cronjobs)],
    },
    status: {
      ...(startTime && { startTime }),
      ...(completionTime && { completionTime }),
      ...(finished && { conditions: [{ type: finished, status: 'True' }] }),
    },
  }
}

/** The status of a CronJob with these Jobs at work. */
export function activeJobs(...jobs: readonly Job[]): NonNullable<CronJob['status']> {
  const active = jobs.map(({ metadata }) => ({
    kind: 'Job',
    namespace: 'ns',
    name: metadata?.name,
    uid: metadata?.uid,
    apiVersion: 'batch/v1',
    resourceVersion: metadata?.resourceVersion,
  }))
  return { active }
}

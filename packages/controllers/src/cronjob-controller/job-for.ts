/**
 * The Job of a due time.
 * Contract: docs/behaviour/controllers/cronjob-controller.md, Sync, steps 15 and 17.
 */
import { formatZonedTime, newControllerRef, resources, timeZoneNamed, UTC } from '@gyropilot/api'
import type { CronJob, Job, ObjectReference } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { SCHEDULED_TIMESTAMP } from './config.ts'

/** By the minute in which it is due: whoever makes it, it is made once. */
export function jobName(cronJob: CronJob, scheduledMs: number): string {
  return `${cronJob.metadata?.name}-${Math.floor(scheduledMs / 60_000)}`
}

export function jobFor(cronJob: CronJob, scheduledMs: number): Job {
  const { metadata: template, spec } = cronJob.spec?.jobTemplate ?? {}
  const zone = timeZoneNamed(cronJob.spec?.timeZone ?? '') ?? UTC
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName(cronJob, scheduledMs),
      namespace: cronJob.metadata?.namespace,
      creationTimestamp: formatTime(scheduledMs),
      ...(template?.labels && { labels: template.labels }),
      annotations: {
        ...template?.annotations,
        [SCHEDULED_TIMESTAMP]: formatZonedTime(scheduledMs, zone),
      },
      ownerReferences: [newControllerRef(cronJob, resources.cronjobs)],
    },
    spec,
  } as Job
}

export function referenceTo({ metadata }: Job): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata ?? {}
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion }
}

/** Smallest valid objects for tests of the Job controller. */
import { newControllerRef, resources } from '@gyropilot/api'
import type { Job, JobCondition, JobSpec, JobStatus, ObjectMeta, Pod } from '@gyropilot/api'
import { silentMetrics } from '@gyropilot/foundation'
import type { Reconcile } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions, Driven } from '@gyropilot/runtime/testing'
import { NOW_MS, secondsAgo } from '../workload-support/fixtures.ts'
import { COMPLETION_INDEX, INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT } from './events.ts'
import { TRACKING_FINALIZER } from '../workload-support/job-tracking.ts'
import type { ObservedGang } from './gangs/gang-objects.ts'
import { JobMemory } from './memory.ts'
import { JobMetrics } from './metrics.ts'
import type { ObservedJob } from './observe.ts'
import { reconcile } from './reconcile.ts'
import type { JobSettings } from './reconcile.ts'

const LABELS = { job: 'work' }

export interface JobOptions {
  readonly spec?: Partial<JobSpec>
  readonly status?: JobStatus
  readonly metadata?: Partial<ObjectMeta>
}

/** Not indexed, as many completions as it is given; started a minute ago unless the status says otherwise. */
export function job({ spec, status, metadata }: JobOptions = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'work',
      namespace: 'ns',
      uid: 'work-uid',
      generation: 1,
      resourceVersion: '10',
      ...metadata,
    },
    spec: {
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:1' }] },
      },
      ...spec,
    },
    status: status ?? {
      startTime: secondsAgo(60),
      uncountedTerminatedPods: {},
      ready: 0,
      terminating: 0,
    },
  }
}

export function indexedJob({ spec, ...options }: JobOptions = {}): Job {
  return job({
    ...options,
    spec: { completionMode: 'Indexed', completions: 3, parallelism: 3, ...spec },
  })
}

interface JobPodOptions {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  readonly index?: number | string
  readonly failures?: number
  readonly ignoredFailures?: number
  /** Default true. */
  readonly tracked?: boolean
  readonly deleting?: boolean
  readonly ready?: boolean
  /** Default 60. */
  readonly finishedSecondsAgo?: number
  readonly exitCode?: number
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  readonly metadata?: Partial<ObjectMeta>
  readonly restarts?: number
}

/** A pod of the Job `work`, running on a node. */
export function jobPod(name: string, options: JobPodOptions = {}): Pod {
  const { phase = 'Running', tracked = true, deleting, ready, exitCode } = options
  const conditions = [
    ...(options.conditions ?? []),
    ...(ready ? [{ type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(30) }] : []),
  ]
  const hasEnded = phase === 'Succeeded' || phase === 'Failed'
  const terminated = {
    exitCode: exitCode ?? (phase === 'Failed' ? 1 : 0),
    finishedAt: secondsAgo(options.finishedSecondsAgo ?? 60),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `${name}-uid`,
      resourceVersion: '20',
      creationTimestamp: secondsAgo(120),
      labels: LABELS,
      annotations: annotationsOf(options),
      ownerReferences: [newControllerRef(job(), resources.jobs)],
      ...(tracked ? { finalizers: [TRACKING_FINALIZER] } : {}),
      ...(deleting ? { deletionTimestamp: secondsAgo(-30), deletionGracePeriodSeconds: 30 } : {}),
      ...options.metadata,
    },
    spec: { nodeName: 'node-a', containers: [{ name: 'c', image: 'img:1' }] },
    status: {
      phase,
      ...(conditions.length > 0 ? { conditions } : {}),
      containerStatuses: [
        {
          name: 'c',
          image: 'img:1',
          imageID: 'i',
          ready: ready === true,
          restartCount: options.restarts ?? 0,
          state: hasEnded ? { terminated } : { running: {} },
        },
      ],
    },
  }
}

function annotationsOf({ index, failures, ignoredFailures }: JobPodOptions) {
  return {
    ...(index === undefined ? {} : { [COMPLETION_INDEX]: `${index}` }),
    ...(failures === undefined ? {} : { [INDEX_FAILURE_COUNT]: `${failures}` }),
    ...(ignoredFailures === undefined
      ? {}
      : { [INDEX_IGNORED_FAILURE_COUNT]: `${ignoredFailures}` }),
  }
}

/** So many of them, named in their order. */
export function jobPods(count: number, options: JobPodOptions = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, number) =>
    jobPod(`p${String(number).padStart(3, '0')}`, options),
  )
}

/** Two indexes, each of which may fail once. */
export function perIndexJob(spec: Partial<JobSpec> = {}, status: JobStatus = {}): Job {
  return indexedJob({
    spec: {
      completions: 2,
      parallelism: 2,
      backoffLimit: 2147483647,
      backoffLimitPerIndex: 1,
      ...spec,
    },
    status: { startTime: secondsAgo(0), ready: 0, terminating: 0, ...status },
  })
}

/** Exit code 2 fails the index, 3 is ignored. */
export const INDEX_RULES = {
  podFailurePolicy: {
    rules: [
      { action: 'FailIndex', onExitCodes: { operator: 'In', values: [2] } },
      { action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } },
    ],
  },
} as const

/** As one is written now. */
export function conditionOf(type: string, reason: string, message: string): JobCondition {
  const now = secondsAgo(0)
  return { type, status: 'True', reason, message, lastProbeTime: now, lastTransitionTime: now }
}

interface SyncOptions extends DriveOptions {
  readonly expectationsMet?: boolean
  /** Default true. */
  readonly showsFormerReleases?: boolean
  readonly memory?: JobMemory
  readonly gang?: ObservedGang
  readonly settings?: Partial<JobSettings>
}

/** One sync of the Job, against a table of outcomes. */
export function syncOf(
  observed: Job,
  pods: readonly Pod[],
  options: SyncOptions = {},
): Driven<ReturnType<typeof reconcile> extends Reconcile<infer R> ? R : never> {
  const memory = options.memory ?? new JobMemory()
  const key = 'ns/work'
  const uid = observed.metadata?.uid ?? ''
  const input: ObservedJob = {
    key,
    job: observed,
    knownFinished: memory.isFinished(key, uid),
    expectationsMet: options.expectationsMet ?? true,
    pods: () => pods,
    awaitedRemovals: memory.awaitedRemovals(key, uid),
    showsFormerReleases: options.showsFormerReleases ?? true,
    backoff: memory.backoff(key, uid),
    ...(options.gang === undefined ? {} : { gang: options.gang }),
  }
  const settings: JobSettings = {
    memory,
    metrics: new JobMetrics(silentMetrics),
    suspensionClearsStart: true,
    ...options.settings,
  }
  return drive(reconcile(input, settings), { nowMs: NOW_MS, ...options })
}

/** Statuses that were written, in order. */
export function statusesOf({ writes }: Pick<Driven<unknown>, 'writes'>): readonly JobStatus[] {
  return writes.flatMap((write) =>
    write.verb === 'update' && write.subresource === 'status'
      ? [(write.object as Job).status ?? {}]
      : [],
  )
}

/** As the sync left it. */
export function lastStatusOf(synced: Pick<Driven<unknown>, 'writes'>): JobStatus {
  return statusesOf(synced).at(-1) ?? {}
}

/** Of the events, in order. */
export function reasonsOf({ events }: Pick<Driven<unknown>, 'events'>): readonly string[] {
  return events.map(({ reason }) => reason)
}

/** `verb name` of each write of a pod; of creations their index, or nothing. */
export function podWritesOf({ writes }: Pick<Driven<unknown>, 'writes'>): readonly string[] {
  return writes.flatMap((write) => {
    if (write.type.resource !== 'pods') return []
    if (write.verb !== 'create') return [`${write.verb} ${'name' in write ? write.name : ''}`]
    return [`create ${write.object.metadata?.annotations?.[COMPLETION_INDEX] ?? ''}`.trim()]
  })
}

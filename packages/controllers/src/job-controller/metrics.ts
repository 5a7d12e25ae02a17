/**
 * Metrics of the Job controller.
 * Contract: docs/behaviour/controllers/job-controller.md, Metrics.
 */
import { hasFinalizer, isPodFinished } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { EndState } from './end-state.ts'
import { TRACKING_FINALIZER } from '../workload-support/job-tracking.ts'
import { hasBackoffPerIndex } from './job-state.ts'
import type { FailureAction } from './pods/pod-failure-policy.ts'

export const STALE_SYNC_SKIPS = 'job_controller_stale_sync_skips_total'

/** What a sync did about pods. */
export type SyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted'
export type CreationReason = 'new' | 'recreate_terminating_or_failed' | 'recreate_failed'

const PREFIX = 'job_controller_'
/** 4 ms, doubled 14 times. */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.004 * 2 ** power)

export class JobMetrics {
  readonly #instruments: ReturnType<typeof instruments>

  constructor(metrics: MetricsRegistry) {
    this.#instruments = instruments(metrics)
  }

  synced(job: Job, action: SyncAction, succeeded: boolean, durationMs: number): void {
    const labels = {
      completion_mode: modeOf(job),
      result: succeeded ? 'success' : 'error',
      action,
    }
    this.#instruments.duration.observe(durationMs / 1000, labels)
    this.#instruments.syncs.increment(labels)
  }

  finished(job: Job, { succeeded, reason }: EndState): void {
    const result = succeeded ? 'succeeded' : 'failed'
    this.#instruments.jobs.increment({ completion_mode: modeOf(job), result, reason })
  }

  /** With every status: series are there before anything is counted. An index that is dropped takes no count back. */
  podsCounted(job: Job, succeeded: number, failed: number): void {
    const completion_mode = modeOf(job)
    const { pods } = this.#instruments
    pods.increment({ completion_mode, result: 'succeeded' }, Math.max(0, succeeded))
    pods.increment({ completion_mode, result: 'failed' }, Math.max(0, failed))
  }

  indexesCounted(job: Job, succeeded: number, failed: number): void {
    if (modeOf(job) !== 'Indexed') return
    const backoffLimit = hasBackoffPerIndex(job) ? 'perIndex' : 'global'
    const { indexes } = this.#instruments
    indexes.increment({ status: 'succeeded', backoffLimit }, Math.max(0, succeeded))
    if (failed > 0) indexes.increment({ status: 'failed', backoffLimit }, failed)
  }

  failureHandled(action: FailureAction): void {
    this.#instruments.policy.increment({ action })
  }

  created(reason: CreationReason, succeeded: boolean): void {
    this.#instruments.creations.increment({ reason, status: succeeded ? 'succeeded' : 'failed' })
  }

  /** A finished pod got the finalizer, or lost it; undefined: there was, or is, no pod. */
  podSeen(previous: Pod | undefined, current: Pod | undefined): void {
    const was = isHeldFinished(previous)
    const is = isHeldFinished(current)
    if (was !== is) this.#instruments.tracking.increment({ event: is ? 'add' : 'delete' })
  }

  managedElsewhere(controller: string): void {
    this.#instruments.external.increment({ controller_name: controller })
  }
}

function isHeldFinished(pod: Pod | undefined): boolean {
  return pod !== undefined && isPodFinished(pod) && hasFinalizer(pod, TRACKING_FINALIZER)
}

function modeOf({ spec }: Job): string {
  return spec?.completionMode ?? 'NonIndexed'
}

/** The help texts are upstream's, with the tabs of its source. */
function instruments(metrics: MetricsRegistry) {
  const syncLabels = ['completion_mode', 'result', 'action']
  return {
    duration: metrics.histogram({
      name: `${PREFIX}job_sync_duration_seconds`,
      help: 'The time it took to sync a job',
      labels: syncLabels,
      buckets: SYNC_BUCKETS,
      stability: 'STABLE',
    }),
    syncs: metrics.counter({
      name: `${PREFIX}job_syncs_total`,
      help: 'The number of job syncs',
      labels: syncLabels,
      stability: 'STABLE',
    }),
    jobs: metrics.counter({
      name: `${PREFIX}jobs_finished_total`,
      help: 'The number of finished jobs',
      labels: ['completion_mode', 'result', 'reason'],
      stability: 'STABLE',
    }),
    pods: metrics.counter({
      name: `${PREFIX}job_pods_finished_total`,
      help: 'The number of finished Pods that are fully tracked',
      labels: ['completion_mode', 'result'],
      stability: 'STABLE',
    }),
    indexes: metrics.counter({
      name: `${PREFIX}job_finished_indexes_total`,
      help: 'The number of finished indexes. Possible values for the\n\t\t\tstatus label are: "succeeded", "failed". Possible values for the\n\t\t\tbackoffLimit label are: "perIndex" and "global"',
      labels: ['status', 'backoffLimit'],
    }),
    policy: metrics.counter({
      name: `${PREFIX}pod_failures_handled_by_failure_policy_total`,
      help: 'The number of failed Pods handled by failure policy with\n\t\t\trespect to the failure policy action applied based on the matched\n\t\t\trule. Possible values of the action label correspond to the\n\t\t\tpossible values for the failure policy rule action, which are:\n\t\t\t"FailJob", "Ignore" and "Count".',
      labels: ['action'],
      stability: 'BETA',
    }),
    tracking: metrics.counter({
      name: `${PREFIX}terminated_pods_tracking_finalizer_total`,
      help: 'The number of terminated pods (phase=Failed|Succeeded)\nthat have the finalizer batch.kubernetes.io/job-tracking\nThe event label can be "add" or "delete".',
      labels: ['event'],
      stability: 'BETA',
    }),
    creations: metrics.counter({
      name: `${PREFIX}job_pods_creation_total`,
      help: 'The number of Pods created by the Job controller labelled with a reason for the Pod creation.\nThis metric also distinguishes between Pods created using different PodReplacementPolicy settings.\nPossible values of the "reason" label are:\n"new", "recreate_terminating_or_failed", "recreate_failed".\nPossible values of the "status" label are:\n"succeeded", "failed".',
      labels: ['reason', 'status'],
    }),
    external: metrics.counter({
      name: `${PREFIX}jobs_by_external_controller_total`,
      help: 'The number of Jobs managed by an external controller',
      labels: ['controller_name'],
    }),
  }
}

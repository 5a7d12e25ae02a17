/**
 * Which PodGroup the pods of a Job belong to; before the first pod it is made.
 * Contract: docs/behaviour/controllers/job-controller.md, Gang scheduling.
 */
import { POD_GROUPS, controllerOf, isControlledBy, isTerminating, resources } from '@gyropilot/api'
import type { Job, Pod, Workload } from '@gyropilot/api'
import { create, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { WORKLOADS, podGroupFor, workloadFor } from './gang-objects.ts'
import type { ObservedGang } from './gang-objects.ts'

export interface SchedulingGroup {
  /** Absent: pods are scheduled one by one. */
  readonly name?: string
  readonly error?: unknown
}

const ONE_BY_ONE: SchedulingGroup = {}

/** `gang`: absent with the gate off. `pods`: those of the Job, ended ones too. */
export function* schedulingGroup(
  job: Job,
  pods: readonly Pod[],
  gang: ObservedGang | undefined,
): Reconcile<SchedulingGroup> {
  if (gang === undefined || isTerminating(job) || !isGang(job)) return ONE_BY_ONE
  const workloads = gang.workloads.filter((workload) => !isOfNamesake(workload, job))
  // Whose is meant nobody can say.
  if (workloads.length > 1) return ONE_BY_ONE
  const [workload] = workloads
  const mayCreate = !hasBegun(job, pods)
  if (workload === undefined) return mayCreate ? yield* makeBoth(job) : ONE_BY_ONE
  // Somebody else's: what is made of it is theirs to make.
  if (!isControlledBy(workload, job)) return ONE_BY_ONE
  const [podGroup, ...others] = gang.podGroupsOf(workload)
  if (others.length > 0) return ONE_BY_ONE
  if (podGroup === undefined) return mayCreate ? yield* makePodGroup(job, workload) : ONE_BY_ONE
  if (!isControlledBy(podGroup, job)) return ONE_BY_ONE
  return { name: podGroup.metadata?.name ?? '' }
}

/** Of a Job that had the name before, and is gone: its Workload goes too, but later. */
function isOfNamesake(workload: Workload, { metadata }: Job): boolean {
  const owner = controllerOf(workload)
  return (
    owner?.kind === resources.jobs.kind &&
    owner.name === metadata?.name &&
    owner.uid !== metadata?.uid
  )
}

/** All indexes run at once, and the template has no group of its own. */
function isGang({ spec }: Job): boolean {
  const parallelism = spec?.parallelism ?? 1
  return (
    spec?.completionMode === 'Indexed' &&
    parallelism > 1 &&
    spec.completions === parallelism &&
    spec.template?.spec?.schedulingGroup === undefined
  )
}

/** A group that comes after pods could never be complete. */
function hasBegun({ status }: Job, pods: readonly Pod[]): boolean {
  return (
    pods.length > 0 ||
    status?.startTime !== undefined ||
    (status?.succeeded ?? 0) > 0 ||
    (status?.failed ?? 0) > 0 ||
    (status?.conditions ?? []).some(({ type }) => type === 'Suspended')
  )
}

function* makeBoth(job: Job): Reconcile<SchedulingGroup> {
  const made = yield* write(create(WORKLOADS, workloadFor(job)))
  if (!made.ok) return { error: made.error }
  const { name } = made.object.metadata ?? {}
  const text = `Created Workload ${name} for Job ${job.metadata?.name}`
  yield* recordEvent(job, 'Normal', 'WorkloadCreated', text)
  return yield* makePodGroup(job, made.object)
}

function* makePodGroup(job: Job, workload: Workload): Reconcile<SchedulingGroup> {
  const [template, ...others] = workload.spec?.podGroupTemplates ?? []
  if (template === undefined || others.length > 0) return ONE_BY_ONE
  const made = yield* write(create(POD_GROUPS, podGroupFor(job, workload, template)))
  return made.ok ? { name: made.object.metadata?.name ?? '' } : { error: made.error }
}

/**
 * What a failed pod means for its Job, by the Job's rules.
 * Contract: docs/behaviour/controllers/job-controller.md, Status and conditions (podFailurePolicy).
 */
import { isTerminating } from '@gyropilot/api'
import type { ContainerStatus, Job, Pod, PodFailurePolicyRule } from '@gyropilot/api'

export type FailureAction = PodFailurePolicyRule['action']

interface PolicyMatch {
  readonly action: FailureAction
  /** What matched, at which rule: the message of a Job that fails for it. */
  readonly message: string
}

/** Only pods that have ended are replaced; those on their way out are waited for. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined
}

/** A pod on its way out counts as failed at once, unless only failed pods are replaced. */
export function isPodFailed(pod: Pod, job: Job): boolean {
  const phase = pod.status?.phase
  if (phase === 'Failed') return true
  return !replacesOnlyFailed(job) && isTerminating(pod) && phase !== 'Succeeded'
}

/** The first rule that matches a failed pod; undefined: the failure counts as any. */
export function matchFailurePolicy(pod: Pod, job: Job): PolicyMatch | undefined {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const subject = matchExitCodes(pod, rule) ?? matchConditions(pod, rule)
    if (subject !== undefined)
      return {
        action: rule.action,
        message: `${subject} matching ${rule.action} rule at index ${index}`,
      }
  }
  return undefined
}

/** Whether a failed pod is passed over in the count of failures. */
export function isFailureIgnored(pod: Pod, job: Job): boolean {
  return matchFailurePolicy(pod, job)?.action === 'Ignore'
}

function matchExitCodes(pod: Pod, { onExitCodes }: PodFailurePolicyRule): string | undefined {
  if (onExitCodes === undefined) return undefined
  const { containerName, operator, values } = onExitCodes
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  for (const status of [...containerStatuses, ...initContainerStatuses]) {
    if (containerName !== undefined && status.name !== containerName) continue
    const exitCode = failedExitCode(status)
    if (exitCode === undefined || values.includes(exitCode) !== (operator === 'In')) continue
    return `Container ${status.name} for pod ${textOf(pod)} failed with exit code ${exitCode}`
  }
  return undefined
}

function failedExitCode({ state }: ContainerStatus): number | undefined {
  const exitCode = state?.terminated?.exitCode ?? 0
  return exitCode === 0 ? undefined : exitCode
}

function matchConditions(pod: Pod, { onPodConditions }: PodFailurePolicyRule): string | undefined {
  for (const condition of pod.status?.conditions ?? []) {
    const isMeant = onPodConditions?.some(
      ({ type, status = 'True' }) => type === condition.type && status === condition.status,
    )
    if (isMeant) return `Pod ${textOf(pod)} has condition ${condition.type}`
  }
  return undefined
}

function textOf({ metadata }: Pod): string {
  return `${metadata?.namespace}/${metadata?.name}`
}

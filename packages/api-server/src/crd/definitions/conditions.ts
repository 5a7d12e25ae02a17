/** Conditions of definitions. Contract: docs/behaviour/api-server/custom-resources.md, Conditions. */
import { formatTime } from '@gyropilot/foundation'
import type { Draft, Stored } from '../../registry/kind-rules.ts'

export interface Condition {
  readonly type:
    | 'NamesAccepted'
    | 'Established'
    | 'Terminating'
    | 'NonStructuralSchema'
    | 'KubernetesAPIApprovalPolicyConformant'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export function findCondition(definition: Stored, type: Condition['type']): Stored | undefined {
  const conditions: readonly Stored[] = definition['status']?.conditions ?? []
  return conditions.find((condition) => condition['type'] === type)
}

export function isTrue(definition: Stored, type: Condition['type']): boolean {
  return findCondition(definition, type)?.['status'] === 'True'
}

/** Sets a condition in place; its time moves with its status only. */
export function setCondition(status: Draft, condition: Condition, nowMs: number): void {
  const conditions: Draft[] = (status['conditions'] ??= [])
  const index = conditions.findIndex(({ type }) => type === condition.type)
  const { type, status: value, reason, message } = condition
  const before = conditions[index]
  const lastTransitionTime =
    before !== undefined && before['status'] === value
      ? before['lastTransitionTime']
      : formatTime(nowMs)
  const next = { type, status: value, lastTransitionTime, reason, message }
  if (index < 0) conditions.push(next)
  else conditions[index] = next
}

export const ESTABLISHED: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

/** Its webhook could never be reached. */
export const UNREACHABLE: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
}

export const TERMINATION_PENDING: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

export const TERMINATION_IN_PROGRESS: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
}

export function terminationFailed(problem: string): Condition {
  return {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionFailed',
    message: `could not list instances: ${problem}`,
  }
}

export const TERMINATION_COMPLETED: Condition = {
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
}

export const NEVER_ESTABLISHED: Condition = {
  type: 'Terminating',
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
}

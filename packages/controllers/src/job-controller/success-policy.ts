/**
 * When an indexed Job has succeeded before all its indexes have.
 * Contract: docs/behaviour/controllers/job-controller.md, Status and conditions (successPolicy).
 */
import type { Job, SuccessPolicyRule } from '@gyropilot/api'
import { IndexSet } from './index-set.ts'

/** The message of the first rule that is met. */
export function matchSuccessPolicy({ spec }: Job, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined
  const rules = spec?.successPolicy?.rules ?? []
  const met = rules.findIndex((rule) => isMet(rule, succeeded, spec?.completions ?? 0))
  return met < 0 ? undefined : `Matched rules at index ${met}`
}

function isMet(rule: SuccessPolicyRule, succeeded: IndexSet, completions: number): boolean {
  const { succeededCount, succeededIndexes } = rule
  if (succeededIndexes === undefined)
    return succeededCount !== undefined && succeeded.size >= succeededCount
  const wanted = IndexSet.parse(succeededIndexes, completions)
  if (wanted.size === 0) return false
  const overlap = succeeded.overlap(wanted)
  return overlap === wanted.size || (succeededCount !== undefined && overlap >= succeededCount)
}

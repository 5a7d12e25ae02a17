/** What the spec and the conditions of a Job say. Contract: docs/behaviour/controllers/job-controller.md. */
import type { Job } from '@gyropilot/api'
import { BUILT_IN_CONTROLLER } from './events.ts'

/** The controller of spec.managedBy, unless it is this one. */
export function externalController({ spec }: Job): string | undefined {
  const { managedBy } = spec ?? {}
  return managedBy === BUILT_IN_CONTROLLER ? undefined : managedBy
}

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed'
}

/** Each index has failures and waits of its own. */
export function hasBackoffPerIndex({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed' && spec.backoffLimitPerIndex !== undefined
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true
}

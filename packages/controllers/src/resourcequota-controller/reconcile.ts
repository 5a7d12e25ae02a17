/** One quota. Contract: docs/behaviour/controllers/resourcequota-controller.md, Sync. */
import {
  addResources,
  countedNames,
  resources,
  sameResourceLists,
  scopeRequirementsOf,
} from '@gyropilot/api'
import type {
  KubernetesObject,
  Quantity,
  ResourceList,
  ResourceQuota,
  UsageEvaluator,
  UsageFacts,
} from '@gyropilot/api'
import { currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { namespaceUsage } from './namespace-usage.ts'

/** What one evaluator is to count in the quota's namespace. */
export interface Countable {
  readonly evaluator: UsageEvaluator
  /** An error where the cache cannot be trusted. */
  readonly objects: readonly KubernetesObject[] | Error
}

export interface ObservedQuota {
  readonly quota: ResourceQuota
  /** Of the evaluators that count something the quota limits. */
  readonly countables: readonly Countable[]
  readonly facts: Omit<UsageFacts, 'nowMs'>
}

export function* reconcile({ quota, countables, facts }: ObservedQuota): Reconcile {
  const nowMs = yield* currentTimeMs()
  // 2.
  const hard = quota.spec?.hard ?? {}
  const errors: unknown[] = []
  // 3. A part of a sum would let in what the quota refuses.
  const uncounted = new Set<string>()
  let counted: ResourceList = {}
  for (const { evaluator, objects } of countables) {
    const names = countedNames(evaluator, Object.keys(hard))
    try {
      if (objects instanceof Error) throw objects
      const question = {
        names,
        requirements: scopeRequirementsOf(quota),
        facts: { ...facts, nowMs },
      }
      // Two may count under one name, as pods and claims do.
      const usage = yield* namespaceUsage(evaluator, objects, question)
      counted = addResources(counted, usage)
    } catch (error) {
      errors.push(error)
      for (const name of names) uncounted.add(name)
    }
  }
  // 4.
  const used: Record<string, Quantity> = {}
  for (const name of Object.keys(hard)) {
    const before = quota.status?.used?.[name]
    const amount = uncounted.has(name) ? before : (counted[name] ?? before)
    if (amount !== undefined) used[name] = amount
  }
  // 5., 6.
  if (isDirty(quota, used)) {
    const updated: ResourceQuota = { ...quota, status: { hard, used } }
    const written = yield* write(updateStatus(resources.resourcequotas, updated))
    if (!written.ok) errors.push(written.error)
  }
  if (errors.length > 0) return { error: aggregateErrors(errors) }
}

function isDirty({ spec, status }: ResourceQuota, used: ResourceList): boolean {
  if (status?.hard === undefined || status.used === undefined) return true
  return !sameResourceLists(spec?.hard, status.hard) || !sameResourceLists(status.used, used)
}

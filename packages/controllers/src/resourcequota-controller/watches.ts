/** What happened → which quotas are to be counted anew. Contract: docs/behaviour/controllers/resourcequota-controller.md, Watches and keys. */
import { keyOf, sameResourceLists } from '@gyropilot/api'
import type { KubernetesObject, ResourceQuota, UsageEvaluator } from '@gyropilot/api'

/** Quotas that nobody has counted yet go before those that are counted again. */
export type QueueOfQuota = 'priority' | 'primary'

/** `isCounted`: whether some evaluator knows the name. What nobody counts is never missing. */
export function queueOfAdded(
  { spec, status }: ResourceQuota,
  isCounted: (quotaName: string) => boolean,
): QueueOfQuota {
  if (!sameResourceLists(spec?.hard, status?.hard)) return 'priority'
  const missing = Object.keys(status?.hard ?? {}).some(
    (name) => status?.used?.[name] === undefined && isCounted(name),
  )
  return missing ? 'priority' : 'primary'
}

/**
 * Undefined: nothing that matters has changed. Usage is written by this controller, and by the API server, all the time. A namesake, of
 * which a watch with a gap tells as of an update, has no status yet: until it is counted the API server refuses all that it limits.
 */
export function queueOfUpdated(
  previous: ResourceQuota,
  current: ResourceQuota,
  isCounted: (quotaName: string) => boolean,
): QueueOfQuota | undefined {
  const isNamesake = previous.metadata?.uid !== current.metadata?.uid
  if (!isNamesake && sameResourceLists(previous.spec?.hard, current.spec?.hard)) return undefined
  return queueOfAdded(current, isCounted)
}

/** The quotas of the object's namespace that count objects like it. */
export function quotasOfChange(
  evaluator: UsageEvaluator,
  quotasOfNamespace: readonly ResourceQuota[],
): readonly string[] {
  return quotasOfNamespace
    .filter(({ status }) => Object.keys(status?.hard ?? {}).some((name) => evaluator.counts(name)))
    .map(keyOf)
}

/**
 * Additions are the API server's to count; of updates only those matter that may have lowered or moved usage. So may a namesake: the
 * object before it is gone.
 */
export function isCountedAnew(
  evaluator: UsageEvaluator,
  previous: KubernetesObject,
  current: KubernetesObject,
  nowMs: number,
): boolean {
  if (previous.metadata?.uid !== current.metadata?.uid) return true
  return evaluator.changesUsage?.(previous, current, nowMs) ?? false
}

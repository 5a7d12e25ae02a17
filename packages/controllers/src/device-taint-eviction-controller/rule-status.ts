/**
 * What a rule's condition says. Pure.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Status and conditions.
 */
import { isTerminating, keyOf } from '@gyropilot/api'
import type { Condition, DeviceTaintRule, Pod } from '@gyropilot/api'
import { claimEviction, podEviction, resultsOf } from './eviction.ts'
import type { Eviction } from './eviction.ts'
import { selects } from './device-taint-rule.ts'
import type { Evictions } from './evictions.ts'
import { rulesAmong } from './evictions.ts'

export const EVICTION_IN_PROGRESS = 'EvictionInProgress'

/** What is known besides the rule. */
export interface RuleSurroundings {
  readonly evictions: Pick<
    Evictions,
    'claims' | 'pools' | 'pending' | 'evictedFor' | 'podsOf' | 'sharesClaims'
  >
  podNamed(namespace: string | undefined, name: string): Pod | undefined
}

/** Without the time of its last change. */
type RuleCondition = Pick<
  Condition,
  'type' | 'status' | 'reason' | 'message' | 'observedGeneration'
>

export function ruleCondition(rule: DeviceTaintRule, around: RuleSurroundings): RuleCondition {
  const evicted = around.evictions.evictedFor(rule.metadata?.uid ?? '')
  // Also where the rule has another effect by now.
  const suffix =
    evicted === 0 ? [] : [`${counted(evicted, 'pod')} evicted since starting the controller.`]
  const condition = (
    status: 'True' | 'False',
    reason: string,
    ...message: readonly string[]
  ): RuleCondition => ({
    type: EVICTION_IN_PROGRESS,
    status,
    reason,
    message: [...message, ...suffix].join(' '),
    observedGeneration: rule.metadata?.generation,
  })
  const { effect } = rule.spec.taint
  if (effect === 'None') return condition('False', 'NoEffect', wouldBeMessage(rule, around))
  if (effect !== 'NoExecute')
    return condition('False', 'OtherEffect', 'Eviction only happens for the NoExecute effect.')
  const pending = pendingPods(rule, around)
  if (pending.length > 0) {
    const needs = pending.length === 1 ? '1 pod needs' : `${pending.length} pods need`
    const message = `${needs} to be evicted in ${namespacesOf(pending)}.`
    return condition('True', 'PodsPendingEviction', message)
  }
  return condition('False', evicted > 0 ? 'Completed' : 'NotStarted')
}

function pendingPods(
  { metadata }: DeviceTaintRule,
  { evictions, podNamed }: RuleSurroundings,
): readonly Pod[] {
  return [...evictions.pending()].flatMap(({ pod, eviction }) => {
    if (!rulesAmong(eviction).some(({ uid }) => uid === metadata?.uid)) return []
    const cached = podNamed(pod.metadata?.namespace, pod.metadata?.name ?? '')
    const isThere = cached?.metadata?.uid === pod.metadata?.uid
    return cached !== undefined && isThere && !isTerminating(cached) ? [cached] : []
  })
}

/** What the effect NoExecute would do. */
function wouldBeMessage(rule: DeviceTaintRule, around: RuleSurroundings): string {
  const { claims, pools } = around.evictions
  const published = [...pools.devices()].filter((id) => selects(rule, id)).length
  const allocated = [...claims.all()]
    .flatMap(({ claim }) => resultsOf(claim))
    .filter((id) => selects(rule, id)).length
  const pods = wouldBeEvicted(rule, around)
  const would = pods.length === 1 ? '1 pod' : `${pods.length} pods`
  return [
    `${counted(published, 'published device')} selected.`,
    `${counted(allocated, 'allocated device')} selected.`,
    `${would} would be evicted in ${namespacesOf(pods)} if the effect was NoExecute.`,
    'This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
  ].join(' ')
}

function wouldBeEvicted(rule: DeviceTaintRule, { evictions }: RuleSurroundings): readonly Pod[] {
  const sources = { taintsOf: () => [], rules: [rule] }
  const simulated = new Map<string, Eviction>()
  const users = new Map<string, Pod>()
  for (const { claim } of evictions.claims.all()) {
    const eviction = claimEviction(claim, sources)
    if (eviction === undefined) continue
    simulated.set(keyOf(claim), eviction)
    for (const consumer of claim.status?.reservedFor ?? [])
      for (const pod of evictions.podsOf(claim.metadata?.namespace, consumer))
        if (!isTerminating(pod)) users.set(pod.metadata?.uid ?? '', pod)
  }
  return [...users.values()].filter((pod) => {
    const trackedClaim = (name: string) => {
      const key = `${pod.metadata?.namespace}/${name}`
      const claim = evictions.claims.get(key)?.claim
      return claim && { claim, eviction: simulated.get(key) }
    }
    return podEviction(pod, trackedClaim, evictions.sharesClaims) !== undefined
  })
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function namespacesOf(pods: readonly Pod[]): string {
  const { size } = new Set(pods.map(({ metadata }) => metadata?.namespace))
  return size === 1 ? '1 namespace' : `${size} different namespaces`
}

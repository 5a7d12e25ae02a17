/**
 * When a claim's devices, and a pod for its claims, must go, and why. Pure.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Claim eviction and Pod evaluation.
 */
import { isClaimFor, isReservedFor, parseTime, podClaimName } from '@gyropilot/api'
import type {
  DeviceRequestAllocationResult,
  DeviceTaint,
  DeviceTaintRule,
  DeviceToleration,
  Pod,
  ResourceClaim,
} from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { isClaimForGroupOf, isReservedForGroupOf } from './shared-claims.ts'
import type { IndexedTaint } from './device-pools.ts'
import { selects } from './device-taint-rule.ts'
import type { DeviceId } from './device-taint-rule.ts'

/** A taint that is not tolerated for ever. */
type EvictionReason =
  | { readonly rule: string; readonly uid: string }
  | (DeviceId & { readonly taintIndex: number })

export interface Eviction {
  readonly timeMs: number
  /** Sorted, each once. */
  readonly reasons: readonly EvictionReason[]
}

/** Where taints come from. */
export interface TaintSources {
  taintsOf(id: DeviceId): readonly IndexedTaint[]
  /** With effect NoExecute. */
  readonly rules: readonly DeviceTaintRule[]
}

export function resultsOf({ status }: ResourceClaim): readonly DeviceRequestAllocationResult[] {
  return status?.allocation?.devices?.results ?? []
}

export function claimEviction(claim: ResourceClaim, sources: TaintSources): Eviction | undefined {
  const { rules } = sources
  const found: Found[] = []
  for (const { driver, pool, device, tolerations = [] } of resultsOf(claim)) {
    const id = { driver, pool, device }
    const add = (taint: AnyTaint, reason: EvictionReason): void => {
      const timeMs = evictionTimeMs(taint, tolerations)
      if (timeMs !== Infinity) found.push({ timeMs, reason })
    }
    for (const { taint, index } of sources.taintsOf(id)) add(taint, { ...id, taintIndex: index })
    for (const rule of rules) if (selects(rule, id)) add(rule.spec.taint, reasonOf(rule))
  }
  return earliest(found)
}

function reasonOf({ metadata }: DeviceTaintRule): EvictionReason {
  return { rule: metadata?.name ?? '', uid: metadata?.uid ?? '' }
}

/** Undefined: nothing drives the pod away. `sharesClaims`: claims of its PodGroup count as its own. */
export function podEviction(
  pod: Pod,
  trackedClaim: (name: string) => { claim: ResourceClaim; eviction?: Eviction } | undefined,
  sharesClaims: boolean,
): Eviction | undefined {
  // 1.
  if (!pod.spec?.nodeName) return undefined
  // 2.-3.
  const found: Found[] = []
  for (const entry of pod.spec.resourceClaims ?? []) {
    const resolved = podClaimName(pod, entry)
    if (resolved.state !== 'named') continue
    const { claim, eviction } = trackedClaim(resolved.name) ?? {}
    if (claim === undefined || eviction === undefined) continue
    const isItsOwn = isClaimFor(claim, pod) || (sharesClaims && isClaimForGroupOf(claim, pod))
    if (resolved.isGenerated && !isItsOwn) continue
    if (!isReservedFor(claim, pod) && !(sharesClaims && isReservedForGroupOf(claim, pod))) continue
    for (const reason of eviction.reasons) found.push({ timeMs: eviction.timeMs, reason })
  }
  return earliest(found)
}

type AnyTaint = Omit<DeviceTaint, 'effect'>
/** Undefined time: it does not evict by itself. */
type Found = { readonly timeMs: number | undefined; readonly reason: EvictionReason }

/** Infinity: tolerated for ever. Undefined: nobody knows since when it is there. */
function evictionTimeMs(
  taint: AnyTaint,
  tolerations: readonly DeviceToleration[],
): number | undefined {
  const matching = tolerations.filter((toleration) => matches(toleration, taint))
  if (matching.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return Infinity
  const baseMs = taint.timeAdded === undefined ? undefined : parseTime(taint.timeAdded)
  if (baseMs === undefined || matching.length === 0) return baseMs
  const seconds = matching.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))
  return baseMs + Math.min(...seconds) * 1000
}

/** Unlike tolerations of nodes' taints: an absent effect is not every effect. */
function matches({ effect, key, operator, value }: DeviceToleration, taint: AnyTaint): boolean {
  if (effect !== 'NoExecute' || (key !== undefined && key !== '' && key !== taint.key)) return false
  if (operator === 'Exists') return true
  return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '')
}

function earliest(found: readonly Found[]): Eviction | undefined {
  const times = found.flatMap(({ timeMs }) => (timeMs === undefined ? [] : [timeMs]))
  if (times.length === 0) return undefined
  const reasons = found.map(({ reason }) => reason).sort(compareReasons)
  return {
    timeMs: Math.min(...times),
    reasons: reasons.filter((each, at) => at === 0 || compareReasons(each, reasons[at - 1]!) !== 0),
  }
}

function compareReasons(a: EvictionReason, b: EvictionReason): number {
  if ('rule' in a) return 'rule' in b ? compareStrings(a.rule, b.rule) : -1
  if ('rule' in b) return 1
  return (
    compareStrings(a.driver, b.driver) ||
    compareStrings(a.pool, b.pool) ||
    compareStrings(a.device, b.device) ||
    a.taintIndex - b.taintIndex
  )
}

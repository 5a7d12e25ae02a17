/**
 * What must go and when, kept up to date by events. Nothing here calls the API: a slow server must not hold events back.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Watches and keys.
 */
import { deepEqual, keyOf } from '@gyropilot/api'
import type {
  DeviceTaintRule,
  Pod,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceSlice,
} from '@gyropilot/api'
import { LruCache } from '@gyropilot/runtime'
import type { EventRecord, Lister, QueueKey } from '@gyropilot/runtime'
import { EVICTED_PODS_MAX, RULE_STATUS_PERIOD_MS } from './config.ts'
import { DevicePools } from './device-pools.ts'
import type { DeviceId } from './device-taint-rule.ts'
import { CANCELLING, evictionEvent } from './events.ts'
import { podEviction } from './eviction.ts'
import type { Eviction, TaintSources } from './eviction.ts'
import { podItemKey, ruleItemKey } from './keys.ts'
import { podsOfConsumer } from './shared-claims.ts'
import { TrackedClaims } from './tracked-claims.ts'

interface EvictionsOptions {
  readonly pods: Lister<Pod>
  /** PodGroups share their claims with their pods. */
  readonly sharesClaims: boolean
  readonly nowMs: () => number
  readonly record: (event: EventRecord) => void
}

export class Evictions implements TaintSources {
  readonly pools = new DevicePools()
  readonly claims = new TrackedClaims()
  readonly #options: EvictionsOptions
  /** By name. */
  readonly #rules = new Map<string, DeviceTaintRule>()
  /** By the key of the pod's item. */
  readonly #pending = new Map<string, { readonly pod: Pod; readonly eviction: Eviction }>()
  readonly #evicted = new LruCache<true>(EVICTED_PODS_MAX)
  /** Pods that were evicted for a rule since the start, by the rule's uid. */
  readonly #evictedFor = new Map<string, number>()

  constructor(options: EvictionsOptions) {
    this.#options = options
  }

  taintsOf(id: DeviceId) {
    return this.pools.taintsOf(id)
  }

  get sharesClaims(): boolean {
    return this.#options.sharesClaims
  }

  /** The cached pods behind an entry of `status.reservedFor`. */
  podsOf(namespace: string | undefined, consumer: ResourceClaimConsumerReference): readonly Pod[] {
    return podsOfConsumer(this.#options, namespace, consumer)
  }

  get rules(): readonly DeviceTaintRule[] {
    return [...this.#rules.values()].filter(({ spec }) => spec.taint.effect === 'NoExecute')
  }

  pendingAt(itemKey: string): Eviction | undefined {
    return this.#pending.get(itemKey)?.eviction
  }

  pending(): Iterable<{ readonly pod: Pod; readonly eviction: Eviction }> {
    return this.#pending.values()
  }

  evictedFor(ruleUid: string): number {
    return this.#evictedFor.get(ruleUid) ?? 0
  }

  isEvicted(podUid: string): boolean {
    return this.#evicted.get(podUid) === true
  }

  /** The pod needs no more work. */
  finished(itemKey: string, podUid: string): void {
    this.#pending.delete(itemKey)
    this.#evicted.set(podUid, true)
  }

  /** Counts a pod that went for these reasons; answers the items of the rules that are to tell of it. */
  count(eviction: Eviction): readonly QueueKey[] {
    for (const { uid } of rulesAmong(eviction)) this.#evictedFor.set(uid, this.evictedFor(uid) + 1)
    return statusItems(eviction)
  }

  claimChanged(
    before: ResourceClaim | undefined,
    after: ResourceClaim | undefined,
  ): readonly QueueKey[] {
    if (before !== undefined && after !== undefined && allocationDiffers(before, after))
      return [...this.claimChanged(before, undefined), ...this.claimChanged(undefined, after)]
    const wasAllocated = before?.status?.allocation !== undefined
    const isAllocated = after?.status?.allocation !== undefined
    if (!wasAllocated && !isAllocated) return []
    if (isAllocated) this.claims.set(after, this)
    else if (before !== undefined) this.claims.delete(keyOf(before))
    const users = before?.status?.reservedFor ?? []
    const usersNow = after?.status?.reservedFor ?? []
    if (wasAllocated && isAllocated && deepEqual(users, usersNow)) return []
    return this.#evaluateUsers((after ?? before)!.metadata?.namespace, [...users, ...usersNow])
  }

  sliceChanged(
    before: ResourceSlice | undefined,
    after: ResourceSlice | undefined,
  ): readonly QueueKey[] {
    const devices = this.pools.replace(before, after)
    return devices.length === 0 ? [] : this.#judgeClaims(devices)
  }

  ruleChanged(
    before: DeviceTaintRule | undefined,
    after: DeviceTaintRule | undefined,
  ): readonly QueueKey[] {
    const isSame = before?.metadata?.uid === after?.metadata?.uid
    if (before !== undefined && !isSame) {
      this.#rules.delete(before.metadata?.name ?? '')
      this.#evictedFor.delete(before.metadata?.uid ?? '')
    }
    if (after !== undefined) this.#rules.set(after.metadata?.name ?? '', after)
    if (isSame && deepEqual(before?.spec, after?.spec)) return []
    const { name = '', uid = '' } = after?.metadata ?? {}
    return [...this.#judgeClaims(), ...(after === undefined ? [] : [ruleItemKey(name, uid)])]
  }

  podChanged(before: Pod | undefined, pod: Pod): readonly QueueKey[] {
    const isOther = before?.metadata?.uid !== pod.metadata?.uid
    if (before !== undefined && isOther) this.podDeleted(before)
    const isSame =
      !isOther &&
      before?.spec?.nodeName === pod.spec?.nodeName &&
      deepEqual(before?.status?.resourceClaimStatuses, pod.status?.resourceClaimStatuses)
    return isSame ? [] : this.#evaluate(pod)
  }

  podDeleted(pod: Pod): void {
    this.#pending.delete(podItemKey(pod))
  }

  #judgeClaims(devices?: readonly DeviceId[]): readonly QueueKey[] {
    return this.claims
      .judge(this, devices)
      .flatMap(({ metadata, status }) =>
        this.#evaluateUsers(metadata?.namespace, status?.reservedFor),
      )
  }

  #evaluateUsers(
    namespace: string | undefined,
    consumers: readonly ResourceClaimConsumerReference[] = [],
  ): readonly QueueKey[] {
    const byUid = new Map(consumers.map((consumer) => [consumer.uid, consumer]))
    return [...byUid.values()]
      .flatMap((consumer) => this.podsOf(namespace, consumer))
      .flatMap((pod) => this.#evaluate(pod))
  }

  #evaluate(pod: Pod): readonly QueueKey[] {
    const { namespace, uid = '' } = pod.metadata ?? {}
    const eviction = podEviction(
      pod,
      (name) => this.claims.get(`${namespace}/${name}`),
      this.#options.sharesClaims,
    )
    // Nearly all pods of nearly all clusters.
    if (eviction === undefined && this.#pending.size === 0) return []
    if (this.isEvicted(uid)) return []
    const key = podItemKey(pod)
    if (eviction === undefined) {
      if (this.#pending.delete(key))
        this.#options.record(evictionEvent(pod.metadata ?? {}, CANCELLING))
      return []
    }
    this.#pending.set(key, { pod, eviction })
    const afterMs = Math.max(0, eviction.timeMs - this.#options.nowMs())
    return [afterMs === 0 ? key : { key, afterMs }, ...statusItems(eviction)]
  }
}

/** Another claim of the name counts too. An allocation is never changed: it was taken away in between, which a watch with a gap does not tell. */
function allocationDiffers(before: ResourceClaim, after: ResourceClaim): boolean {
  return (
    before.metadata?.uid !== after.metadata?.uid ||
    !deepEqual(before.status?.allocation, after.status?.allocation)
  )
}

export function rulesAmong({ reasons }: Eviction): readonly { rule: string; uid: string }[] {
  return reasons.flatMap((reason) => ('rule' in reason ? [reason] : []))
}

/** Not at once: more of the kind are likely to follow. */
function statusItems(eviction: Eviction): readonly QueueKey[] {
  return rulesAmong(eviction).map(({ rule, uid }) => ({
    key: ruleItemKey(rule, uid),
    afterMs: RULE_STATUS_PERIOD_MS,
  }))
}

/**
 * Claims that this process made and the cache has not shown yet, so that nobody gets a second one meanwhile.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Sync, pod key, step 2.
 */
import { isClaimFor, keyOf } from '@gyropilot/api'
import type { ClaimUser, ResourceClaim } from '@gyropilot/api'
import { OWN_CREATES_MS, POD_CLAIM_ANNOTATION } from './config.ts'

interface Created {
  readonly claim: ResourceClaim
  readonly userUid: string
  readonly untilMs: number
}

export class OwnCreates {
  /** By `namespace/name`, in the order of their ends. */
  readonly #created = new Map<string, Created>()
  /** By the uid of a pod or PodGroup: the keys of its claims. */
  readonly #keys = new Map<string, Set<string>>()
  /** By the uid of a pod or PodGroup, entries whose create had no answer: the server may have done it. */
  readonly #unanswered = new Map<string, Set<string>>()

  remember(claim: ResourceClaim, user: ClaimUser, nowMs: number): void {
    for (const [key, { untilMs }] of this.#created) {
      if (untilMs > nowMs) break
      this.forget(key)
    }
    const key = keyOf(claim)
    const userUid = user.metadata?.uid ?? ''
    this.#created.set(key, { claim, userUid, untilMs: nowMs + OWN_CREATES_MS })
    const keys = this.#keys.get(userUid) ?? new Set()
    this.#keys.set(userUid, keys.add(key))
  }

  /** The cache speaks for itself from now on; or the claim turned out to be gone. */
  forget(claimKey: string): void {
    const created = this.#created.get(claimKey)
    if (created === undefined) return
    this.#created.delete(claimKey)
    const keys = this.#keys.get(created.userUid)
    keys?.delete(claimKey)
    if (keys?.size === 0) this.#keys.delete(created.userUid)
  }

  find(user: ClaimUser, entry: string, nowMs: number): ResourceClaim | undefined {
    for (const key of this.#keys.get(user.metadata?.uid ?? '') ?? []) {
      const created = this.#created.get(key)
      if (created === undefined || created.untilMs <= nowMs) continue
      if (isMadeFor(created.claim, user, entry)) return created.claim
    }
    return undefined
  }

  /** A create had no answer: the next look is not at the cache. */
  doubt(userUid: string, entry: string): void {
    const entries = this.#unanswered.get(userUid) ?? new Set()
    this.#unanswered.set(userUid, entries.add(entry))
  }

  isDoubted(userUid: string, entry: string): boolean {
    return this.#unanswered.get(userUid)?.has(entry) === true
  }

  resolveDoubt(userUid: string, entry: string): void {
    const entries = this.#unanswered.get(userUid)
    entries?.delete(entry)
    if (entries?.size === 0) this.#unanswered.delete(userUid)
  }

  userGone(userUid: string): void {
    this.#unanswered.delete(userUid)
    for (const key of this.#keys.get(userUid) ?? []) this.forget(key)
  }
}

/** For this entry of this pod or PodGroup, by the annotation. */
export function isMadeFor(claim: ResourceClaim, user: ClaimUser, entry: string): boolean {
  return isClaimFor(claim, user) && claim.metadata?.annotations?.[POD_CLAIM_ANNOTATION] === entry
}

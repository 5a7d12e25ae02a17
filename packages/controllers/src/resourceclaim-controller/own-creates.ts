/**
 * Claims that this process made and the cache has not shown yet, so that no pod gets a second one meanwhile.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Sync, pod key, step 2.
 */
import { isClaimFor, keyOf } from '@gyropilot/api'
import type { Pod, ResourceClaim } from '@gyropilot/api'
import { OWN_CREATES_MS, POD_CLAIM_ANNOTATION } from './config.ts'

interface Created {
  readonly claim: ResourceClaim
  readonly untilMs: number
}

export class OwnCreates {
  /** By `namespace/name`, in the order of their ends. */
  readonly #created = new Map<string, Created>()
  /** By pod, entries whose create had no answer: the server may have done it. */
  readonly #unanswered = new Map<string, Set<string>>()

  remember(claim: ResourceClaim, nowMs: number): void {
    for (const [key, { untilMs }] of this.#created) {
      if (untilMs > nowMs) break
      this.#created.delete(key)
    }
    this.#created.set(keyOf(claim), { claim, untilMs: nowMs + OWN_CREATES_MS })
  }

  /** The cache speaks for itself from now on; or the claim turned out to be gone. */
  forget(claimKey: string): void {
    this.#created.delete(claimKey)
  }

  find(pod: Pod, entry: string, nowMs: number): ResourceClaim | undefined {
    for (const { claim, untilMs } of this.#created.values())
      if (untilMs > nowMs && isMadeFor(claim, pod, entry)) return claim
    return undefined
  }

  /** A create had no answer: the next look is not at the cache. */
  doubt(podUid: string, entry: string): void {
    const entries = this.#unanswered.get(podUid) ?? new Set()
    this.#unanswered.set(podUid, entries.add(entry))
  }

  isDoubted(podUid: string, entry: string): boolean {
    return this.#unanswered.get(podUid)?.has(entry) === true
  }

  resolveDoubt(podUid: string, entry: string): void {
    const entries = this.#unanswered.get(podUid)
    entries?.delete(entry)
    if (entries?.size === 0) this.#unanswered.delete(podUid)
  }

  podGone(podUid: string): void {
    this.#unanswered.delete(podUid)
  }
}

/** For this entry of this pod, by the annotation. */
export function isMadeFor(claim: ResourceClaim, pod: Pod, entry: string): boolean {
  return isClaimFor(claim, pod) && claim.metadata?.annotations?.[POD_CLAIM_ANNOTATION] === entry
}

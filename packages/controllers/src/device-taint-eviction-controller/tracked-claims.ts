/**
 * Allocated claims with what evicts their devices, found by device.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Model.
 */
import { deepEqual, keyOf } from '@gyropilot/api'
import type { ResourceClaim } from '@gyropilot/api'
import { poolKey } from './device-pools.ts'
import type { DeviceId } from './device-taint-rule.ts'
import { claimEviction, resultsOf } from './eviction.ts'
import type { Eviction, TaintSources } from './eviction.ts'

interface TrackedClaim {
  /** As it was seen last. */
  readonly claim: ResourceClaim
  /** As of its allocation: what is allocated does not change while it is. */
  readonly eviction?: Eviction
}

export class TrackedClaims {
  readonly #claims = new Map<string, TrackedClaim>()
  /** Keys of claims by their devices. */
  readonly #byDevice = new Map<string, Set<string>>()

  get(key: string): TrackedClaim | undefined {
    return this.#claims.get(key)
  }

  all(): Iterable<TrackedClaim> {
    return this.#claims.values()
  }

  /** With an eviction made anew where it was not tracked before; one that is keeps it. */
  set(claim: ResourceClaim, sources: TaintSources): void {
    const key = keyOf(claim)
    const known = this.#claims.get(key)
    if (known !== undefined) this.#unindex(known.claim)
    const eviction = known === undefined ? claimEviction(claim, sources) : known.eviction
    this.#claims.set(key, { claim, eviction })
    for (const device of resultsOf(claim)) {
      const id = deviceKey(device)
      const keys = this.#byDevice.get(id) ?? new Set()
      this.#byDevice.set(id, keys.add(key))
    }
  }

  delete(key: string): void {
    const known = this.#claims.get(key)
    if (known === undefined) return
    this.#claims.delete(key)
    this.#unindex(known.claim)
  }

  /** Judges claims with these devices anew, all claims without them; answers those that are judged differently. */
  judge(sources: TaintSources, devices?: readonly DeviceId[]): readonly ResourceClaim[] {
    const keys =
      devices === undefined
        ? this.#claims.keys()
        : new Set(devices.flatMap((device) => [...(this.#byDevice.get(deviceKey(device)) ?? [])]))
    const changed: ResourceClaim[] = []
    for (const key of keys) {
      const { claim, eviction: before } = this.#claims.get(key)!
      const eviction = claimEviction(claim, sources)
      if (deepEqual(before, eviction)) continue
      this.#claims.set(key, { claim, eviction })
      changed.push(claim)
    }
    return changed
  }

  #unindex(claim: ResourceClaim): void {
    for (const device of resultsOf(claim)) {
      const id = deviceKey(device)
      const keys = this.#byDevice.get(id)
      keys?.delete(keyOf(claim))
      if (keys?.size === 0) this.#byDevice.delete(id)
    }
  }
}

function deviceKey(id: DeviceId): string {
  return `${poolKey(id)}/${id.device}`
}

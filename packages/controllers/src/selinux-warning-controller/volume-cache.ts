/**
 * Which pods would mount which volume with which label, and what of it conflicts.
 * Contract: docs/behaviour/controllers/selinux-warning-controller.md, Sync, Compare. State only: no effects.
 */
import { byString } from '@gyropilot/foundation'
import { labelsConflict } from './labels.ts'

type Property = 'SELinuxLabel' | 'SELinuxChangePolicy'

/** How a pod would mount a volume. */
export interface VolumeUse {
  readonly label: string
  /** `MountOption` or `Recursive`. */
  readonly changePolicy: string
  /** Of CSI volumes. */
  readonly driver?: string
}

/** One direction of it: what the pod says, and what another says. */
export interface Conflict {
  readonly property: Property
  /** `namespace/name`, as all pods here. */
  readonly pod: string
  readonly value: string
  readonly otherPod: string
  readonly otherValue: string
}

export class VolumeCache {
  /** By unique volume name, and by pod. Of conflicts, as many as pairs of pods, nothing is kept. */
  readonly #volumes = new Map<string, Map<string, VolumeUse>>()
  readonly #ofPod = new Map<string, Set<string>>()
  readonly #uids = new Map<string, string | undefined>()

  /** From now on the name is this pod's: what another one of the name mounted is forgotten. */
  admit(pod: string, uid: string | undefined): void {
    if (this.#uids.get(pod) === uid) return
    this.forget(pod)
    this.#uids.set(pod, uid)
  }

  /** Answers the conflicts of a use that is new or has changed, both directions of each after each other. */
  add(volumeName: string, pod: string, use: VolumeUse): readonly Conflict[] {
    const uses = this.#volumes.get(volumeName) ?? new Map<string, VolumeUse>()
    const known = uses.get(pod)
    if (known !== undefined && isSameUse(known, use)) return []
    this.#volumes.set(volumeName, uses)
    this.#ofPod.set(pod, (this.#ofPod.get(pod) ?? new Set()).add(volumeName))
    uses.set(pod, use)
    return [...uses]
      .filter(([other, otherUse]) => other !== pod && !isCompatible(use, otherUse))
      .toSorted(byString(([other]) => other))
      .flatMap(([other, otherUse]) => conflictsOf(pod, use, other, otherUse))
  }

  forget(pod: string): void {
    for (const volumeName of this.#ofPod.get(pod) ?? []) {
      const uses = this.#volumes.get(volumeName)!
      uses.delete(pod)
      if (uses.size === 0) this.#volumes.delete(volumeName)
    }
    this.#ofPod.delete(pod)
    this.#uids.delete(pod)
  }

  /** Each pod once. */
  podsOfDriver(driver: string): readonly string[] {
    const found = new Set<string>()
    for (const uses of this.#volumes.values())
      for (const [pod, use] of uses) if (use.driver === driver) found.add(pod)
    return [...found]
  }

  /** All of now, both directions of each after each other: found anew, pair by pair. */
  *conflicts(): Generator<Conflict, void> {
    for (const uses of this.#volumes.values()) {
      const earlier: [string, VolumeUse][] = []
      for (const [pod, use] of uses) {
        for (const [other, otherUse] of earlier)
          if (!isCompatible(use, otherUse)) yield* conflictsOf(pod, use, other, otherUse)
        earlier.push([pod, use])
      }
    }
  }

  uses(volumeName: string): ReadonlyMap<string, VolumeUse> {
    return this.#volumes.get(volumeName) ?? new Map()
  }
}

function isSameUse(one: VolumeUse, other: VolumeUse): boolean {
  return one.label === other.label && one.changePolicy === other.changePolicy
}

function isCompatible(one: VolumeUse, other: VolumeUse): boolean {
  return one.changePolicy === other.changePolicy && !labelsConflict(one.label, other.label)
}

function conflictsOf(
  pod: string,
  use: VolumeUse,
  otherPod: string,
  other: VolumeUse,
): readonly Conflict[] {
  const both = (property: Property, value: string, otherValue: string): readonly Conflict[] => [
    { property, pod, value, otherPod, otherValue },
    { property, pod: otherPod, value: otherValue, otherPod: pod, otherValue: value },
  ]
  const found: Conflict[] = []
  if (use.changePolicy !== other.changePolicy)
    found.push(...both('SELinuxChangePolicy', use.changePolicy, other.changePolicy))
  if (labelsConflict(use.label, other.label))
    found.push(...both('SELinuxLabel', use.label, other.label))
  return found
}

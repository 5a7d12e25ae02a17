/** Which pods are of which PodGroup: those with a node, and those that are still to get one. State alone. */
import { podGroupKeyOf } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'

const NOBODY: ReadonlySet<string> = new Set()

export class GroupMembers {
  /** By the key of the group, uids. */
  readonly #members = new Map<string, Set<string>>()
  readonly #groupOf = new Map<string, string>()

  /** False: it was a member before, or is of no group. A pod never changes its group. */
  add(pod: Pod): boolean {
    const uid = pod.metadata?.uid ?? ''
    const key = podGroupKeyOf(pod)
    if (key === undefined || this.#groupOf.has(uid)) return false
    this.#groupOf.set(uid, key)
    const own = this.#members.get(key) ?? new Set<string>()
    this.#members.set(key, own.add(uid))
    return true
  }

  drop(uid: string): void {
    const key = this.#groupOf.get(uid)
    if (key === undefined) return
    this.#groupOf.delete(uid)
    const own = this.#members.get(key)
    own?.delete(uid)
    if (own?.size === 0) this.#members.delete(key)
  }

  /** Uids. */
  of(key: string): ReadonlySet<string> {
    return this.#members.get(key) ?? NOBODY
  }
}

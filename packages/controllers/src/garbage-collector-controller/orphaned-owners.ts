import { parseTime } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'

/**
 * Owners that were released after their dependents were set free, the last ones. A dependent that no informer had shown by
 * then and that nobody found still names such an owner, and is to be set free too instead of being deleted.
 */
export class OrphanedOwners {
  readonly #max: number
  /** By uid, oldest first: when the deletion was asked for, in milliseconds by the server's clock. */
  readonly #deletionTimes = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** To be called before the owner can be gone. */
  add({ metadata }: KubernetesObject): void {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata ?? {}
    const endMs = parseTime(deletionTimestamp)
    if (uid === undefined || endMs === undefined) return
    this.#deletionTimes.delete(uid)
    // The server writes when the grace ends.
    this.#deletionTimes.set(uid, endMs - Number(deletionGracePeriodSeconds) * 1000)
    if (this.#deletionTimes.size <= this.#max) return
    for (const oldest of this.#deletionTimes.keys()) {
      this.#deletionTimes.delete(oldest)
      return
    }
  }

  /** Whether the object was there when its owner's deletion was asked for. Both times are the server's. Of one second: it was. */
  leftBehind({ metadata }: KubernetesObject, ownerUid: string): boolean {
    const deletedMs = this.#deletionTimes.get(ownerUid)
    return deletedMs !== undefined && (parseTime(metadata?.creationTimestamp) ?? 0) <= deletedMs
  }
}

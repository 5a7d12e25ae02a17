import type { KubernetesObject } from '@gyropilot/api'

/**
 * Owners that were released after their dependents were set free, the last ones. A dependent that no informer had shown by
 * then and that nobody found still names such an owner, and is to be set free too instead of being deleted.
 */
export class OrphanedOwners {
  readonly #max: number
  /** By uid, oldest first: when the deletion was asked for, as the server wrote it. */
  readonly #deletionTimes = new Map<string, string>()

  constructor(max: number) {
    this.#max = max
  }

  /** To be called before the owner can be gone. */
  add({ metadata }: KubernetesObject): void {
    if (metadata?.uid === undefined || metadata.deletionTimestamp === undefined) return
    this.#deletionTimes.delete(metadata.uid)
    this.#deletionTimes.set(metadata.uid, metadata.deletionTimestamp)
    if (this.#deletionTimes.size <= this.#max) return
    for (const oldest of this.#deletionTimes.keys()) {
      this.#deletionTimes.delete(oldest)
      return
    }
  }

  /**
   * Whether the object was there when its owner's deletion was asked for. Both times are the server's and have one form, in
   * which the order of texts is that of times. Of one second: it was.
   */
  leftBehind({ metadata }: KubernetesObject, ownerUid: string): boolean {
    const deletedAt = this.#deletionTimes.get(ownerUid)
    return deletedAt !== undefined && (metadata?.creationTimestamp ?? '') <= deletedAt
  }
}

import type { OwnerReference } from '@gyropilot/api'
import type { ObjectIdentity } from './identity.ts'

/** One object in the dependency graph: seen, or only known from references to it. */
export class GraphNode {
  /** Unlike the uid, differs between a virtual node and the node that took its place: the key in queues. */
  readonly id: string
  readonly identity: ObjectIdentity
  owners: readonly OwnerReference[] = []
  readonly dependents: Set<GraphNode>
  #isVirtual: boolean
  #isBeingDeleted = false
  #isDeletingDependents = false

  constructor(
    id: string,
    identity: ObjectIdentity,
    given: { virtual: boolean; dependents?: Iterable<GraphNode> },
  ) {
    this.id = id
    this.identity = identity
    this.dependents = new Set(given.dependents)
    this.#isVirtual = given.virtual
  }

  /** No informer has shown the object: all that is known of it is what its dependents claim. */
  get isVirtual(): boolean {
    return this.#isVirtual
  }

  /** Its deletion was asked for, which is never taken back. */
  get isBeingDeleted(): boolean {
    return this.#isBeingDeleted
  }

  /** It is deleted in the foreground and waits for its dependents. */
  get isDeletingDependents(): boolean {
    return this.#isDeletingDependents
  }

  markObserved(): void {
    this.#isVirtual = false
  }

  markBeingDeleted(): void {
    this.#isBeingDeleted = true
  }

  markDeletingDependents(): void {
    this.#isDeletingDependents = true
  }

  /** Dependents whose references hold up the foreground deletion of this node. */
  blockingDependents(): readonly GraphNode[] {
    const { uid } = this.identity
    return [...this.dependents].filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  }
}

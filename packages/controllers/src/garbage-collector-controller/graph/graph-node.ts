import type { OwnerReference } from '@gyropilot/api'
import type { ObjectIdentity } from './identity.ts'

/** Most objects own nothing, and a set of its own would be half of what a node takes. */
const NONE: ReadonlySet<GraphNode> = new Set()

/** One object in the dependency graph: seen, or only known from references to it. */
export class GraphNode {
  readonly identity: ObjectIdentity
  owners: readonly OwnerReference[] = []
  readonly #number: number
  #dependents: Set<GraphNode> | undefined
  #isVirtual: boolean
  #isBeingDeleted = false
  #isDeletingDependents = false

  /** `number` tells the node from others of the same uid. */
  constructor(
    number: number,
    identity: ObjectIdentity,
    given: { virtual: boolean; dependents?: Iterable<GraphNode> },
  ) {
    this.#number = number
    this.identity = identity
    if (given.dependents !== undefined) this.#dependents = new Set(given.dependents)
    this.#isVirtual = given.virtual
  }

  /** Unlike the uid, differs between a virtual node and the node that took its place: the key in queues. */
  get id(): string {
    return `${this.identity.uid}#${this.#number}`
  }

  get dependents(): ReadonlySet<GraphNode> {
    return this.#dependents ?? NONE
  }

  addDependent(node: GraphNode): void {
    this.#dependents ??= new Set()
    this.#dependents.add(node)
  }

  removeDependent(node: GraphNode): void {
    this.#dependents?.delete(node)
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

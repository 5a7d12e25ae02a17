/**
 * Who depends on whom, over all watched objects. Fed with what informers show and with confirmed absences; answers what is
 * to be looked at. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Sync, graph changes.
 */
import { hasFinalizer, isTerminating } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import { TextTable } from '@gyropilot/foundation'
import type { AbsentOwners } from './absent-owners.ts'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../config.ts'
import { DependentKinds } from '../kinds/dependent-kinds.ts'
import { GraphNode } from './graph-node.ts'
import { identityOfReference, sameCoordinates, sameIdentity } from './identity.ts'
import type { ObjectIdentity } from './identity.ts'
import { ownerChanges, unblockedOwners } from './owner-changes.ts'
import { alternateOwnerIdentity, partitionDependents } from './owner-identities.ts'

export type GraphEvent =
  | {
      readonly kind: 'add' | 'update'
      readonly identity: ObjectIdentity
      readonly object: KubernetesObject
      /** What the informer showed before. */
      readonly previous?: KubernetesObject
    }
  | { readonly kind: 'delete'; readonly identity: ObjectIdentity }
  /** A live read found that no such object exists. */
  | { readonly kind: 'virtual-delete'; readonly identity: ObjectIdentity }

/** A reference to an owner that is known to be in another namespace. */
export interface ForeignOwner {
  readonly dependent: ObjectIdentity
  readonly reference: OwnerReference
}

/** What a change asks for, each in order and without repetition. */
export interface Consequences {
  /** Nodes to be checked for deletion. */
  readonly check: Set<GraphNode>
  /** The same, with the queue's rate limit. */
  readonly checkLater: Set<GraphNode>
  /** Owners whose dependents are to be orphaned. */
  readonly orphan: Set<GraphNode>
  readonly foreignOwners: ForeignOwner[]
}

const NO_OWNERS: readonly OwnerReference[] = []

export class DependencyGraph {
  /** Learned from objects whose owners were seen. */
  readonly dependentKinds = new DependentKinds()
  readonly #nodes = new TextTable<GraphNode>((node) => node.identity.uid)
  readonly #absentOwners: AbsentOwners
  #created = 0

  constructor(absentOwners: AbsentOwners) {
    this.#absentOwners = absentOwners
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid)
  }

  nodes(): Iterable<GraphNode> {
    return this.#nodes.values()
  }

  process(event: GraphEvent): Consequences {
    const consequences: Consequences = {
      check: new Set(),
      checkLater: new Set(),
      orphan: new Set(),
      foreignOwners: [],
    }
    switch (event.kind) {
      case 'add':
      case 'update':
        this.#observed(event, consequences)
        break
      case 'delete':
        this.#deleted(event.identity, consequences)
        break
      case 'virtual-delete':
        this.#foundAbsent(event.identity, consequences)
    }
    return consequences
  }

  #observed(
    event: Extract<GraphEvent, { kind: 'add' | 'update' }>,
    consequences: Consequences,
  ): void {
    const { object, previous, identity } = event
    const references = object.metadata?.ownerReferences ?? NO_OWNERS
    const known = this.#nodes.get(identity.uid)
    const node =
      known === undefined
        ? this.#insert(identity, false)
        : this.#becomeReal(known, identity, consequences)
    if (known === undefined) {
      node.owners = references
      this.#link(node, references, consequences)
      if (isTerminating(object) && hasFinalizer(object, FOREGROUND_FINALIZER)) {
        node.markDeletingDependents()
      }
    } else {
      this.#takeOwners(node, references, consequences)
    }
    if (isTerminating(object)) node.markBeingDeleted()
    startDeletion(node, object, previous, consequences)
  }

  /** 1. A virtual node is seen at last; what its dependents claimed of it may turn out to be wrong. */
  #becomeReal(node: GraphNode, observed: ObjectIdentity, consequences: Consequences): GraphNode {
    if (!node.isVirtual) return node
    let real = node
    if (!sameIdentity(node.identity, observed)) {
      for (const dependent of partitionDependents(node.dependents, observed).other) {
        if (isForeign(dependent, observed)) report(dependent, observed.uid, consequences)
        consequences.check.add(dependent)
      }
      real = this.#replace(node, observed)
    }
    real.markObserved()
    for (const dependent of real.dependents) {
      this.dependentKinds.learn(observed, dependent.identity)
    }
    return real
  }

  /** 3. Brings the links to owners up to date with the object's references. */
  #takeOwners(
    node: GraphNode,
    references: readonly OwnerReference[],
    consequences: Consequences,
  ): void {
    const changes = ownerChanges(node.owners, references)
    for (const uid of unblockedOwners(changes)) {
      const owner = this.#nodes.get(uid)
      if (owner !== undefined) consequences.check.add(owner)
    }
    node.owners = references
    this.#link(node, changes.added, consequences)
    for (const { uid } of changes.removed) this.#nodes.get(uid)?.removeDependent(node)
  }

  /** 4. One suspicion is enough to have the dependent checked. */
  #link(
    dependent: GraphNode,
    references: readonly OwnerReference[],
    consequences: Consequences,
  ): void {
    let isSuspect = false
    for (const reference of references) {
      const owner = this.#nodes.get(reference.uid)
      if (owner === undefined) {
        const claimed = identityOfReference(reference, dependent.identity.namespace)
        const virtual = this.#insert(claimed, true)
        virtual.addDependent(dependent)
        consequences.check.add(virtual)
        continue
      }
      owner.addDependent(dependent)
      if (!owner.isVirtual) this.dependentKinds.learn(owner.identity, dependent.identity)
      // It came too late to be checked together with the others.
      if (owner.isDeletingDependents) consequences.check.add(dependent)
      if (isSuspect || !isSuspectReference(dependent, reference, owner)) continue
      isSuspect = true
      if (!owner.isVirtual && isForeign(dependent, owner.identity)) {
        report(dependent, reference.uid, consequences)
      }
    }
    if (isSuspect) consequences.check.add(dependent)
  }

  #deleted(identity: ObjectIdentity, consequences: Consequences): void {
    const node = this.#nodes.get(identity.uid)
    if (node !== undefined) this.#remove(node, identity, consequences)
  }

  #foundAbsent(identity: ObjectIdentity, consequences: Consequences): void {
    const node = this.#nodes.get(identity.uid)
    if (node === undefined) return
    const { matching, other } = partitionDependents(node.dependents, identity)
    const staysForOthers = node.isVirtual && other.length > 0
    const isAnotherObject = !node.isVirtual && !sameIdentity(node.identity, identity)
    if (!staysForOthers && !isAnotherObject) {
      this.#remove(node, identity, consequences)
      return
    }
    if (matching.length > 0) this.#absentOwners.add(identity)
    for (const dependent of matching) consequences.check.add(dependent)
    if (!staysForOthers || !sameIdentity(node.identity, identity)) return
    // The identity looked for does not exist: look for another one that dependents gave to the uid.
    const alternate = alternateOwnerIdentity(other, identity)
    if (alternate !== undefined) consequences.checkLater.add(this.#replace(node, alternate))
  }

  #remove(node: GraphNode, identity: ObjectIdentity, consequences: Consequences): void {
    this.#nodes.delete(node.identity.uid)
    for (const { uid } of node.owners) this.#nodes.get(uid)?.removeDependent(node)
    if (node.dependents.size > 0) this.#absentOwners.add(identity)
    for (const dependent of node.dependents) consequences.check.add(dependent)
    for (const { uid } of node.owners) {
      const owner = this.#nodes.get(uid)
      if (owner?.isDeletingDependents) consequences.check.add(owner)
    }
  }

  #insert(identity: ObjectIdentity, virtual: boolean, dependents?: Iterable<GraphNode>): GraphNode {
    const node = new GraphNode(this.#created++, identity, { virtual, dependents })
    this.#nodes.set(node)
    return node
  }

  /** A new node, so that what is queued or under way for the old one is told apart. Virtual nodes have no other state. */
  #replace(node: GraphNode, identity: ObjectIdentity): GraphNode {
    return this.#insert(identity, true, node.dependents)
  }
}

/** 5. Orphaning wins where both finalizers are present. */
function startDeletion(
  node: GraphNode,
  object: KubernetesObject,
  previous: KubernetesObject | undefined,
  consequences: Consequences,
): void {
  if (deletionStartsWith(ORPHAN_FINALIZER, object, previous)) {
    consequences.orphan.add(node)
  } else if (deletionStartsWith(FOREGROUND_FINALIZER, object, previous)) {
    node.markDeletingDependents()
    for (const dependent of node.dependents) consequences.check.add(dependent)
    consequences.check.add(node)
  }
}

function deletionStartsWith(
  finalizer: string,
  object: KubernetesObject,
  previous: KubernetesObject | undefined,
): boolean {
  const waits = (state: KubernetesObject): boolean =>
    isTerminating(state) && hasFinalizer(state, finalizer)
  return waits(object) && (previous === undefined || !waits(previous))
}

function isForeign(dependent: GraphNode, owner: ObjectIdentity): boolean {
  return owner.namespace !== '' && owner.namespace !== dependent.identity.namespace
}

function isSuspectReference(
  dependent: GraphNode,
  reference: OwnerReference,
  owner: GraphNode,
): boolean {
  if (isForeign(dependent, owner.identity)) return true
  if (!sameCoordinates(reference, owner.identity)) return true
  // A missing namespaced object that a cluster-scoped child named first looks as if it were cluster-scoped.
  return owner.isVirtual && owner.identity.namespace !== dependent.identity.namespace
}

function report(dependent: GraphNode, ownerUid: string, { foreignOwners }: Consequences): void {
  const reference = dependent.owners.find(({ uid }) => uid === ownerUid)
  if (reference !== undefined) foreignOwners.push({ dependent: dependent.identity, reference })
}

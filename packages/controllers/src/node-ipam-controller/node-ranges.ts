/**
 * Who has which part of the cluster's ranges. Nodes that have theirs are known by their spec; what was proposed to a node
 * and cannot be seen on it yet is remembered here.
 * Contract: docs/behaviour/controllers/node-ipam-controller.md, Sync.
 */
import { formatCidr, parseCidr } from '@gyropilot/api'
import type { Cidr, Node } from '@gyropilot/api'
import type { CidrSet } from './cidr-set.ts'

export interface Proposal {
  readonly uid: string
  /** One of every set, in their order. */
  readonly cidrs: readonly string[]
  /** The server has it, though the cache may not show it yet. */
  readonly isWritten: boolean
}

export class NodeRanges {
  readonly #sets: readonly CidrSet[]
  /** By the names of their nodes. */
  readonly #proposals = new Map<string, Proposal>()

  constructor(sets: readonly CidrSet[], serviceRanges: readonly Cidr[]) {
    this.#sets = sets
    for (const range of serviceRanges) for (const set of sets) set.occupy(range)
  }

  /** Marks what the node has, and forgets what was proposed to it. Answers what is wrong, if anything is. */
  occupy(node: Node): Error | undefined {
    const name = nameOf(node)
    const cidrs = node.spec?.podCIDRs ?? []
    const proposal = this.#proposals.get(name)
    if (proposal !== undefined && proposal.uid === uidOf(node)) {
      this.#proposals.delete(name)
      if (!isEqual(proposal.cidrs, cidrs)) this.#release(proposal.cidrs)
    }
    for (const [index, text] of cidrs.entries()) {
      const problem = this.#occupyOne(name, text, index)
      if (problem !== undefined) return new Error(problem)
    }
    return undefined
  }

  #occupyOne(name: string, text: string, index: number): string | undefined {
    const cidr = parseCidr(text, true)
    if (cidr === undefined) return `failed to parse node ${name}, CIDR ${text}`
    const set = this.#sets[index]
    if (set === undefined)
      return `node:${name} has an allocated cidr: ${text} at index:${index} that does not exist in cluster cidrs configuration`
    if (set.occupy(cidr)) return undefined
    const outside = `cidr ${text} is out the range of cluster cidr ${set}`
    return `failed to mark cidr[${text}] at idx [${index}] as occupied for node: ${name}: ${outside}`
  }

  /** What the node should have: what it was promised before, else the next free parts. Undefined: a set is full. */
  propose(node: Node): Proposal | undefined {
    const name = nameOf(node)
    const uid = uidOf(node)
    const known = this.#proposals.get(name)
    if (known?.uid === uid) return known
    if (known !== undefined) this.refused(name)
    if (this.fullSet() !== undefined) return undefined
    const cidrs = this.#sets.map((set) => formatCidr(set.next()))
    const proposal = { uid, cidrs, isWritten: false }
    this.#proposals.set(name, proposal)
    return proposal
  }

  /** The index of the first set without a free slot. */
  fullSet(): number | undefined {
    const index = this.#sets.findIndex((set) => set.isFull)
    return index < 0 ? undefined : index
  }

  /** The server took the proposal. */
  written(name: string): void {
    const proposal = this.#proposals.get(name)
    if (proposal !== undefined) this.#proposals.set(name, { ...proposal, isWritten: true })
  }

  /** The proposal came to nothing for certain. */
  refused(name: string): void {
    const proposal = this.#proposals.get(name)
    this.#proposals.delete(name)
    if (proposal !== undefined) this.#release(proposal.cidrs)
  }

  /** The node is gone; undefined where only its name is known. What a namesake was promised since is no business of it. */
  deleted(name: string, node: Node | undefined): void {
    this.#release(node?.spec?.podCIDRs ?? [])
    const proposal = this.#proposals.get(name)
    if (node === undefined || proposal?.uid === uidOf(node)) this.refused(name)
  }

  /** A namesake has taken the node's place: what both have is kept. */
  replaced(previous: Node, current: Node): void {
    this.deleted(nameOf(previous), previous)
    this.occupy(current)
  }

  #release(cidrs: readonly string[]): void {
    for (const [index, text] of cidrs.entries()) {
      const cidr = parseCidr(text, true)
      if (cidr !== undefined) this.#sets[index]?.release(cidr)
    }
  }
}

function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index])
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}

function uidOf({ metadata }: Node): string {
  return metadata?.uid ?? ''
}

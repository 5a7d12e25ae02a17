/**
 * One range of the cluster, cut into slots of equal size, one for a node.
 * Contract: docs/behaviour/controllers/node-ipam-controller.md, Slot arithmetic.
 */
import { cidrsOverlap, formatCidr, lastAddress, maskedCidr } from '@gyropilot/api'
import type { Cidr, IpAddress } from '@gyropilot/api'
import type { ClusterRange } from './cluster-ranges.ts'
import type { RangeMetrics } from './metrics.ts'
import { Slots } from './slots.ts'

export class CidrSet {
  readonly cidr: Cidr
  readonly #nodeBits: number
  readonly #hostBits: bigint
  readonly #slots: Slots
  readonly #metrics: RangeMetrics
  /** Where the search begins: after the slot that was handed out last. */
  #cursor = 0

  constructor({ cidr, nodeBits }: ClusterRange, metrics: RangeMetrics) {
    this.cidr = cidr
    this.#nodeBits = nodeBits
    this.#hostBits = BigInt((cidr.family === 4 ? 32 : 128) - nodeBits)
    this.#slots = new Slots(2 ** (nodeBits - cidr.bits))
    this.#metrics = metrics
    metrics.size(this.#slots.size)
  }

  get isFull(): boolean {
    return this.#slots.taken === this.#slots.size
  }

  /** The next free part, taken. The set must not be full. */
  next(): Cidr {
    const { size } = this.#slots
    const slot = this.#slots.nextFree(this.#cursor)
    this.#metrics.skipped((slot - this.#cursor + size) % size)
    this.#cursor = (slot + 1) % size
    this.#slots.take(slot)
    this.#metrics.taken(1, this.#slots.taken / size)
    return this.#partAt(slot)
  }

  /** Takes all slots that the range touches; those that are taken stay so. False: it lies outside. */
  occupy(range: Cidr): boolean {
    return this.#each(range, (slot) => this.#slots.take(slot), this.#metrics.taken)
  }

  /** Gives all slots that the range touches back; those that are free stay so. False: it lies outside. */
  release(range: Cidr): boolean {
    return this.#each(range, (slot) => this.#slots.free(slot), this.#metrics.released)
  }

  #each(
    range: Cidr,
    flip: (slot: number) => boolean,
    tell: (slots: number, usage: number) => void,
  ): boolean {
    const slots = this.#slotsOf(range)
    if (slots === undefined) return false
    let flipped = 0
    for (let slot = slots.first; slot <= slots.last; slot++) if (flip(slot)) flipped += 1
    if (flipped > 0) tell(flipped, this.#slots.taken / this.#slots.size)
    return true
  }

  #slotsOf(range: Cidr): { readonly first: number; readonly last: number } | undefined {
    if (!cidrsOverlap(this.cidr, range)) return undefined
    if (range.bits <= this.cidr.bits) return { first: 0, last: this.#slots.size - 1 }
    return { first: this.#slotOf(maskedCidr(range)), last: this.#slotOf(lastAddress(range)) }
  }

  #slotOf({ value }: IpAddress): number {
    return Number((value ^ this.cidr.value) >> this.#hostBits)
  }

  #partAt(slot: number): Cidr {
    const value = this.cidr.value | (BigInt(slot) << this.#hostBits)
    return { family: this.cidr.family, value, bits: this.#nodeBits }
  }

  toString(): string {
    return formatCidr(this.cidr)
  }
}

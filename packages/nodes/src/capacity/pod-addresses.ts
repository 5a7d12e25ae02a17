/**
 * The addresses of one node's pods: one of each range of the node, which the node IPAM controller gives it some time after it
 * was registered; until then pods wait. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod.
 */
import { untilAborted } from '@gyropilot/foundation'
import { IpPool } from './ip-pool.ts'

export class PodAddresses {
  #pools: readonly IpPool[] | undefined
  /** Of pods that ran before the ranges were known to this process. */
  readonly #claimed = new Set<string>()
  readonly #known = Promise.withResolvers<void>()

  /** Whether the node has its ranges. */
  get isKnown(): boolean {
    return this.#pools !== undefined
  }

  /** Tells the ranges, one of a family. They never change once the node has them. */
  learn(podCidrs: readonly string[]): void {
    if (this.#pools !== undefined) return
    this.#pools = podCidrs.map((cidr) => new IpPool(cidr))
    this.claim([...this.#claimed])
    this.#claimed.clear()
    this.#known.resolve()
  }

  /** A free address of each range, as soon as the node has some; undefined when all of one are taken. Rejects when `signal` aborts before. */
  async take(signal: AbortSignal): Promise<readonly string[] | undefined> {
    if (this.#pools === undefined) await untilAborted(this.#known.promise, signal)
    const taken = (this.#pools ?? []).map((pool) => pool.take())
    const addresses = taken.filter((address) => address !== undefined)
    if (addresses.length === taken.length) return addresses
    this.release(addresses)
    return undefined
  }

  /** Marks those of a pod that ran before this process did. */
  claim(addresses: readonly string[]): void {
    for (const address of addresses) {
      if (this.#pools === undefined) this.#claimed.add(address)
      else for (const pool of this.#pools) pool.claim(address)
    }
  }

  release(addresses: readonly string[]): void {
    for (const address of addresses) {
      this.#claimed.delete(address)
      for (const pool of this.#pools ?? []) pool.release(address)
    }
  }
}

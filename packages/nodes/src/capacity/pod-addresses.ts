/**
 * The addresses of one node's pods. They come from the node's pod range, which the node IPAM controller gives it some time
 * after it was registered: until then pods wait. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod.
 */
import { untilAborted } from '@gyropilot/foundation'
import { IpPool } from './ip-pool.ts'

export class PodAddresses {
  #pool: IpPool | undefined
  /** Of pods that ran before the range was known to this process. */
  readonly #claimed = new Set<string>()
  readonly #known = Promise.withResolvers<void>()

  /** Whether the node has its range. */
  get isKnown(): boolean {
    return this.#pool !== undefined
  }

  /** Tells the range. It never changes once the node has it. */
  learn(podCidr: string): void {
    if (this.#pool !== undefined) return
    this.#pool = new IpPool(podCidr)
    for (const address of this.#claimed) this.#pool.claim(address)
    this.#claimed.clear()
    this.#known.resolve()
  }

  /** A free address, as soon as the node has a range; undefined when all are taken. Rejects when `signal` aborts before. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    if (this.#pool === undefined) await untilAborted(this.#known.promise, signal)
    return this.#pool?.take()
  }

  /** Marks an address of a pod that ran before this process did. */
  claim(address: string): void {
    if (this.#pool === undefined) this.#claimed.add(address)
    else this.#pool.claim(address)
  }

  release(address: string): void {
    this.#claimed.delete(address)
    this.#pool?.release(address)
  }
}

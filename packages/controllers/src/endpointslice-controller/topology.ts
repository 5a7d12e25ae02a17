/**
 * What is known of zones, and which Services have hints for them.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync D.
 */
import type { EndpointSlice, Node } from '@gyropilot/api'
import { isOverloaded, zoneShares } from './zone-shares.ts'
import type { HintsByZone, ZoneShares } from './zone-shares.ts'

type AddressType = EndpointSlice['addressType']

export class Topology {
  #nodes: readonly Node[] = []
  #hasSeenNodes = false
  /** Null: not yet worked out of the nodes. Many change, and most clusters have no Service that asks. */
  #shares: ZoneShares | null | undefined
  readonly #hints = new Map<string, Map<AddressType, HintsByZone>>()
  /** Services that were told of their hints, for any address type. */
  readonly #announced = new Set<string>()

  get shares(): ZoneShares | undefined {
    if (this.#shares === null) this.#shares = zoneShares(this.#nodes)
    return this.#shares
  }

  /** No node has been seen so far: upstream has another word for that than for nodes that tell too little. */
  get isWithoutNodes(): boolean {
    return !this.#hasSeenNodes
  }

  setNodes(nodes: readonly Node[]): void {
    this.#hasSeenNodes ||= nodes.length > 0
    this.#nodes = nodes
    this.#shares = null
  }

  hasHints(serviceKey: string): boolean {
    return this.#announced.has(serviceKey)
  }

  setHints(serviceKey: string, addressType: AddressType, hints: HintsByZone): void {
    let byType = this.#hints.get(serviceKey)
    if (byType === undefined) this.#hints.set(serviceKey, (byType = new Map()))
    byType.set(addressType, hints)
    this.#announced.add(serviceKey)
  }

  removeHints(serviceKey: string, addressType: AddressType): void {
    const byType = this.#hints.get(serviceKey)
    byType?.delete(addressType)
    if (byType?.size === 0) this.#hints.delete(serviceKey)
    this.#announced.delete(serviceKey)
  }

  /** Services whose hints no longer suit the shares of the zones. */
  overloadedServices(): readonly string[] {
    return [...this.#hints]
      .filter(([, byType]) =>
        [...byType.values()].some((hints) => isOverloaded(hints, this.shares)),
      )
      .map(([serviceKey]) => serviceKey)
  }

  forget(serviceKey: string): void {
    this.#hints.delete(serviceKey)
    this.#announced.delete(serviceKey)
  }
}

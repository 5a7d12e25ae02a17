import { integerBetween } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import type { Store } from '../storage/store.ts'
import { nodePortsOf } from './service-fields.ts'

export interface PortRange {
  readonly first: number
  readonly last: number
}

const DEFAULT_NODE_PORTS: PortRange = { first: 30000, last: 32767 }

/** A port without a Service is free again when it was found so this often: a request may have taken it for one that is on the way. */
const FINDINGS_OF_LEAK = 3

/** Ports of all nodes. Which are taken is read from the services at the first use; from then on every change comes by here. */
export class NodePortAllocator {
  readonly range: PortRange
  readonly #store: Store
  readonly #random: RandomSource
  #taken: Set<number> | undefined
  /** How often each was found without a Service. */
  #leaks = new Map<number, number>()

  constructor(store: Store, random: RandomSource, range: PortRange = DEFAULT_NODE_PORTS) {
    this.#store = store
    this.#random = random
    this.range = range
  }

  /** Why the port cannot be had, or undefined when it is taken now. Of a dry run only what it has shown is refused, not what is beyond the range. */
  take(port: number, shown: readonly number[] | undefined): string | undefined {
    const { first, last } = this.range
    if (shown !== undefined)
      return shown.includes(port) ? 'provided port is already allocated' : undefined
    if (port < first || port > last) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    }
    const taken = this.#ports()
    if (taken.has(port)) return 'provided port is already allocated'
    taken.add(port)
    return undefined
  }

  /** What a dry run shows: behind those that it has shown already, and beyond the range for the first. Nothing is taken. */
  shownAfter(shown: readonly number[]): number {
    const { last } = this.range
    return (shown.length === 0 ? last + 1 : Math.max(...shown)) + 1
  }

  /** Random above the band for chosen ports, then within it; undefined when all are taken. */
  takeAny(): number | undefined {
    const { first, last } = this.range
    const band = staticBandSize(last - first + 1)
    const found = this.#findFree(first + band, last) ?? this.#findFree(first, first + band - 1)
    if (found !== undefined) this.#ports().add(found)
    return found
  }

  release(port: number): void {
    this.#ports().delete(port)
  }

  isTaken(port: number): boolean {
    return this.#ports().has(port)
  }

  /** `used`: what Services have. Whether that is all that is taken. */
  settle(used: ReadonlySet<number>): boolean {
    const taken = this.#ports()
    for (const port of used) taken.add(port)
    const leaks = new Map<number, number>()
    for (const port of taken) {
      if (used.has(port)) continue
      const findings = (this.#leaks.get(port) ?? 0) + 1
      if (findings < FINDINGS_OF_LEAK) leaks.set(port, findings)
      else taken.delete(port)
    }
    this.#leaks = leaks
    return leaks.size === 0
  }

  #findFree(from: number, to: number): number | undefined {
    const count = to - from + 1
    if (count <= 0) return undefined
    const taken = this.#ports()
    const start = integerBetween(this.#random, 0, count)
    for (let i = 0; i < count; i++) {
      const port = from + ((start + i) % count)
      if (!taken.has(port)) return port
    }
    return undefined
  }

  #ports(): Set<number> {
    if (this.#taken === undefined) {
      const snapshot = this.#store.list('services', '')
      const services = snapshot === 'expired' ? [] : snapshot.entries.map((entry) => entry.object)
      this.#taken = new Set(services.flatMap(nodePortsOf))
    }
    return this.#taken
  }
}

export function staticBandSize(size: number): number {
  if (size <= 16) return 0
  return Math.min(128, Math.max(16, Math.floor(size / 32)))
}

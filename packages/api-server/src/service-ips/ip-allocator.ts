import { integerBetween, uuid } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { formatIp, parseIp } from '@gyropilot/schema/validation/ip'
import type { Store } from '../storage/store.ts'
import { ipAddressObject } from './ip-address-object.ts'
import type { Owner } from './ip-address-object.ts'
import { familyOf } from './ip-families.ts'
import type { IpFamily } from './ip-families.ts'
import { serviceRanges } from './service-ranges.ts'
import type { ServiceRange } from './service-ranges.ts'

export const IP_ADDRESSES = 'ipaddresses.networking.k8s.io'

/** Each taken address is an IPAddress object named by its canonical text: the objects are the truth, nothing is kept beside. */
export class IpAllocator {
  readonly #store: Store
  readonly #random: RandomSource
  readonly #defaultRanges: readonly string[]

  constructor(store: Store, random: RandomSource, defaultRanges: readonly string[]) {
    this.#store = store
    this.#random = random
    this.#defaultRanges = defaultRanges
  }

  /** Why the address cannot be had, or undefined when it is taken now. */
  take(text: string, owner: Owner, nowMs: number, dryRun: boolean): string | undefined {
    const ip = parseIp(text)
    const ranges = this.#ranges()
    if (ip === undefined || !ranges.some((range) => range.contains(ip))) {
      const own = ranges.find(({ family }) => family === familyOf(text))
      return dryRun && own !== undefined
        ? `the provided IP (${text}) is not in the valid range. The range of valid IPs is ${own.text}`
        : 'the provided network does not match the current range'
    }
    if (dryRun) return undefined
    const name = formatIp(ip)
    if (this.#isTaken(name)) return 'provided IP is already allocated'
    if (!owner.name) return ownerless(name)
    this.#commit(name, owner, nowMs)
    return undefined
  }

  /** Undefined when every range of the family is full. */
  takeAny(family: IpFamily, owner: Owner, nowMs: number, dryRun: boolean): string | undefined {
    for (const range of this.#ranges()) {
      if (range.family !== family) continue
      if (dryRun) return range.network
      const found = this.#findFree(range)
      if (found === undefined) continue
      this.#commit(found, owner, nowMs)
      return found
    }
    return undefined
  }

  /** Of this owner only: an address that somebody else holds meanwhile stays. */
  release(text: string, owner: Owner): void {
    const ip = parseIp(text)
    if (ip === undefined) return
    const key = { collection: IP_ADDRESSES, key: formatIp(ip) }
    const parent = this.#store.get(key)?.object['spec'].parentRef
    if (parent === undefined || parent.namespace !== owner.namespace || parent.name !== owner.name)
      return
    this.#store.commit(key, () => undefined)
  }

  /** For a Service that has the address already, of an address that nobody has taken. */
  record(name: string, owner: Owner, nowMs: number): void {
    this.#commit(name, owner, nowMs)
  }

  #ranges(): ServiceRange[] {
    return serviceRanges(this.#store, this.#defaultRanges)
  }

  /** Random in the upper band; when that is full, random in the band for chosen addresses. */
  #findFree(range: ServiceRange): string | undefined {
    const band = range.staticBandSize
    return this.#findFreeBetween(range, band, range.size) ?? this.#findFreeBetween(range, 0n, band)
  }

  #findFreeBetween(range: ServiceRange, from: bigint, to: bigint): string | undefined {
    // Larger ranges (IPv6) are sampled in their first 2^48 addresses.
    const count = Number(to - from > 2n ** 48n ? 2n ** 48n : to - from)
    if (count <= 0) return undefined
    const start = integerBetween(this.#random, 0, count)
    for (let i = 0; i < count; i++) {
      const address = range.address(from + BigInt((start + i) % count))
      if (!this.#isTaken(address)) return address
    }
    return undefined
  }

  #isTaken(name: string): boolean {
    return this.#store.get({ collection: IP_ADDRESSES, key: name }) !== undefined
  }

  #commit(name: string, owner: Owner, nowMs: number): void {
    const object = ipAddressObject(name, owner, nowMs, uuid(this.#random))
    this.#store.commit({ collection: IP_ADDRESSES, key: name }, (revision) => ({
      ...object,
      metadata: { ...object['metadata'], resourceVersion: String(revision) },
    }))
  }
}

/** An IPAddress has a parent with a name: a Service whose name was forgotten hears of it from here first. */
export function ownerless(ip: string): string {
  return `IPAddress.networking.k8s.io ${JSON.stringify(ip)} is invalid: spec.parentRef.name: Required value`
}

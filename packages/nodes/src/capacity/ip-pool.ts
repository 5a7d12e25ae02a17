import { formatIp, maskedCidr, parseCidr, parseIp } from '@gyropilot/api'

/** Of an IPv6 range no more than so many are handed out. */
const MOST_ADDRESSES = 65_536n

/** Addresses of one node's pod CIDR: neither network nor broadcast, the first is the bridge's; reused as late as possible. */
export class IpPool {
  readonly #family: 4 | 6
  readonly #base: bigint
  readonly #size: number
  readonly #used = new Set<number>()
  #next = 2

  /** `cidr` is `10.244.1.0/24` or `fd00:10:244:1::/64`. Throws for what is none. */
  constructor(cidr: string) {
    const parsed = parseCidr(cidr)
    if (parsed === undefined) throw new Error(`${JSON.stringify(cidr)} is no range of addresses`)
    const { family, value, bits } = maskedCidr(parsed)
    const addresses = 2n ** BigInt((family === 4 ? 32 : 128) - bits)
    this.#family = family
    this.#base = value
    this.#size = Number(addresses < MOST_ADDRESSES ? addresses : MOST_ADDRESSES)
  }

  /** The next free address, or undefined when all are taken. */
  take(): string | undefined {
    for (let tried = 2; tried < this.#size - 1; tried++) {
      const offset = this.#next
      this.#next = offset + 1 < this.#size - 1 ? offset + 1 : 2
      if (!this.#used.has(offset)) {
        this.#used.add(offset)
        return formatIp({ family: this.#family, value: this.#base + BigInt(offset) })
      }
    }
    return undefined
  }

  /** Marks an address of a pod that ran before this process did. */
  claim(address: string): void {
    const offset = this.#offset(address)
    if (offset !== undefined) this.#used.add(offset)
  }

  release(address: string): void {
    const offset = this.#offset(address)
    if (offset !== undefined) this.#used.delete(offset)
  }

  /** Undefined: it is none of those that are handed out. */
  #offset(address: string): number | undefined {
    const parsed = parseIp(address)
    if (parsed?.family !== this.#family) return undefined
    const offset = Number(parsed.value - this.#base)
    return offset > 1 && offset < this.#size - 1 ? offset : undefined
  }
}

/** Addresses of one node's pod CIDR: neither network nor broadcast, the first is the bridge's; reused as late as possible. */
export class IpPool {
  readonly #base: number
  readonly #size: number
  readonly #used = new Set<number>()
  #next = 2

  /** `cidr` is IPv4: `10.244.1.0/24`. */
  constructor(cidr: string) {
    const [address = '', prefix = '24'] = cidr.split('/')
    this.#base = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    this.#size = 2 ** (32 - Number(prefix))
  }

  /** The next free address, or undefined when all are taken. */
  take(): string | undefined {
    for (let tried = 2; tried < this.#size - 1; tried++) {
      const offset = this.#next
      this.#next = offset + 1 < this.#size - 1 ? offset + 1 : 2
      if (!this.#used.has(offset)) {
        this.#used.add(offset)
        return this.#text(offset)
      }
    }
    return undefined
  }

  /** Marks an address of a pod that ran before this process did. */
  claim(address: string): void {
    const offset = this.#offset(address)
    if (offset > 1 && offset < this.#size - 1) this.#used.add(offset)
  }

  release(address: string): void {
    this.#used.delete(this.#offset(address))
  }

  #offset(address: string): number {
    return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) - this.#base
  }

  #text(offset: number): string {
    const value = this.#base + offset
    return [value / 2 ** 24, (value / 2 ** 16) % 256, (value / 256) % 256, value % 256]
      .map(Math.floor)
      .join('.')
  }
}

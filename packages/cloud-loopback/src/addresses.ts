/** Addresses of a network, and who has them. */
import { cidrContains, formatIp, maskedCidr, parseCidr, parseIp } from '@gyropilot/api'
import type { Cidr } from '@gyropilot/api'

/** Throws for a text that is no network of IPv4, or that lies outside of 127.0.0.0/8. */
export function loopbackNetwork(text: string): Cidr {
  const network = parseCidr(text)
  const loopback = parseCidr('127.0.0.0/8')!
  if (network === undefined || network.family !== 4)
    throw new Error(`${JSON.stringify(text)} is not a network of IPv4, such as 127.80.0.0/16`)
  if (!cidrContains(loopback, network) || network.bits < 8)
    throw new Error(`${text} does not lie in 127.0.0.0/8`)
  return maskedCidr(network)
}

/** The address of this number in the network; the network's own has number 0. */
export function addressAt({ family, value, bits }: Cidr, number: number): string {
  const size = 2 ** (32 - bits)
  return formatIp({ family, value: value + BigInt(number % size) })
}

export class AddressPool {
  readonly #network: Cidr
  readonly #owners = new Map<string, string>()

  constructor(network: Cidr) {
    this.#network = network
  }

  /** Undefined: it is somebody else's, or not of the network. */
  take(address: string, owner: string): string | undefined {
    const parsed = parseIp(address)
    if (parsed === undefined || !cidrContains(this.#network, parsed)) return undefined
    const taken = this.#owners.get(address)
    if (taken !== undefined && taken !== owner) return undefined
    this.#owners.set(address, owner)
    return address
  }

  /** The lowest that nobody has, beyond those of `except`. Throws when there is none. */
  takeAny(owner: string, except: ReadonlySet<string>): string {
    const size = 2 ** (32 - this.#network.bits)
    for (let number = 1; number < size - 1; number++) {
      const address = addressAt(this.#network, number)
      if (except.has(address) || this.#owners.has(address)) continue
      this.#owners.set(address, owner)
      return address
    }
    throw new Error('this cloud has no address left for another balancer')
  }

  giveBack(address: string): void {
    this.#owners.delete(address)
  }
}

/** IP addresses and networks. */
import { goQuote } from '@gyropilot/schema/go-quote'
import {
  formatCidr,
  formatIp,
  isLinkLocalMulticast,
  maskedCidr,
  parseCidr,
  parseIp,
} from '@gyropilot/schema/validation/ip'
import type { Cidr, IpAddress } from '@gyropilot/schema/validation/ip'
import { onePass, traversal } from '../costs/cost.ts'
import { STRING_TRAVERSAL, exactly, scaled, sum } from '../costs/cost-range.ts'
import { declare } from '../checking/signature.ts'
import type { Costs, EstimatedArgument, Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { addressProblem } from './address-problems.ts'
import { EvaluationError, Opaque } from '../values/values.ts'
import type { Value } from '../values/values.ts'

class IpValue extends Opaque {
  readonly typeName = 'net.IP'
  readonly ip: IpAddress

  constructor(ip: IpAddress) {
    super()
    this.ip = ip
  }

  override equals(other: Opaque): boolean {
    const { ip } = other as IpValue
    return ip.family === this.ip.family && ip.value === this.ip.value
  }

  override get costSize(): number {
    return this.ip.family === 4 ? 4 : 16
  }
}

class CidrValue extends Opaque {
  readonly typeName = 'net.CIDR'
  readonly cidr: Cidr

  constructor(cidr: Cidr) {
    super()
    this.cidr = cidr
  }

  override equals(other: Opaque): boolean {
    const { cidr } = other as CidrValue
    const { family, value, bits } = this.cidr
    return cidr.family === family && cidr.value === value && cidr.bits === bits
  }

  override get costSize(): number {
    return Math.ceil(this.cidr.bits / 8)
  }
}

const isMapped = ({ family, value }: IpAddress): boolean => family === 6 && value >> 32n === 0xffffn

function parseAddress(text: string): IpAddress | string {
  const ip = parseIp(text)
  if (ip === undefined) {
    const [address = '', zone = ''] = text.split('%', 2)
    if (zone !== '' && parseIp(address)?.family === 6)
      return `IP address ${goQuote(text)} with zone value is not allowed`
    return `IP Address ${goQuote(text)} parse error during conversion from string: ${addressProblem(text)}`
  }
  return isMapped(ip) ? `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` : ip
}

function parseNetwork(text: string): Cidr | string {
  const cidr = parseCidr(text)
  if (cidr === undefined) {
    return `${NETWORK_ERROR}${NETWORK_ERROR}netip.ParsePrefix(${goQuote(text)}): ${prefixProblem(text)}`
  }
  if (!isMapped(cidr)) return cidr
  return `${NETWORK_ERROR}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`
}

const NETWORK_ERROR = 'network address parse error during conversion from string: '

function prefixProblem(text: string): string {
  const slash = text.lastIndexOf('/')
  if (slash < 0) return "no '/'"
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  if (parseIp(address) === undefined) return addressProblem(address)
  return /^(0|[1-9]\d{0,2})$/.test(bits)
    ? 'prefix length out of range'
    : `bad bits after slash: ${goQuote(bits)}`
}

function ip(text: string): IpValue {
  const parsed = parseAddress(text)
  if (typeof parsed === 'string') throw new EvaluationError(parsed)
  return new IpValue(parsed)
}

function cidr(text: string): CidrValue {
  const parsed = parseNetwork(text)
  if (typeof parsed === 'string') throw new EvaluationError(parsed)
  return new CidrValue(parsed)
}

/** The leading bits of an address. */
function top({ family, value }: IpAddress, bits: number): bigint {
  return value >> BigInt((family === 4 ? 32 : 128) - bits)
}

const PROPERTIES: Readonly<Record<string, (ip: IpAddress) => boolean>> = {
  isUnspecified: ({ value }) => value === 0n,
  isLoopback: (address) => (address.family === 4 ? top(address, 8) === 127n : address.value === 1n),
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isGlobalUnicast: (address) => {
    const { family, value } = address
    if (value === 0n || (family === 4 && value === 0xffffffffn)) return false
    if (family === 4 ? top(address, 8) === 127n : value === 1n) return false
    const multicast = family === 4 ? top(address, 4) === 0xen : top(address, 8) === 0xffn
    return !multicast && !isLinkLocalUnicast(address)
  },
}

function isLinkLocalUnicast(address: IpAddress): boolean {
  return address.family === 4 ? top(address, 16) === 0xa9fen : top(address, 10) === 0x3fan
}

function contains({ cidr: outer }: CidrValue, inner: IpAddress): boolean {
  return inner.family === outer.family && top(inner, outer.bits) === top(outer, outer.bits)
}

function containsNetwork(outer: CidrValue, inner: Cidr): boolean {
  return inner.bits >= outer.cidr.bits && contains(outer, inner)
}

const ADDRESS_SIZE = { min: 4, max: 16 }
const TWICE_ADDRESS = scaled(sum(ADDRESS_SIZE, ADDRESS_SIZE), STRING_TRAVERSAL)

/** Prefixes are compared as bytes; a text is parsed before, a network masked. */
function containment(ofNetwork: boolean, ofText: boolean): Costs {
  const textCost = ([, other]: readonly EstimatedArgument[]) =>
    ofText ? scaled(other!.size, STRING_TRAVERSAL) : exactly(0)
  const mask = ofNetwork ? sum(scaled(ADDRESS_SIZE, STRING_TRAVERSAL), exactly(1)) : exactly(0)
  return {
    cost: ([outer, other]) =>
      traversal(outer!, 2 * STRING_TRAVERSAL) +
      (ofNetwork ? traversal(outer!) + 1 : 0) +
      (ofText ? traversal(other!) : 0),
    estimate: (args) => ({ cost: sum(TWICE_ADDRESS, mask, textCost(args)) }),
  }
}

export const NETWORK: Library = {
  constants: [
    { name: 'net.IP', type: opaqueType('net.IP') },
    { name: 'net.CIDR', type: opaqueType('net.CIDR') },
  ],
  overloads: [
    declare('ip(string): net.IP', ip, onePass()),
    declare(
      'isIP(string): bool',
      (text: string) => typeof parseAddress(text) !== 'string',
      onePass(),
    ),
    declare(
      'ip.isCanonical(string): bool',
      (text: string) => formatIp(ip(text).ip) === text,
      onePass(0, 2 * STRING_TRAVERSAL),
    ),
    declare('net.IP.family(): int', (value: IpValue) => BigInt(value.ip.family)),
    ...Object.entries(PROPERTIES).map(([name, holds]) =>
      declare(`net.IP.${name}(): bool`, (value: IpValue) => holds(value.ip)),
    ),
    declare('string(net.IP): string', (value: IpValue) => formatIp(value.ip)),
    declare('cidr(string): net.CIDR', cidr, onePass()),
    declare(
      'isCIDR(string): bool',
      (text: string) => typeof parseNetwork(text) !== 'string',
      onePass(),
    ),
    declare(
      'net.CIDR.containsIP(net.IP): bool',
      (outer: CidrValue, inner: IpValue) => contains(outer, inner.ip),
      containment(false, false),
    ),
    declare(
      'net.CIDR.containsIP(string): bool',
      (outer: CidrValue, text: string) => {
        const inner = parseAddress(text)
        // What is wrong with the address is not said here.
        if (typeof inner === 'string') throw new EvaluationError('no such overload')
        return contains(outer, inner)
      },
      containment(false, true),
    ),
    declare(
      'net.CIDR.containsCIDR(net.CIDR): bool',
      (outer: CidrValue, inner: CidrValue) => containsNetwork(outer, inner.cidr),
      containment(true, false),
    ),
    declare(
      'net.CIDR.containsCIDR(string): bool',
      (outer: CidrValue, text: string) => containsNetwork(outer, cidr(text).cidr),
      containment(true, true),
    ),
    declare('net.CIDR.ip(): net.IP', (value: CidrValue): Value => {
      const { family, value: address } = value.cidr
      return new IpValue({ family, value: address })
    }),
    declare('net.CIDR.prefixLength(): int', (value: CidrValue) => BigInt(value.cidr.bits)),
    declare(
      'net.CIDR.masked(): net.CIDR',
      (value: CidrValue) => new CidrValue(maskedCidr(value.cidr)),
    ),
    declare('string(net.CIDR): string', (value: CidrValue) => formatCidr(value.cidr)),
  ],
}

/** IP addresses and networks. */
import { formatCidr, formatIp, maskedCidr, parseCidr, parseIp } from '../../schema/validation/ip.ts'
import type { Cidr, IpAddress } from '../../schema/validation/ip.ts'
import { onePass, traversal } from '../cost.ts'
import { STRING_TRAVERSAL, exactly, scaled, sum } from '../cost-estimate.ts'
import { declare } from '../signature.ts'
import type { Costs, EstimatedArgument, Library } from '../signature.ts'
import { opaqueType } from '../types.ts'
import { EvaluationError, Opaque } from '../values.ts'
import type { Value } from '../values.ts'

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
    if (text.includes('%') && parseIp(text.split('%')[0]!) !== undefined)
      return `IP address ${JSON.stringify(text)} with zone value is not allowed`
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`
  }
  return isMapped(ip) ? `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` : ip
}

function parseNetwork(text: string): Cidr | string {
  const cidr = parseCidr(text)
  if (cidr === undefined) {
    const why = text.includes('/') ? 'unable to parse IP' : "no '/'"
    return `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${why}`
  }
  return isMapped(cidr) ? `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` : cidr
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
  isLinkLocalMulticast: (address) =>
    address.family === 4 ? top(address, 24) === 0xe00000n : top(address, 16) === 0xff02n,
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
      (outer: CidrValue, text: string) => contains(outer, ip(text).ip),
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

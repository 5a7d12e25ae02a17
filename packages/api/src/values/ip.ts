/** IP addresses and CIDRs as Kubernetes reads them, and the canonical forms of RFC 5952. */

/** `value` is the number that the bytes make. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** Any address of the network and the length of its prefix. */
export interface Cidr extends IpAddress {
  readonly bits: number
}

const STRICT_NUMBER = /^(?:0|[1-9]\d{0,2})$/
/** As many leading zeros as somebody likes. */
const LENIENT_NUMBER = /^\d+$/

/** Octets with leading zeros are refused unless `lenient`. */
function parseIPv4(text: string, lenient: boolean): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    const pattern = lenient ? LENIENT_NUMBER : STRICT_NUMBER
    if (!pattern.test(part) || Number(part) > 255) return undefined
    value = value * 256n + BigInt(Number(part))
  }
  return value
}

function parseIPv6(text: string, lenient: boolean): bigint | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupsOf(halves[0]!, lenient)
  const tail = halves.length === 2 ? groupsOf(halves[1]!, lenient) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  let value = 0n
  for (const group of [...head, ...Array.from({ length: missing }, () => 0), ...tail]) {
    value = value * 65536n + BigInt(group)
  }
  return value
}

function groupsOf(text: string, lenient: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const embedded = index === parts.length - 1 ? parseIPv4(part, lenient) : undefined
      if (embedded === undefined) return undefined
      groups.push(Number(embedded >> 16n), Number(embedded & 0xffffn))
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined
      groups.push(Number.parseInt(part, 16))
    }
  }
  return groups
}

export function parseIp(text: string, lenient = false): IpAddress | undefined {
  const value = text.includes(':') ? parseIPv6(text, lenient) : parseIPv4(text, lenient)
  if (value === undefined) return undefined
  return { family: text.includes(':') ? 6 : 4, value }
}

export function formatIp({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    Number((value >> BigInt(112 - 16 * index)) & 0xffffn),
  )
  let [bestStart, bestLength] = [-1, 1]
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && groups[end] === 0) end++
    if (end - start > bestLength) [bestStart, bestLength] = [start, end - start]
  }
  const text = groups.map((group) => group.toString(16))
  if (bestStart < 0) return text.join(':')
  return `${text.slice(0, bestStart).join(':')}::${text.slice(bestStart + bestLength).join(':')}`
}

/** Octets and prefixes with leading zeros are refused unless `lenient`. */
export function parseCidr(text: string, lenient = false): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseIp(text.slice(0, slash), lenient)
  const digits = text.slice(slash + 1)
  const pattern = lenient ? LENIENT_NUMBER : STRICT_NUMBER
  if (address === undefined || !pattern.test(digits)) return undefined
  const bits = Number(digits)
  return bits > (address.family === 4 ? 32 : 128) ? undefined : { ...address, bits }
}

/** The first address of the network. */
export function maskedCidr(cidr: Cidr): Cidr {
  const hostBits = BigInt((cidr.family === 4 ? 32 : 128) - cidr.bits)
  return { ...cidr, value: (cidr.value >> hostBits) << hostBits }
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr)}/${cidr.bits}`
}

/** Whether `inner` lies in `outer` and is smaller. */
export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.family !== outer.family || inner.bits <= outer.bits) return false
  const shift = BigInt((inner.family === 4 ? 32 : 128) - outer.bits)
  return inner.value >> shift === outer.value >> shift
}

/** Whether two networks share an address: then one contains the other. */
export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  if (a.family !== b.family) return false
  const shift = BigInt((a.family === 4 ? 32 : 128) - Math.min(a.bits, b.bits))
  return a.value >> shift === b.value >> shift
}

/** Whether the address lies in the network, its first and last ones too. */
export function cidrContains(cidr: Cidr, ip: IpAddress): boolean {
  return cidrsOverlap(cidr, { ...ip, bits: cidr.bits })
}

/** The last address of the network: for IPv4 the broadcast address. */
export function lastAddress(cidr: Cidr): IpAddress {
  const hostBits = BigInt((cidr.family === 4 ? 32 : 128) - cidr.bits)
  return { family: cidr.family, value: maskedCidr(cidr).value + (1n << hostBits) - 1n }
}

/** As in addresses and URLs: `10.0.0.1:80`, `[fd00::1]:80`, `localhost:80`. */
export function hostAndPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

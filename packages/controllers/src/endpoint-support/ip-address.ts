/** IP addresses as Services and pods have them, and which families a Service asks for. */
import type { Service } from '@gyropilot/api'

export type IpFamily = 'IPv4' | 'IPv6'

interface IpAddress {
  readonly family: IpFamily
  /** Canonical: no leading zeros, RFC 5952 for IPv6, the IPv4 form of an IPv4-mapped address. */
  readonly text: string
}

const IPV4_MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/** Undefined for text that is no address. Octets with leading zeros are decimal. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (!text.includes(':')) return parseIPv4(text)
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1)
  const mapped = IPV4_MAPPED.exec(canonical)
  if (mapped === null) return { family: 'IPv6', text: canonical }
  const bytes = mapped.slice(1).flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
  return { family: 'IPv4', text: bytes.join('.') }
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const CANONICAL_IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)

function parseIPv4(text: string): IpAddress | undefined {
  if (CANONICAL_IPV4.test(text)) return { family: 'IPv4', text }
  const octets = text.split('.')
  if (octets.length !== 4) return undefined
  if (!octets.every((octet) => /^\d+$/.test(octet) && Number(octet) <= 255)) return undefined
  return { family: 'IPv4', text: octets.map(Number).join('.') }
}

/**
 * `spec.ipFamilies`, or where that is empty the family of the cluster IP. None: the Service is
 * headless and says nothing about families.
 */
export function declaredFamilies({ spec }: Service): readonly IpFamily[] {
  const families = (spec?.ipFamilies ?? []).filter((family) => family !== '')
  if (families.length > 0) return families
  if (!hasClusterIp(spec?.clusterIP)) return []
  const family = parseIpAddress(spec!.clusterIP!)?.family
  return family === undefined ? [] : [family]
}

/** Headless: without an address of its own. */
export function isHeadless({ spec }: Service): boolean {
  return !hasClusterIp(spec?.clusterIP)
}

function hasClusterIp(clusterIp: string | undefined): boolean {
  return clusterIp !== undefined && clusterIp !== '' && clusterIp !== 'None'
}

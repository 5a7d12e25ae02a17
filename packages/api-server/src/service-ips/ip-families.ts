/** Defaults and checks of ipFamilyPolicy and ipFamilies, given which families the cluster has service ranges for. */
import { semanticEqual } from '@gyropilot/api'
import { validateClusterIpFields } from '../kinds/core/service-addresses.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { parseIp } from '@gyropilot/schema/validation/ip'

export type IpFamily = 'IPv4' | 'IPv6'

export function familyOf(ip: string): IpFamily {
  return parseIp(ip)?.family === 6 ? 'IPv6' : 'IPv4'
}

interface FamilyRequest {
  readonly service: Draft
  /** What is stored, for an update. */
  readonly stored: Stored | undefined
  /** The cluster's families, its first one first. */
  readonly configured: readonly IpFamily[]
}

/** Does nothing for ExternalName. */
export function setIpFamilies(request: FamilyRequest, errors: FieldErrors): void {
  const { service, stored, configured } = request
  const { spec } = service
  if (spec.type === 'ExternalName' || isSettledDualStack(service, stored)) return
  const isSelectorless = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0
  spec['ipFamilyPolicy'] ??=
    stored?.['spec'].ipFamilyPolicy ?? (isSelectorless ? 'RequireDualStack' : 'SingleStack')
  validateClusterIpFields(spec, errors)
  if (errors.list.length > 0) return
  if (stored !== undefined) release(spec, stored['spec'], errors)
  refuseSecondsOfSingleStack(spec, errors)
  inferFromAddresses(spec, configured, errors)
  if (errors.list.length > 0) return
  if (isSelectorless) setSelectorless(spec, configured)
  else setOrdinary(spec, configured, errors)
}

/** A PreferDualStack service whose addresses stay is not moved when the cluster's families change. */
function isSettledDualStack({ spec }: Draft, stored: Stored | undefined): boolean {
  const before = stored?.['spec']
  return (
    before?.type === spec['type'] &&
    spec['ipFamilyPolicy'] === 'PreferDualStack' &&
    (before?.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    semanticEqual(before?.clusterIPs ?? [], spec['clusterIPs'] ?? []) &&
    semanticEqual(before?.ipFamilies ?? [], spec['ipFamilies'] ?? [])
  )
}

/** The policy SingleStack gives the second address and family back; no other policy may lose them. */
function release(spec: Draft, before: Stored, errors: FieldErrors): void {
  const parts = [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const
  for (const [field, what] of parts) {
    const now: readonly string[] = spec[field] ?? []
    const old: readonly string[] = before[field] ?? []
    if (spec['ipFamilyPolicy'] === 'SingleStack') {
      if (now.length > 1 && semanticEqual(now, old)) spec[field] = now.slice(0, 1)
    } else if (now.length > 0 && now.length < old.length) {
      errors.invalid(
        'spec.ipFamilyPolicy',
        spec['ipFamilyPolicy'],
        `must be 'SingleStack' to release the secondary ${what}`,
      )
    }
  }
}

function refuseSecondsOfSingleStack(spec: Draft, errors: FieldErrors): void {
  if (spec['ipFamilyPolicy'] !== 'SingleStack') return
  const parts = [
    ['clusterIPs', 'cluster IPs'],
    ['ipFamilies', 'IP families'],
  ] as const
  for (const [field, what] of parts) {
    if (spec[field]?.length !== 2) continue
    errors.invalid(
      'spec.ipFamilyPolicy',
      'SingleStack',
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    )
  }
}

/** Addresses that the user chose say which families are meant. */
function inferFromAddresses(
  spec: Draft,
  configured: readonly IpFamily[],
  errors: FieldErrors,
): void {
  const ips: readonly string[] = spec['clusterIPs'] ?? []
  if (ips[0] === 'None') return
  for (const [index, ip] of ips.entries()) {
    const families: IpFamily[] = spec['ipFamilies'] ?? []
    const family = familyOf(ip)
    if (index < families.length) continue
    if (configured.includes(family)) spec['ipFamilies'] = [...families, family]
    else
      errors.invalid(
        `spec.clusterIPs[${index}]`,
        ips,
        `${family} is not configured on this cluster`,
      )
  }
}

/** Headless without selector: nobody here knows the endpoints, so every family is possible. */
function setSelectorless(spec: Draft, configured: readonly IpFamily[]): void {
  const families: IpFamily[] = spec['ipFamilies'] ?? []
  const first = families[0] ?? configured[0]!
  const isDual = families.length === 2 || spec['ipFamilyPolicy'] !== 'SingleStack'
  spec['ipFamilies'] = isDual ? [first, families[1] ?? otherOf(first)] : [first]
}

const otherOf = (family: IpFamily): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

function setOrdinary(spec: Draft, configured: readonly IpFamily[], errors: FieldErrors): void {
  const families: IpFamily[] = spec['ipFamilies'] ?? []
  const policy: string = spec['ipFamilyPolicy']
  if (policy === 'RequireDualStack' && configured.length < 2) {
    errors.invalid(
      'spec.ipFamilyPolicy',
      policy,
      'this cluster is not configured for dual-stack services',
    )
  }
  for (const [i, family] of families.entries()) {
    if (!configured.includes(family))
      errors.invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')
  }
  if (errors.list.length > 0) return
  const first = families[0] ?? configured[0]!
  const isDual = families.length === 2 || (policy !== 'SingleStack' && configured.length === 2)
  spec['ipFamilies'] = isDual ? [first, families[1] ?? otherOf(first)] : [first]
}

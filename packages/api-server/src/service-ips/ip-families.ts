/** Defaults and checks of ipFamilyPolicy and ipFamilies, given which families the cluster has service ranges for. */
import { parseIp } from '../schema/validation/ip.ts'
import type { FieldErrors } from '../schema/field-errors.ts'
import type { Draft } from '../registry/kind-rules.ts'
import { isHeadless, needsClusterIp } from './service-fields.ts'

export type IpFamily = 'IPv4' | 'IPv6'

export function familyOf(ip: string): IpFamily {
  return parseIp(ip)?.family === 6 ? 'IPv6' : 'IPv4'
}

/** `configured`: the cluster's families, its first one first. Does nothing for ExternalName. */
export function setIpFamilies(
  service: Draft,
  configured: readonly IpFamily[],
  errors: FieldErrors,
): void {
  if (!needsClusterIp(service)) return
  const { spec } = service
  const isSelectorless = isHeadless(service) && Object.keys(spec.selector ?? {}).length === 0
  inferFromAddresses(spec)
  if (isSelectorless) setSelectorless(spec, configured)
  else setOrdinary(spec, configured, errors)
}

/** Addresses that the user chose say which families are meant. */
function inferFromAddresses(spec: Draft): void {
  const given: string[] = (spec['clusterIPs'] ?? []).filter(
    (ip: string) => ip !== 'None' && parseIp(ip) !== undefined,
  )
  if (given.length > (spec['ipFamilies'] ?? []).length) {
    spec['ipFamilies'] = [
      ...(spec['ipFamilies'] ?? []),
      ...given.slice((spec['ipFamilies'] ?? []).length).map(familyOf),
    ]
  }
}

/** Headless without selector: nobody here knows the endpoints, so every family is possible. */
function setSelectorless(spec: Draft, configured: readonly IpFamily[]): void {
  const families: IpFamily[] = spec['ipFamilies'] ?? []
  spec['ipFamilyPolicy'] ??= families.length === 1 ? 'SingleStack' : 'RequireDualStack'
  const first = families[0] ?? configured[0]!
  const other: IpFamily = first === 'IPv4' ? 'IPv6' : 'IPv4'
  if (spec['ipFamilyPolicy'] === 'SingleStack')
    spec['ipFamilies'] = families.length === 0 ? [first] : families
  else spec['ipFamilies'] = families.length === 2 ? families : [first, other]
}

function setOrdinary(spec: Draft, configured: readonly IpFamily[], errors: FieldErrors): void {
  const families: IpFamily[] = spec['ipFamilies'] ?? []
  spec['ipFamilyPolicy'] ??= families.length === 2 ? 'RequireDualStack' : 'SingleStack'
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
  const wanted = policy === 'SingleStack' ? 1 : Math.min(2, configured.length)
  const chosen = [...families]
  for (const family of configured) {
    if (chosen.length < wanted && !chosen.includes(family)) chosen.push(family)
  }
  spec['ipFamilies'] = chosen
}

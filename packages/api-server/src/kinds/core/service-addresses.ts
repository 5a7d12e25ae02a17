/** What a Service's clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy must have in common. */
import type { ServiceSpec } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { parseIp, validateIp } from '@gyropilot/schema/validation/ip'

const FAMILIES = ['IPv4', 'IPv6']
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const FIXED = 'may not change once set'

export function isHeadlessSpec(spec: StoredOf<ServiceSpec>): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None'
}

const isIPv6 = (ip: string): boolean => parseIp(ip)?.family === 6

/** Checked twice: before addresses are given, and again with everything else. */
export function validateClusterIpFields(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  if (spec.type === 'ExternalName') return
  const ips: readonly string[] = spec.clusterIPs ?? []
  validateMirror(spec, ips, errors)
  validateFamilies(spec, errors)
  if (!validateEach(ips, errors)) return
  if (ips.length > 1 && !isDualStack(ips))
    errors.invalid('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family')
  if (isHeadlessSpec(spec)) return
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    const ip = ips[index]
    if (ip === undefined || !FAMILIES.includes(family)) continue
    if (isIPv6(ip) !== (family === 'IPv6')) {
      errors.invalid(
        `spec.clusterIPs[${index}]`,
        ip,
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
      )
    }
  }
}

function validateMirror(
  spec: StoredOf<ServiceSpec>,
  ips: readonly string[],
  errors: FieldErrors,
): void {
  const field = 'spec.clusterIPs'
  if (!spec.clusterIP) {
    if (ips.length > 0)
      errors.invalid(field, ips, 'must be empty when `clusterIP` is not specified')
  } else if (ips.length === 0) errors.required(field)
  else if (ips[0] !== spec.clusterIP)
    errors.invalid(field, ips, 'first value must match `clusterIP`')
}

function validateFamilies(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    const field = `spec.ipFamilies[${index}]`
    if (!FAMILIES.includes(family)) errors.notSupported(field, family, FAMILIES)
    if (seen.has(family)) errors.duplicate(field, family)
    seen.add(family)
  }
  const policy: string | undefined = spec.ipFamilyPolicy
  if (policy !== undefined && !POLICIES.includes(policy))
    errors.notSupported('spec.ipFamilyPolicy', policy, POLICIES)
}

/** Whether the addresses are good enough to be compared with each other. */
function validateEach(ips: readonly string[], errors: FieldErrors): boolean {
  let isGood = true
  for (const [index, ip] of ips.entries()) {
    if (index === 0 && ip === 'None') {
      if (ips.length === 1) continue
      isGood = false
      errors.invalid('spec.clusterIPs', ips, "'None' must be the first and only value")
    } else {
      const before = errors.list.length
      validateIp(ip, errors, `spec.clusterIPs[${index}]`)
      if (errors.list.length > before) isGood = false
    }
  }
  if (ips.length > 2) errors.invalid('spec.clusterIPs', ips, 'may only hold up to 2 values')
  return isGood
}

function isDualStack(ips: readonly string[]): boolean {
  return ips.some(isIPv6) && !ips.every(isIPv6)
}

/** The first address and family stay; the second may come, and go together with the policy `SingleStack`. */
export function validateAddressUpdate(
  now: StoredOf<ServiceSpec>,
  before: StoredOf<ServiceSpec>,
  errors: FieldErrors,
): void {
  if (now.type === 'ExternalName' || before.type === 'ExternalName') return
  if (isHeadlessSpec(now) && isHeadlessSpec(before)) return
  validateIpsUpdate(now, before, errors)
  if (isHeadlessSpec(now) || isHeadlessSpec(before)) return
  validateFamiliesUpdate(now, before, errors)
}

function validateIpsUpdate(
  now: StoredOf<ServiceSpec>,
  before: StoredOf<ServiceSpec>,
  errors: FieldErrors,
): void {
  const ips: readonly string[] = now.clusterIPs ?? []
  const old: readonly string[] = before.clusterIPs ?? []
  if (old.length === ips.length) {
    for (const [index, ip] of old.entries())
      if (ip !== ips[index]) errors.invalid(`spec.clusterIPs[${index}]`, ips, FIXED)
    return
  }
  const at = 'spec.clusterIPs[0]'
  if (ips.length === 0) errors.invalid(at, ips, 'primary clusterIP can not be unset')
  else if (old.length > 0 && ips[0] !== old[0]) errors.invalid(at, ips, FIXED)
  if (ips.length === 1 && old.length > 1) validateRelease(now, 'clusterIP', errors)
}

function validateFamiliesUpdate(
  now: StoredOf<ServiceSpec>,
  before: StoredOf<ServiceSpec>,
  errors: FieldErrors,
): void {
  const families: readonly string[] = now.ipFamilies ?? []
  const old: readonly string[] = before.ipFamilies ?? []
  const at = 'spec.ipFamilies[0]'
  if (old.length === families.length) {
    for (const [index, family] of old.entries())
      if (family !== families[index]) errors.invalid(at, families, FIXED)
    return
  }
  if (families.length > 0 && old.length > 0 && families[0] !== old[0])
    errors.invalid(at, now.clusterIPs ?? null, FIXED)
  if (families.length === 1 && old.length > 1) validateRelease(now, 'ipFamily', errors)
}

function validateRelease(now: StoredOf<ServiceSpec>, what: string, errors: FieldErrors): void {
  if (now.ipFamilyPolicy === 'SingleStack') return
  errors.invalid(
    'spec.ipFamilyPolicy',
    now.ipFamilyPolicy ?? null,
    `must be set to 'SingleStack' when releasing the secondary ${what}`,
  )
}

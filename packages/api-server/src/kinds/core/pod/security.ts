/** Security contexts of pods and containers. */
import type {
  AppArmorProfile,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, windowsUserName } from '@gyropilot/schema/validation/names'
import { INT32_MAX, isNumber, validateRange } from '@gyropilot/schema/validation/numbers'
import { validateDescendingPath } from './volume-sources.ts'

function validateId(value: unknown, errors: FieldErrors, field: string): void {
  if (isNumber(value)) validateRange(value, 0, INT32_MAX, errors, field)
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']

function validateSeccompProfile(
  profile: StoredOf<SeccompProfile> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!profile) return
  const local: string | undefined = profile.localhostProfile
  if (!profile.type) errors.required(`${field}.type`, 'type is required when seccompProfile is set')
  else if (!PROFILE_TYPES.includes(profile.type))
    errors.notSupported(`${field}.type`, profile.type, PROFILE_TYPES)
  const at = `${field}.localhostProfile`
  if (profile.type !== 'Localhost') {
    if (local !== undefined)
      errors.invalid(
        at,
        { Type: profile.type ?? '', LocalhostProfile: local },
        'can only be set when seccomp type is Localhost',
      )
  } else if (local === undefined) errors.required(at, 'must be set when seccomp type is Localhost')
  else validateDescendingPath(local, errors, at)
}

const PROFILE_PATH_LIMIT = 4095

function validateAppArmorProfile(
  profile: StoredOf<AppArmorProfile> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!profile) return
  const at = `${field}.localhostProfile`
  const local: string | undefined = profile.localhostProfile
  if (!profile.type)
    errors.required(`${field}.type`, 'type is required when appArmorProfile is set')
  else if (!PROFILE_TYPES.includes(profile.type))
    errors.notSupported(`${field}.type`, profile.type, PROFILE_TYPES)
  else if (profile.type !== 'Localhost') {
    if (local !== undefined)
      errors.invalid(at, local, 'can only be set when AppArmor type is Localhost')
  } else if (local === undefined || local === '')
    errors.required(at, 'must be set when AppArmor type is Localhost')
  else {
    if (local !== local.trim()) errors.invalid(at, local, 'must not be padded with whitespace')
    if (local.length > PROFILE_PATH_LIMIT) errors.tooLong(at, PROFILE_PATH_LIMIT)
  }
}

const SYSCTL_LENGTH_MAX = 253
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const SYSCTL_OF_IPC =
  /^(kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)$|fs\.mqueue\.)/

/** What a pod sets in namespaces of the kernel that it shares with the node would be set on the node. */
function validateSysctls(spec: StoredOf<PodSpec>, errors: FieldErrors, field: string): void {
  const names = new Set<string>()
  for (const [index, { name = '' }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const at = `${field}[${index}].name`
    if (name === '') errors.required(at)
    else if (name.length > SYSCTL_LENGTH_MAX || !SYSCTL.test(name)) {
      errors.invalid(
        at,
        name,
        'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      )
    } else if (names.has(name)) errors.duplicate(at, name)
    names.add(name)
    const dotted = withDots(name)
    for (const [shared, affected] of [
      ['hostNetwork', dotted.startsWith('net.')],
      ['hostIPC', SYSCTL_OF_IPC.test(dotted)],
    ] as const)
      if (spec[shared] === true && affected)
        errors.invalid(at, name, `may not be specified when '${shared}' is true`)
  }
}

/** `net/ipv4/conf/eth0.1` is `net.ipv4.conf.eth0/1`: what stands first parts the segments. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name
  return name.replaceAll(/[./]/g, (sign) => (sign === '/' ? '.' : '/'))
}

export function validatePodSecurityContext(
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const context = spec.securityContext
  if (!context) return
  validateId(context.fsGroup, errors, `${field}.fsGroup`)
  validateId(context.runAsUser, errors, `${field}.runAsUser`)
  validateId(context.runAsGroup, errors, `${field}.runAsGroup`)
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    validateId(group, errors, `${field}.supplementalGroups[${index}]`)
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.invalid(
      `${field}.shareProcessNamespace`,
      true,
      'ShareProcessNamespace and HostPID cannot both be enabled',
    )
  }
  validateSysctls(spec, errors, `${field}.sysctls`)
  if (
    context.fsGroupChangePolicy !== undefined &&
    !['Always', 'OnRootMismatch'].includes(context.fsGroupChangePolicy)
  ) {
    errors.notSupported(`${field}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
      'Always',
      'OnRootMismatch',
    ])
  }
  validateSeccompProfile(context.seccompProfile, errors, `${field}.seccompProfile`)
  validateWindowsOptions(context.windowsOptions, errors, `${field}.windowsOptions`)
  validateAppArmorProfile(context.appArmorProfile, errors, `${field}.appArmorProfile`)
  for (const [name, values] of [
    ['supplementalGroupsPolicy', ['Merge', 'Strict']],
    ['seLinuxChangePolicy', ['Recursive']],
  ] as const) {
    const value: string | undefined = context[name]
    if (value !== undefined && !(values as readonly string[]).includes(value))
      errors.notSupported(`${field}.${name}`, value, values)
  }
}

/** Names of users are `DOMAIN\\user` or `user`. */
function validateWindowsOptions(
  options: StoredOf<WindowsSecurityContextOptions> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!options) return
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  if (gmsaCredentialSpecName !== undefined) {
    const at = `${field}.gmsaCredentialSpecName`
    invalidAll(errors, at, gmsaCredentialSpecName, dnsSubdomain(gmsaCredentialSpecName))
  }
  if (gmsaCredentialSpec === '')
    errors.invalid(
      `${field}.gmsaCredentialSpec`,
      gmsaCredentialSpec,
      'gmsaCredentialSpec cannot be an empty string',
    )
  else if ((gmsaCredentialSpec ?? '').length > 64 * 1024)
    errors.invalid(
      `${field}.gmsaCredentialSpec`,
      gmsaCredentialSpec,
      'gmsaCredentialSpec size must be under 64 KiB',
    )
  if (runAsUserName !== undefined)
    invalidAll(errors, `${field}.runAsUserName`, runAsUserName, windowsUserName(runAsUserName))
}

export function validateContainerSecurityContext(
  context: StoredOf<SecurityContext> | undefined,
  hostUsers: boolean,
  errors: FieldErrors,
  field: string,
): void {
  if (!context) return
  validateId(context.runAsUser, errors, `${field}.runAsUser`)
  validateId(context.runAsGroup, errors, `${field}.runAsGroup`)
  if (context.procMount !== undefined && !['Default', 'Unmasked'].includes(context.procMount)) {
    errors.notSupported(`${field}.procMount`, context.procMount, ['Default', 'Unmasked'])
  }
  if (context.procMount === 'Unmasked' && hostUsers)
    errors.invalid(`${field}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')
  validateSeccompProfile(context.seccompProfile, errors, `${field}.seccompProfile`)
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      errors.invalid(
        field,
        internalForm(context, 'SecurityContext'),
        'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      )
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability === 'CAP_SYS_ADMIN') {
        errors.invalid(
          field,
          internalForm(context, 'SecurityContext'),
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        )
      }
    }
  }
  validateWindowsOptions(context.windowsOptions, errors, `${field}.windowsOptions`)
  validateAppArmorProfile(context.appArmorProfile, errors, `${field}.appArmorProfile`)
}

/** Security contexts of pods and containers. */
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { INT32_MAX, validateRange } from '../../../schema/validation/numbers.ts'

function validateId(value: unknown, errors: FieldErrors, field: string): void {
  if (typeof value === 'number') validateRange(value, 0, INT32_MAX, errors, field)
}

const SECCOMP_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']

/** seccompProfile and appArmorProfile have the same shape. */
function validateProfile(profile: Stored | undefined, errors: FieldErrors, field: string): void {
  if (!profile) return
  if (!SECCOMP_TYPES.includes(profile.type)) {
    if (!profile.type)
      errors.required(`${field}.type`, 'type is required when seccompProfile is set')
    else errors.notSupported(`${field}.type`, profile.type, SECCOMP_TYPES)
    return
  }
  if (profile.type === 'Localhost') {
    if (!profile.localhostProfile)
      errors.required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost')
  } else if (profile.localhostProfile !== undefined) {
    errors.invalid(
      `${field}.localhostProfile`,
      profile.localhostProfile,
      'can only be set when seccomp type is Localhost',
    )
  }
}

export function validatePodSecurityContext(spec: Stored, errors: FieldErrors, field: string): void {
  const context: Stored | undefined = spec.securityContext
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
  const names = new Set<string>()
  for (const [index, sysctl] of (context.sysctls ?? []).entries()) {
    const at = `${field}.sysctls[${index}].name`
    if (!sysctl.name) errors.required(at)
    else if (
      !/^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/.test(sysctl.name)
    ) {
      errors.invalid(
        at,
        sysctl.name,
        'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      )
    } else if (names.has(sysctl.name)) errors.duplicate(at, sysctl.name)
    names.add(sysctl.name)
  }
  if (
    context.fsGroupChangePolicy !== undefined &&
    !['Always', 'OnRootMismatch'].includes(context.fsGroupChangePolicy)
  ) {
    errors.notSupported(`${field}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
      'Always',
      'OnRootMismatch',
    ])
  }
  validateProfile(context.seccompProfile, errors, `${field}.seccompProfile`)
  validateProfile(context.appArmorProfile, errors, `${field}.appArmorProfile`)
}

export function validateContainerSecurityContext(
  context: Stored | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!context) return
  validateId(context.runAsUser, errors, `${field}.runAsUser`)
  validateId(context.runAsGroup, errors, `${field}.runAsGroup`)
  if (context.procMount !== undefined && !['Default', 'Unmasked'].includes(context.procMount)) {
    errors.notSupported(`${field}.procMount`, context.procMount, ['Default', 'Unmasked'])
  }
  validateProfile(context.seccompProfile, errors, `${field}.seccompProfile`)
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      errors.invalid(
        field,
        context,
        'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      )
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability === 'CAP_SYS_ADMIN') {
        errors.invalid(
          field,
          context,
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        )
      }
    }
  }
  validateProfile(context.appArmorProfile, errors, `${field}.appArmorProfile`)
}

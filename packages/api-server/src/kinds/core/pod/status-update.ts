import type { ContainerStatus, Pod, PodIP, PodSpec } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { parseIp, validateIp } from '@gyropilot/schema/validation/ip'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { validateAnnotationsUpdate } from './annotations.ts'
import { validateClaimStatuses } from './claim-statuses.ts'
import { validateContainerStatuses } from './container-status.ts'

/** The types that Kubernetes itself writes are no qualified names of anybody's. */
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized']

export function validatePodStatusUpdate(
  object: StoredOf<Pod>,
  stored: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  const status = object.status ?? {}
  const before = stored.status ?? {}
  validateAnnotationsUpdate(object, stored, errors)
  for (const [index, { type = '', observedGeneration }] of (status.conditions ?? []).entries()) {
    const field = `status.conditions[${index}]`
    validateNonNegativeInteger(observedGeneration, errors, `${field}.observedGeneration`)
    if (!SYSTEM_CONDITIONS.includes(type))
      invalidAll(errors, `${field}.Type`, type, qualifiedName(type))
  }
  const nominated: string = status.nominatedNodeName ?? ''
  if (nominated !== '' && nominated !== before.nominatedNodeName) {
    invalidAll(errors, 'status.nominatedNodeName', nominated, dnsSubdomain(nominated))
    if (stored.spec?.nodeName)
      errors.forbidden(
        'status.nominatedNodeName',
        'may not be set on pods that are already bound to a node',
      )
  }
  validateNonNegativeInteger(status.observedGeneration, errors, 'status.observedGeneration')
  if ((before.qosClass ?? '') !== (status.qosClass ?? ''))
    errors.invalid('status.qosClass', status.qosClass ?? '', 'field is immutable')
  const spec = object.spec ?? {}
  validateTransitions(
    status.containerStatuses,
    before.containerStatuses,
    [spec, 'containers'],
    errors,
  )
  validateTransitions(
    status.initContainerStatuses,
    before.initContainerStatuses,
    [spec, 'initContainers'],
    errors,
  )
  validateClaimStatuses(object, errors)
  validateAddresses(status.podIPs, before.podIPs, errors, 'status.podIPs')
  const [firstHost] = status.hostIPs ?? []
  if (firstHost !== undefined && (firstHost.ip ?? '') !== (status.hostIP ?? ''))
    errors.invalid('status.hostIPs[0].ip', firstHost.ip ?? '', 'must be equal to `hostIP`')
  validateAddresses(status.hostIPs, before.hostIPs, errors, 'status.hostIPs')
  validateContainerStatuses(object, errors)
}

function validateNonNegativeInteger(
  value: number | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if ((value ?? 0) < 0) errors.invalid(field, value, 'must be a non-negative integer')
}

function validateAddresses(
  now: readonly StoredOf<PodIP>[] | undefined,
  before: readonly StoredOf<PodIP>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (JSON.stringify(now) === JSON.stringify(before)) return
  const ips: readonly string[] = (now ?? []).map(({ ip }) => ip ?? '')
  for (const [index, ip] of ips.entries()) validateIp(ip, errors, `${field}[${index}]`)
  if (ips.length < 2) return
  const families = new Set(ips.map((ip) => parseIp(ip)?.family))
  const bad = ips.findIndex((ip) => parseIp(ip) === undefined)
  if (bad >= 0)
    errors.internal(
      field,
      `failed to check for dual stack with error:invalid IP[${bad}]: ${ips[bad]}`,
    )
  if (bad >= 0 || ips.length > 2 || families.size < 2) {
    errors.invalid(
      field,
      ips.map((ip) => ({ IP: ip })),
      'may specify no more than one IP for each IP family',
    )
  }
}

/** A container that has ended for good stays ended. */
function validateTransitions(
  now: readonly StoredOf<ContainerStatus>[] | undefined,
  before: readonly StoredOf<ContainerStatus>[] | undefined,
  [spec, list]: readonly [StoredOf<PodSpec>, 'containers' | 'initContainers'],
  errors: FieldErrors,
): void {
  const field = list === 'containers' ? 'status.containerStatuses' : 'status.initContainerStatuses'
  if (spec.restartPolicy === 'Always') return
  const given = new Map((now ?? []).map((status) => [status.name, status] as const))
  for (const [index, old] of (before ?? []).entries()) {
    const { terminated } = old.state ?? {}
    if (!terminated || (terminated.exitCode !== 0 && spec.restartPolicy === 'OnFailure')) continue
    const container = (spec[list] ?? []).find(({ name }) => name === old.name)
    if (container?.restartPolicy !== undefined) continue
    const status = given.get(old.name)
    if (status && !status.state?.terminated)
      errors.forbidden(
        `${field}[${index}].state`,
        'may not be transitioned to non-terminated state',
      )
  }
}

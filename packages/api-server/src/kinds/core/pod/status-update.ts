import type { ContainerStatus, Pod, PodIP, PodSpec, PodStatus } from '@gyropilot/api'
import { mayRestartAllContainers, mayStartAgain } from '@gyropilot/api'
import type { DraftOf, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { canonicalIpWarnings, parseIp, validateIp } from '@gyropilot/schema/validation/ip'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { validateAnnotationsUpdate } from './annotations.ts'
import { validateClaimStatuses } from './claim-statuses.ts'
import { validateContainerStatuses } from './container-status.ts'

/** The types that Kubernetes itself writes are no qualified names of anybody's. */
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized']

/** Writers that do not know the field do not take it away. Of one type the nth condition goes on from the nth that was there. */
export function keepObservedGenerations(
  status: DraftOf<PodStatus>,
  before: StoredOf<PodStatus>,
): void {
  status.observedGeneration ||= before.observedGeneration
  if (status.observedGeneration === undefined) delete status.observedGeneration
  const { conditions = [] } = status
  if (conditions.every(({ observedGeneration }) => observedGeneration)) return
  const known = Map.groupBy(before.conditions ?? [], ({ type }) => type)
  status.conditions = conditions.map((condition) => {
    const observedGeneration = known.get(condition.type)?.shift()?.observedGeneration
    if (condition.observedGeneration || !observedGeneration) return condition
    return { ...condition, observedGeneration }
  })
}

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
  validateTransitions(object.spec ?? {}, status, before, errors)
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

/** With each write, also of what stays. */
export function podStatusWarnings({ status = {} }: StoredOf<Pod>): string[] {
  const { podIPs = [], hostIPs = [] } = status
  return [
    ...podIPs.flatMap(({ ip = '' }, at) => canonicalIpWarnings(ip, `status.podIPs[${at}].ip`)),
    ...hostIPs.flatMap(({ ip = '' }, at) => canonicalIpWarnings(ip, `status.hostIPs[${at}].ip`)),
  ]
}

/** A container that has ended for good stays ended. */
function validateTransitions(
  spec: StoredOf<PodSpec>,
  now: StoredOf<PodStatus>,
  before: StoredOf<PodStatus>,
  errors: FieldErrors,
): void {
  const lists = [
    ['containerStatuses', spec.containers],
    ['initContainerStatuses', spec.initContainers],
    // They never start again, whatever restarts the others.
    ['ephemeralContainerStatuses', []],
  ] as const
  const mayRestartAll = mayRestartAllContainers(spec)
  for (const [list, containers] of lists) {
    if (mayRestartAll && list !== 'ephemeralContainerStatuses') continue
    refuseRestarts(now[list], before[list], errors, `status.${list}`, (name, exitCode) => {
      const container = containers?.find((one) => one.name === name)
      return container !== undefined && mayStartAgain(container, spec.restartPolicy, exitCode)
    })
  }
}

/** At its old place, once for each status that says that it runs or waits. */
function refuseRestarts(
  now: readonly StoredOf<ContainerStatus>[] | undefined,
  before: readonly StoredOf<ContainerStatus>[] | undefined,
  errors: FieldErrors,
  field: string,
  mayStart: (name: string | undefined, exitCode: number) => boolean,
): void {
  if (!(before ?? []).some(({ state }) => state?.terminated)) return
  const started = Map.groupBy(
    (now ?? []).filter(({ state }) => !state?.terminated),
    ({ name }) => name,
  )
  for (const [index, { name, state }] of (before ?? []).entries()) {
    if (!state?.terminated || mayStart(name, state.terminated.exitCode ?? 0)) continue
    started
      .get(name)
      ?.forEach(() =>
        errors.forbidden(
          `${field}[${index}].state`,
          'may not be transitioned to non-terminated state',
        ),
      )
  }
}

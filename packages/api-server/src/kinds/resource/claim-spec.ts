/** What a claim asks for, of claims and of templates. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '@gyropilot/api'
import { nullWhenEmpty } from '../workload-template.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { DraftOf, StoredOf } from '../../registry/kind-rules.ts'
import {
  refuseRepeated,
  validateConfigs,
  validateCount,
  validateDeviceName,
  validateLabelName,
  validateSelectors,
  validateSubdomainName,
  validateTolerations,
} from './device-fields.ts'

const REQUESTS_MAX = 32
const ALTERNATIVES_MAX = 8
const CONSTRAINTS_MAX = 32
const MODES = ['All', 'ExactCount']
const UNKNOWN_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

export function defaultClaimSpec(devices: DraftOf<DeviceClaim> | undefined): void {
  for (const request of devices?.requests ?? []) {
    for (const part of [request.exactly, ...(request.firstAvailable ?? [])]) {
      if (!part) continue
      // An empty one is of a version that has no default where no class is asked for.
      part.allocationMode ??= 'ExactCount'
      if (part.allocationMode === 'ExactCount') part.count ||= 1
      for (const toleration of part.tolerations ?? []) toleration.operator ||= 'Equal'
    }
  }
}

/** No requests are written as null. */
export function canonicalizeClaimSpec(devices: DraftOf<DeviceClaim> | undefined): void {
  if (devices) nullWhenEmpty(devices, 'requests')
}

export function validateClaimSpec(
  devices: StoredOf<DeviceClaim> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const { constraints = [], config = [] } = devices ?? {}
  const requests = devices?.requests ?? []
  if (validateCount(requests, REQUESTS_MAX, errors, `${field}.requests`))
    validateRequests(requests, errors, `${field}.requests`)
  const names = requestNames(devices)
  if (validateCount(constraints, CONSTRAINTS_MAX, errors, `${field}.constraints`))
    for (const [index, constraint] of constraints.entries())
      validateConstraint(constraint, names, errors, `${field}.constraints[${index}]`)
  validateConfigs(config, errors, `${field}.config`, (each, at) =>
    validateRequestNames(each.requests ?? [], names, errors, `${at}.requests`),
  )
}

/** Of requests and of their alternatives. */
export function requestNames(devices: StoredOf<DeviceClaim> | undefined): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name = '', firstAvailable } of devices?.requests ?? []) {
    names.add(name)
    for (const sub of firstAvailable ?? []) names.add(`${name}/${sub.name}`)
  }
  return names
}

/** `r`, or `r/s`: more than one slash is no name, but nothing that is said of its parts. */
export function validateRequestName(
  name: string,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  const parts = name.split('/')
  if (parts.length <= 2) for (const part of parts) validateLabelName(part, errors, field)
  if (!names.has(name)) errors.invalid(field, name, UNKNOWN_REQUEST)
}

export function validateRequestNames(
  listed: readonly string[],
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  if (!validateCount(listed, REQUESTS_MAX, errors, field)) return
  for (const [index, name] of listed.entries())
    validateRequestName(name, names, errors, `${field}[${index}]`)
  refuseRepeated(listed, (name) => name, errors, field)
}

function validateRequests(
  requests: readonly StoredOf<DeviceRequest>[],
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, request] of requests.entries()) {
    const at = `${field}[${index}]`
    const { name = '', exactly, firstAvailable = [] } = request
    validateLabelName(name, errors, `${at}.name`)
    if (!exactly && firstAvailable.length === 0)
      errors.required(at, 'exactly one of `exactly` or `firstAvailable` is required')
    else if (exactly && firstAvailable.length > 0)
      errors.invalid(
        at,
        null,
        'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      )
    else if (exactly) validateWanted(exactly, errors, `${at}.exactly`)
    else validateAlternatives(firstAvailable, errors, `${at}.firstAvailable`)
  }
  refuseRepeated(requests, ({ name = '' }) => name, errors, field)
}

function validateAlternatives(
  alternatives: readonly StoredOf<DeviceSubRequest>[],
  errors: FieldErrors,
  field: string,
): void {
  if (!validateCount(alternatives, ALTERNATIVES_MAX, errors, field)) return
  for (const [index, sub] of alternatives.entries()) {
    const at = `${field}[${index}]`
    validateLabelName(sub.name, errors, `${at}.name`)
    validateWanted(sub, errors, at)
  }
  refuseRepeated(alternatives, ({ name = '' }) => name, errors, field)
}

function validateWanted(
  wanted: StoredOf<ExactDeviceRequest>,
  errors: FieldErrors,
  field: string,
): void {
  const { deviceClassName = '', selectors = [], tolerations = [] } = wanted
  const { allocationMode = '', count = 0 } = wanted
  validateSubdomainName(deviceClassName, errors, `${field}.deviceClassName`)
  validateSelectors(selectors, errors, `${field}.selectors`)
  if (!MODES.includes(allocationMode))
    errors.notSupported(`${field}.allocationMode`, allocationMode, MODES)
  else if (allocationMode === 'All' && count)
    errors.invalid(`${field}.count`, count, "must not be specified when allocationMode is 'All'")
  else if (allocationMode === 'ExactCount' && !(count > 0))
    errors.invalid(`${field}.count`, count, 'must be greater than zero')
  validateTolerations(tolerations, errors, `${field}.tolerations`)
}

function validateConstraint(
  { requests = [], matchAttribute, distinctAttribute }: StoredOf<DeviceConstraint>,
  names: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  validateRequestNames(requests, names, errors, `${field}.requests`)
  if (matchAttribute !== undefined)
    validateAttribute(matchAttribute, errors, `${field}.matchAttribute`)
  else if (distinctAttribute !== undefined)
    validateAttribute(distinctAttribute, errors, `${field}.distinctAttribute`)
  // In the words of kube-apiserver, though nothing is set.
  else
    errors.required(
      field,
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    )
}

function validateAttribute(name: string, errors: FieldErrors, field: string): void {
  validateDeviceName(name, errors, field)
  if (!name.includes('/'))
    errors.invalid(
      field,
      name,
      'a fully qualified name must be a domain and a name separated by a slash',
    )
}

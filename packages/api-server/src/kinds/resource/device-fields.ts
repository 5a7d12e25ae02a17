/** Checks of parts that several kinds of devices have. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type {
  DeviceClaimConfiguration,
  DeviceSelector,
  DeviceToleration,
  OpaqueDeviceConfiguration,
} from '@gyropilot/api'
import { cel, deviceSelectors } from '@gyropilot/cel/load'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateQualifiedName } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain, labelValue } from '@gyropilot/schema/validation/names'
import type { StoredOf } from '../../registry/kind-rules.ts'

const SELECTORS_MAX = 32
const EXPRESSION_BYTES_MAX = 10 * 1024
const CONFIGS_MAX = 32
const POOL_BYTES_MAX = 253
const DRIVER_BYTES_MAX = 63
const PARAMETERS_BYTES_MAX = 10 * 1024
const EFFECTS = ['NoExecute', 'NoSchedule', 'None']
const OPERATORS = ['Equal', 'Exists']

export function validateCount(
  items: readonly unknown[],
  maximum: number,
  errors: FieldErrors,
  field: string,
): boolean {
  if (items.length <= maximum) return true
  errors.tooMany(field, items.length, maximum)
  return false
}

/** Said of a list once its items were judged. */
export function refuseRepeated<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  errors: FieldErrors,
  field: string,
  printed: (item: T) => unknown = keyOf,
): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const key = keyOf(item)
    if (seen.has(key)) errors.duplicate(`${field}[${index}]`, printed(item))
    seen.add(key)
  }
}

export function validateSubdomainName(
  name: string | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!name) errors.required(field)
  else invalidAll(errors, field, name, dnsSubdomain(name))
}

export function validateDriver(
  driver: string | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (Buffer.byteLength(driver ?? '') > DRIVER_BYTES_MAX) errors.tooLong(field, DRIVER_BYTES_MAX)
  if (!driver) errors.required(field)
  else invalidAll(errors, field, driver, subdomainInAnyCase(driver))
}

/** Drivers, and the domains of what they say of devices, may have capital letters. */
const subdomainInAnyCase = (name: string): readonly string[] => dnsSubdomain(name.toLowerCase())

/** One or several subdomains with slashes between. */
export function validatePoolName(
  name: string | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!name) {
    errors.required(field)
    return
  }
  if (Buffer.byteLength(name) > POOL_BYTES_MAX) errors.tooLong(field, POOL_BYTES_MAX)
  for (const part of name.split('/')) invalidAll(errors, field, part, dnsSubdomain(part))
}

export function validateLabelName(
  name: string | undefined,
  errors: FieldErrors,
  field: string,
): void {
  invalidAll(errors, field, name ?? '', dnsLabel(name ?? ''))
}

/** `before`: expressions that are stored already are taken as they are. */
export function validateSelectors(
  selectors: readonly StoredOf<DeviceSelector>[],
  errors: FieldErrors,
  field: string,
  before: ReadonlySet<string> = new Set(),
): void {
  if (!validateCount(selectors, SELECTORS_MAX, errors, field)) return
  for (const [index, { cel: found }] of selectors.entries()) {
    const at = `${field}[${index}].cel`
    if (!found) errors.required(at)
    else if (!before.has(found.expression ?? ''))
      validateExpression(found.expression ?? '', errors, `${at}.expression`)
  }
}

function validateExpression(expression: string, errors: FieldErrors, field: string): void {
  if (Buffer.byteLength(expression) > EXPRESSION_BYTES_MAX) {
    errors.tooLong(field, EXPRESSION_BYTES_MAX)
    return
  }
  try {
    deviceSelectors().compileDeviceSelector(expression)
  } catch (error) {
    const { CompileError, ProgramError } = cel()
    if (error instanceof TypeError) errors.invalid(field, expression, error.message)
    else if (error instanceof ProgramError) errors.internal(field, error.message)
    else if (error instanceof CompileError)
      errors.invalid(field, expression, `compilation failed: ${error.message}`)
    else throw error
  }
}

function validateOpaque(
  { opaque }: { readonly opaque?: StoredOf<OpaqueDeviceConfiguration> },
  errors: FieldErrors,
  field: string,
): void {
  if (!opaque) {
    errors.required(`${field}.opaque`)
    return
  }
  validateDriver(opaque.driver, errors, `${field}.opaque.driver`)
  const { parameters } = opaque
  const at = `${field}.opaque.parameters`
  if (parameters === undefined || parameters === null) errors.required(at)
  else validateRawObject(parameters, errors, at)
}

/** What only a driver understands. */
export function validateRawObject(value: unknown, errors: FieldErrors, field: string): void {
  if (typeof value !== 'object' || Array.isArray(value))
    errors.invalid(field, '<value omitted>', 'must be a valid JSON object')
  else if (Buffer.byteLength(stringifyExact(value)) > PARAMETERS_BYTES_MAX)
    errors.tooLong(field, PARAMETERS_BYTES_MAX)
}

export function validateConfigs<T extends StoredOf<DeviceClaimConfiguration>>(
  configs: readonly T[],
  errors: FieldErrors,
  field: string,
  each: (config: T, at: string) => void = () => {},
): void {
  if (!validateCount(configs, CONFIGS_MAX, errors, field)) return
  for (const [index, config] of configs.entries()) {
    each(config, `${field}[${index}]`)
    validateOpaque(config, errors, `${field}[${index}]`)
  }
}

export function validateTolerations(
  tolerations: readonly StoredOf<DeviceToleration>[],
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, { key = '', operator, value = '', effect }] of tolerations.entries()) {
    const at = `${field}[${index}]`
    if (key) validateQualifiedName(key, errors, `${at}.key`)
    if (operator === 'Exists') {
      if (value) errors.invalid(`${at}.value`, value, 'must be empty for operator `Exists`')
    } else if (operator === 'Equal') invalidAll(errors, `${at}.value`, value, labelValue(value))
    else if (!operator) errors.required(`${at}.operator`)
    else errors.notSupported(`${at}.operator`, operator, OPERATORS)
    if (effect) validateEffect(effect, errors, `${at}.effect`)
  }
}

export function validateTaint(
  { key = '', value = '', effect }: StoredOf<DeviceToleration>,
  errors: FieldErrors,
  field: string,
): void {
  validateQualifiedName(key, errors, `${field}.key`)
  if (value) invalidAll(errors, `${field}.value`, value, labelValue(value))
  if (!effect) errors.required(`${field}.effect`)
  else validateEffect(effect, errors, `${field}.effect`)
}

function validateEffect(effect: string, errors: FieldErrors, field: string): void {
  if (!EFFECTS.includes(effect)) errors.notSupported(field, effect, EFFECTS)
}

const C_IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
const BAD_IDENTIFIER =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
const DOMAIN_BYTES_MAX = 63
const IDENTIFIER_BYTES_MAX = 32

/** `name`, in the domain of the driver, or `domain/name`; what has more slashes is not looked at. */
export function validateDeviceName(name: string, errors: FieldErrors, field: string): void {
  const parts = name.split('/')
  if (parts.length === 1) validateIdentifier(name, errors, field)
  if (parts.length !== 2) return
  const [domain, identifier] = parts as [string, string]
  if (domain === '') errors.invalid(field, '', 'the domain must not be empty')
  else {
    if (Buffer.byteLength(domain) > DOMAIN_BYTES_MAX) errors.tooLong(field, DOMAIN_BYTES_MAX)
    invalidAll(errors, field, domain, subdomainInAnyCase(domain))
  }
  if (identifier === '') errors.invalid(field, '', 'the name must not be empty')
  else validateIdentifier(identifier, errors, field)
}

function validateIdentifier(identifier: string, errors: FieldErrors, field: string): void {
  if (Buffer.byteLength(identifier) > IDENTIFIER_BYTES_MAX)
    errors.tooLong(field, IDENTIFIER_BYTES_MAX)
  if (!C_IDENTIFIER.test(identifier)) errors.invalid(field, identifier, BAD_IDENTIFIER)
}

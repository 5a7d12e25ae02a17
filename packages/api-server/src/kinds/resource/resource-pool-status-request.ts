import type {
  PoolStatus,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestStatus,
} from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { formatAge } from '../../printing/ages.ts'
import { tableColumns } from '../columns.ts'
import { inGoOrder, validateConditions } from '../conditions.ts'
import { inBytes } from '../names-in-bytes.ts'
import { validateCount } from './device-fields.ts'

const DEFAULT_LIMIT = 100
const LIMIT_MAX = 1_000
const POOLS_MAX = 1_000
const CONDITIONS_MAX = 10
const POOL_NAME_BYTES_MAX = 253
const PROBLEM_BYTES_MAX = 256
const IMMUTABLE = 'field is immutable'

type Status = StoredOf<ResourcePoolStatusRequestStatus>
type Pool = StoredOf<PoolStatus>

/** Contract: docs/behaviour/api-server/defaulting-and-validation.md, "ResourcePoolStatusRequest". */
export const resourcePoolStatusRequest: KindRules<ResourcePoolStatusRequest> = {
  group: 'resource.k8s.io',
  kind: 'ResourcePoolStatusRequest',
  generationOf: null,
  unconditionalUpdate: false,
  defaults({ spec }) {
    if (spec) spec.limit ??= DEFAULT_LIMIT
  },
  prepareForCreate(object) {
    delete object.status
  },
  validate({ spec = {} }, errors) {
    validateDriver(spec.driver, errors, 'spec.driver')
    if (spec.poolName !== undefined) validatePoolName(spec.poolName, errors, 'spec.poolName')
    const { limit = 0 } = spec
    if (limit < 1) errors.invalid('spec.limit', limit, 'must be greater than or equal to 1')
    else if (limit > LIMIT_MAX)
      errors.invalid('spec.limit', limit, `must be less than or equal to ${LIMIT_MAX}`)
  },
  updateOrder: 'update-only',
  validateUpdate({ spec }, stored, errors) {
    if (!semanticallyEqual(spec, stored.spec)) errors.invalid('spec', null, IMMUTABLE)
  },
  status: {
    validateUpdate({ status }, stored, errors) {
      if (stored.status && !semanticallyEqual(status, stored.status)) {
        const shown = status ? internalForm(status, 'ResourcePoolStatusRequestStatus') : null
        errors.invalid('status', shown, IMMUTABLE)
      } else if (status) validateStatus(status, errors)
    },
  },
  columns: tableColumns<ResourcePoolStatusRequest>('resource.k8s.io/resourcepoolstatusrequests', {
    Driver: ({ spec }) => spec?.driver ?? '',
    Total: ({ status }) => sumText(status, 'totalDevices'),
    Available: ({ status }) => sumText(status, 'availableDevices'),
    Allocated: ({ status }) => sumText(status, 'allocatedDevices'),
    Unavailable: ({ status }) => sumText(status, 'unavailableDevices'),
    Errors: ({ status }) =>
      isTold(status) ? String(poolsOf(status).filter((pool) => pool.validationError).length) : '-',
    Pools: ({ status }) => status?.poolCount ?? 0,
    Status: ({ status }) => stateText(status),
    Completed({ status }, nowMs) {
      const end = endOf(status)
      return end?.type === 'Complete' ? formatAge(end.lastTransitionTime, nowMs) : '<none>'
    },
  }),
}

/** Capital letters are taken. */
function validateDriver(driver: string | undefined, errors: FieldErrors, field: string): void {
  if (!driver) errors.required(field)
  else
    for (const message of inBytes(dnsSubdomain(driver.toLowerCase())))
      errors.invalid(
        field,
        driver,
        message
          .replace('a lowercase RFC', 'an RFC')
          .replace('lower case alphanumeric', 'alphanumeric')
          .replace("'example.com'", "'Example.com'"),
      )
}

function validatePoolName(name: string, errors: FieldErrors, field: string): void {
  if (Buffer.byteLength(name) > POOL_NAME_BYTES_MAX) errors.tooLong(field, POOL_NAME_BYTES_MAX)
  for (const [index, segment] of name.split('/').entries()) {
    const at = `segment ${index}: `
    if (segment === '') errors.invalid(field, name, `${at}must not be empty`)
    else
      for (const message of inBytes(dnsSubdomain(segment)))
        errors.invalid(field, segment, `${at}${message}`)
  }
}

function validateStatus(status: Status, errors: FieldErrors): void {
  const { poolCount, pools = [], conditions = [] } = status
  validateConditions(conditions, errors, 'status.conditions')
  if (poolCount === undefined) errors.required('status.poolCount')
  else validateMinimum(poolCount, 0, errors, 'status.poolCount')
  if (validateCount(pools, POOLS_MAX, errors, 'status.pools'))
    for (const [index, pool] of pools.entries())
      validatePool(pool, errors, `status.pools[${index}]`)
  if (!validateCount(conditions, CONDITIONS_MAX, errors, 'status.conditions')) return
  const seen = new Set<string>()
  for (const [index, condition] of conditions.entries()) {
    const { type = '' } = condition
    if (seen.has(type)) errors.duplicate(`status.conditions[${index}]`, inGoOrder(condition))
    seen.add(type)
  }
}

const COUNTS = [
  ['resourceSliceCount', 1],
  ['totalDevices', 0],
  ['allocatedDevices', 0],
  ['availableDevices', 0],
  ['unavailableDevices', 0],
] as const

function validatePool(pool: Pool, errors: FieldErrors, at: string): void {
  const { poolName, generation = 0, nodeName, validationError = '' } = pool
  validateDriver(pool.driver, errors, `${at}.driver`)
  if (!poolName) errors.required(`${at}.poolName`)
  else validatePoolName(poolName, errors, `${at}.poolName`)
  if (generation === 0) errors.required(`${at}.generation`)
  else validateMinimum(generation, 0, errors, `${at}.generation`)
  for (const [field, minimum] of COUNTS) {
    const count = pool[field]
    if (count !== undefined) validateMinimum(count, minimum, errors, `${at}.${field}`)
  }
  if (nodeName !== undefined)
    invalidAll(errors, `${at}.nodeName`, nodeName, inBytes(dnsSubdomain(nodeName)))
  if (Buffer.byteLength(validationError) > PROBLEM_BYTES_MAX)
    errors.tooLong(`${at}.validationError`, PROBLEM_BYTES_MAX)
}

function validateMinimum(value: number, minimum: number, errors: FieldErrors, field: string): void {
  if (value < minimum) errors.invalid(field, value, `must be greater than or equal to ${minimum}`)
}

function poolsOf(status: Status | undefined): readonly Pool[] {
  return status?.pools ?? []
}

/** The first condition that says what came of it. */
function endOf(status: Status | undefined): NonNullable<Status['conditions']>[number] | undefined {
  return (status?.conditions ?? []).find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  )
}

function isTold(status: Status | undefined): boolean {
  return status !== undefined && endOf(status)?.type !== 'Failed'
}

function sumText(
  status: Status | undefined,
  field: 'totalDevices' | 'availableDevices' | 'allocatedDevices' | 'unavailableDevices',
): string {
  if (!isTold(status)) return '-'
  return String(poolsOf(status).reduce((sum, pool) => sum + (pool[field] ?? 0), 0))
}

function stateText(status: Status | undefined): string {
  const state = endOf(status)?.type ?? 'Pending'
  const count = status?.poolCount ?? 0
  const { length } = poolsOf(status)
  return state === 'Complete' && length < count ? `${state} (${length}/${count} pools)` : state
}

import type {
  LimitRange,
  LimitRangeItem,
  Quantity,
  ResourceQuota,
  ResourceQuotaSpec,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import { ownValue } from '../../registry/equality.ts'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { compareQuantities, parseQuantity } from '@gyropilot/api'
import { invalidAll, sortedKeys } from '@gyropilot/schema/validation/labels'
import { qualifiedName } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { nullWhenEmpty } from '../workload-template.ts'
import {
  isStandardQuotaResource,
  mayOvercommit,
  validateContainerResourceName,
  validateQuotaResourceName,
  validateResourceName,
  validateResourceQuantity,
} from './pod/resources.ts'

const SCOPES = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
])
const POD_RESOURCES = new Set([
  'pods',
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
])

const CONFLICTING = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const
const ONLY_EXISTS = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
])

function validateScopes(spec: StoredOf<ResourceQuotaSpec>, errors: FieldErrors): void {
  const scopes: readonly string[] = spec.scopes ?? []
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) errors.invalid('spec.scopes', scopes, 'unsupported scope')
    refuseOtherResources(spec, scope, errors, 'spec.scopes', scopes)
  }
  refuseConflicts(scopes, errors, 'spec.scopes', scopes)
}

function refuseOtherResources(
  spec: StoredOf<ResourceQuotaSpec>,
  scope: string,
  errors: FieldErrors,
  field: string,
  shown: unknown,
): void {
  for (const name of Object.keys(spec.hard ?? {}).toSorted()) {
    if (isStandardQuotaResource(name) && !appliesTo(scope, name))
      errors.invalid(field, shown, 'unsupported scope applied to resource')
  }
}

function refuseConflicts(
  scopes: readonly string[],
  errors: FieldErrors,
  field: string,
  shown: unknown,
): void {
  for (const pair of CONFLICTING) {
    if (pair.every((scope) => scopes.includes(scope)))
      errors.invalid(field, shown, 'conflicting scopes')
  }
}

/** Paths name no index here. */
function validateScopeSelector(spec: StoredOf<ResourceQuotaSpec>, errors: FieldErrors): void {
  const expressions = spec.scopeSelector?.matchExpressions ?? []
  const field = 'spec.scopeSelector.matchExpressions'
  const shown = {
    MatchExpressions: expressions.map((expression) => ({
      ScopeName: expression.scopeName ?? '',
      Operator: expression.operator ?? '',
      Values: givenValue(expression, 'values'),
    })),
  }
  for (const { scopeName = '', operator = '', values = [] } of expressions) {
    if (!SCOPES.has(scopeName)) errors.invalid(`${field}.scopeName`, scopeName, 'unsupported scope')
    refuseOtherResources(spec, scopeName, errors, field, shown)
    if (ONLY_EXISTS.has(scopeName) && operator !== 'Exists')
      errors.invalid(
        `${field}.operator`,
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      )
    validateScopeValues(operator, values, errors, field)
  }
  const names = expressions.map(({ scopeName = '' }) => scopeName)
  refuseConflicts(names, errors, field, givenValue(spec, 'scopes'))
}

function validateScopeValues(
  operator: string,
  values: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.required(
        `${field}.values`,
        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      )
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.invalid(
        `${field}.values`,
        values,
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      )
  } else errors.invalid(`${field}.operator`, operator, 'not a valid selector operator')
}

function appliesTo(scope: string, resource: string): boolean {
  if (!SCOPES.has(scope)) return true
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass')
    return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
  return POD_RESOURCES.has(resource)
}

/** `configmaps: 1/1, pods: 1/1`, limits apart. */
function quotaText(limits: boolean) {
  return (object: StoredOf<ResourceQuota>): string =>
    sortedEntries(object.status?.hard ?? {})
      .filter(([name]) => name.startsWith('limits') === limits)
      .map(([name, hard]) => `${name}: ${object.status?.used?.[name] ?? '0'}/${hard}`)
      .join(', ')
}

/** Pods would reach the limits first. The long name of what is requested counts before the short one. */
function orderWarnings({ spec }: StoredOf<ResourceQuota>): string[] {
  const hard = spec?.hard ?? {}
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap((resource) => {
    const limited = `limits.${resource}`
    const names = [`requests.${resource}`, ...(resource === 'ephemeral-storage' ? [] : [resource])]
    const requested = names.find((name) => name in hard)
    if (requested === undefined || !(limited in hard)) return []
    const [request, limit] = [hard[requested]!, hard[limited]!]
    if (compareQuantities(request, limit) <= 0) return []
    return `ResourceQuota ${requested} (${request}) should be less than ${limited} (${limit})`
  })
}

export const resourceQuota: KindRules<ResourceQuota> = {
  group: '',
  kind: 'ResourceQuota',
  generationOf: null,
  validate(object, errors) {
    const hard = object.spec?.hard ?? {}
    for (const [name, quantity] of sortedEntries(hard)) {
      validateQuotaResourceName(name, errors, `spec.hard[${name}]`)
      validateResourceQuantity(name, quantity, errors, `spec.hard[${name}]`)
    }
    validateScopes(object.spec ?? {}, errors)
    validateScopeSelector(object.spec ?? {}, errors)
  },
  validateUpdate(object, stored, errors) {
    const scopes = (quota: StoredOf<ResourceQuota>): string[] =>
      [...(quota.spec?.scopes ?? [])].toSorted()
    if (!deepEqual(scopes(object), scopes(stored)))
      errors.invalid('spec.scopes', givenValue(object.spec, 'scopes'), 'field is immutable')
  },
  status: {
    validateUpdate(object, _stored, errors) {
      for (const list of ['hard', 'used'] as const) {
        for (const [name, quantity] of sortedEntries(object.status?.[list] ?? {})) {
          validateQuotaResourceName(name, errors, `status.${list}[${name}]`)
          validateResourceQuantity(name, quantity, errors, `status.${list}[${name}]`)
        }
      }
    },
  },
  warnings: (object, stored) => (stored === undefined ? orderWarnings(object) : []),
  columns: tableColumns('resourcequotas', { Request: quotaText(false), Limit: quotaText(true) }),
}

/** By name, since maps are walked in no fixed order upstream. */
function sortedEntries<T>(map: Readonly<Record<string, T>>): [string, T][] {
  return sortedKeys(map).map((name) => [name, map[name]!])
}

const LIMIT_TYPES = new Set(['Pod', 'Container', 'PersistentVolumeClaim'])

function defaultItem(item: DraftOf<LimitRangeItem>): void {
  if (item.type !== 'Container') return
  for (const [target, source] of [
    ['default', 'max'],
    ['defaultRequest', 'default'],
    ['defaultRequest', 'min'],
  ] as const) {
    for (const [name, quantity] of Object.entries(item[source] ?? {})) {
      item[target] ??= {}
      item[target][name] ??= quantity
    }
  }
}

function validateItem(
  item: StoredOf<LimitRangeItem>,
  seen: Set<string>,
  errors: FieldErrors,
  field: string,
): void {
  const { type = '' } = item
  const messages = qualifiedName(type)
  invalidAll(errors, `${field}.type`, type, messages)
  if (messages.length === 0 && !type.includes('/') && !LIMIT_TYPES.has(type)) {
    errors.invalid(`${field}.type`, type, 'must be a standard limit type or fully qualified')
  }
  if (seen.has(type)) errors.duplicate(`${field}.type`, type)
  seen.add(type)
  const validateName =
    type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName
  const parts = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
  const names = new Set<string>()
  const requireStorage = (): void => {
    if (type !== 'PersistentVolumeClaim' || (item.min?.storage ?? item.max?.storage) !== undefined)
      return
    errors.required(
      `${field}.limits`,
      'either minimum or maximum storage value is required, but neither was provided',
    )
  }
  for (const part of parts) {
    if (part === 'maxLimitRequestRatio') requireStorage()
    if (type === 'Pod' && part.startsWith('default')) {
      if (Object.keys(item[part] ?? {}).length > 0)
        errors.forbidden(`${field}.${part}`, "may not be specified when `type` is 'Pod'")
      continue
    }
    for (const name of Object.keys(item[part] ?? {}).toSorted()) {
      validateName(name, errors, `${field}.${part}[${name}]`)
      names.add(name)
    }
  }
  for (const name of [...names].toSorted()) validateBounds(item, name, errors, field)
}

interface Bounds {
  readonly min: Quantity | undefined
  readonly max: Quantity | undefined
  readonly limit: Quantity | undefined
  readonly request: Quantity | undefined
  readonly ratio: Quantity | undefined
}

function validateBounds(
  item: StoredOf<LimitRangeItem>,
  name: string,
  errors: FieldErrors,
  field: string,
): void {
  const value = (part: Exclude<keyof LimitRangeItem, 'type'>): Quantity | undefined =>
    ownValue(item[part] ?? {}, name)
  const bounds: Bounds = {
    min: value('min'),
    max: value('max'),
    limit: value('default'),
    request: value('defaultRequest'),
    ratio: value('maxLimitRequestRatio'),
  }
  validateOrder(bounds, name, errors, field)
  validateRatio(bounds, `${field}.maxLimitRequestRatio[${name}]`, errors)
  const { limit, request } = bounds
  const fixed = limit !== undefined && request !== undefined && !mayOvercommit(name)
  if (fixed && compareQuantities(limit, request) !== 0)
    errors.invalid(
      `${field}.defaultRequest[${name}]`,
      request,
      `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
    )
}

function validateOrder(
  { min, max, limit, request }: Bounds,
  name: string,
  errors: FieldErrors,
  field: string,
): void {
  const refuseAbove = (
    [lowName, low]: readonly [string, Quantity | undefined],
    [highName, high]: readonly [string, Quantity | undefined],
    part: keyof LimitRangeItem,
    shown: Quantity | undefined,
  ): void => {
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) return
    const detail = `${lowName} value ${low} is greater than ${highName} value ${high}`
    errors.invalid(`${field}.${part}[${name}]`, shown, detail)
  }
  refuseAbove(['min', min], ['max', max], 'min', min)
  refuseAbove(['min', min], ['default request', request], 'defaultRequest', request)
  refuseAbove(['default request', request], ['max', max], 'defaultRequest', request)
  refuseAbove(['default request', request], ['default limit', limit], 'defaultRequest', request)
  refuseAbove(['min', min], ['default', limit], 'default', min)
  // The limit's bound is printed, not the limit.
  refuseAbove(['default', limit], ['max', max], 'default', max)
}

function validateRatio({ min, max, ratio }: Bounds, field: string, errors: FieldErrors): void {
  if (ratio === undefined) return
  if (compareQuantities(ratio, '1') < 0)
    errors.invalid(field, ratio, `ratio ${ratio} is less than 1`)
  if (min === undefined || max === undefined || compareQuantities(min, '0') <= 0) return
  const bound = toNumber(max) / toNumber(min)
  if (toNumber(ratio) > bound)
    errors.invalid(field, ratio, `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`)
}

function toNumber(text: Quantity): number {
  return parseQuantity(text).toNumber()
}

export const limitRange: KindRules<LimitRange> = {
  group: '',
  kind: 'LimitRange',
  generationOf: null,
  createOnUpdate: true,
  // Clients may leave the name out: the server then takes a UUID.
  prepareForCreate(object) {
    const metadata = (object.metadata ??= {})
    metadata.name ||= metadata.uid
  },
  canonicalize(object) {
    if (object.spec) nullWhenEmpty(object.spec, 'limits')
  },
  defaults(object) {
    for (const item of object.spec?.limits ?? []) defaultItem(item)
  },
  validate(object, errors) {
    const seen = new Set<string>()
    for (const [index, item] of (object.spec?.limits ?? []).entries())
      validateItem(item, seen, errors, `spec.limits[${index}]`)
  },
}

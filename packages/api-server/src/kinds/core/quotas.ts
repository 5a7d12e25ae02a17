import { deepEqual } from '@gyropilot/api'
import { ownValue } from '../../registry/equality.ts'
import type { Draft, KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { compareQuantities, parseQuantity } from '@gyropilot/api'
import { invalidAll } from '@gyropilot/schema/validation/labels'
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

function validateScopes(spec: Stored, errors: FieldErrors): void {
  const scopes: readonly string[] = spec.scopes ?? []
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) errors.invalid('spec.scopes', scopes, 'unsupported scope')
    refuseOtherResources(spec, scope, errors, 'spec.scopes', scopes)
  }
  refuseConflicts(scopes, errors, 'spec.scopes', scopes)
}

function refuseOtherResources(
  spec: Stored,
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
function validateScopeSelector(spec: Stored, errors: FieldErrors): void {
  const expressions: readonly Stored[] = spec.scopeSelector?.matchExpressions ?? []
  const field = 'spec.scopeSelector.matchExpressions'
  const shown = {
    MatchExpressions: expressions.map(({ scopeName = '', operator = '', values = null }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values,
    })),
  }
  for (const { scopeName = '', operator = '', values = [] } of expressions) {
    if (!SCOPES.has(scopeName)) errors.invalid(`${field}.scopeName`, scopeName, 'unsupported scope')
    refuseOtherResources(spec, scopeName, errors, field, shown)
    if (ONLY_EXISTS.has(scopeName) && operator !== 'Exists')
      errors.invalid(
        `${field}.operator`,
        operator,
        "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      )
    validateScopeValues(operator, values, errors, field)
  }
  const names = expressions.map(({ scopeName = '' }) => scopeName)
  refuseConflicts(names, errors, field, spec.scopes ?? null)
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
  return (object: Stored): string =>
    Object.keys(object.status?.hard ?? {})
      .toSorted()
      .filter((name) => name.startsWith('limits') === limits)
      .map((name) => `${name}: ${object.status.used?.[name] ?? '0'}/${object.status.hard[name]}`)
      .join(', ')
}

export const resourceQuota: KindRules = {
  group: '',
  kind: 'ResourceQuota',
  generationOf: null,
  validate(object, errors) {
    const hard: Stored = object.spec?.hard ?? {}
    for (const name of Object.keys(hard).toSorted()) {
      validateQuotaResourceName(name, errors, `spec.hard[${name}]`)
      validateResourceQuantity(name, hard[name], errors, `spec.hard[${name}]`)
    }
    validateScopes(object.spec ?? {}, errors)
    validateScopeSelector(object.spec ?? {}, errors)
  },
  validateUpdate(object, stored, errors) {
    const scopes = (quota: Stored): string[] => [...(quota.spec?.scopes ?? [])].toSorted()
    if (!deepEqual(scopes(object), scopes(stored)))
      errors.invalid('spec.scopes', object.spec?.scopes ?? null, 'field is immutable')
  },
  status: {
    validateUpdate(object, _stored, errors) {
      for (const list of ['hard', 'used']) {
        for (const name of Object.keys(object.status?.[list] ?? {}).toSorted()) {
          validateQuotaResourceName(name, errors, `status.${list}[${name}]`)
          validateResourceQuantity(
            name,
            object.status[list][name],
            errors,
            `status.${list}[${name}]`,
          )
        }
      }
    },
  },
  columns: tableColumns('resourcequotas', { Request: quotaText(false), Limit: quotaText(true) }),
}

const LIMIT_TYPES = new Set(['Pod', 'Container', 'PersistentVolumeClaim'])

function defaultItem(item: Draft): void {
  if (item.type !== 'Container') return
  for (const [target, source] of [
    ['default', 'max'],
    ['defaultRequest', 'default'],
    ['defaultRequest', 'min'],
  ] as const) {
    for (const name of Object.keys(item[source] ?? {})) {
      item[target] ??= {}
      item[target][name] ??= item[source][name]
    }
  }
}

function validateItem(item: Stored, seen: Set<string>, errors: FieldErrors, field: string): void {
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

function validateBounds(item: Stored, name: string, errors: FieldErrors, field: string): void {
  const value = (part: string): string | undefined => ownValue(item[part] ?? {}, name)
  const above = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0
  const [min, max, limit, request, ratio] = [
    'min',
    'max',
    'default',
    'defaultRequest',
    'maxLimitRequestRatio',
  ].map(value)
  if (above(min, max))
    errors.invalid(
      `${field}.min[${name}]`,
      min,
      `min value ${min} is greater than max value ${max}`,
    )
  if (above(min, request))
    errors.invalid(
      `${field}.defaultRequest[${name}]`,
      request,
      `min value ${min} is greater than default request value ${request}`,
    )
  if (above(request, max))
    errors.invalid(
      `${field}.defaultRequest[${name}]`,
      request,
      `default request value ${request} is greater than max value ${max}`,
    )
  if (above(request, limit))
    errors.invalid(
      `${field}.defaultRequest[${name}]`,
      request,
      `default request value ${request} is greater than default limit value ${limit}`,
    )
  if (above(min, limit))
    errors.invalid(
      `${field}.default[${name}]`,
      min,
      `min value ${min} is greater than default value ${limit}`,
    )
  if (above(limit, max))
    errors.invalid(
      `${field}.default[${name}]`,
      // The limit's bound is printed, not the limit.
      max,
      `default value ${limit} is greater than max value ${max}`,
    )
  if (ratio !== undefined && compareQuantities(ratio, '1') < 0)
    errors.invalid(`${field}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`)
  if (
    ratio !== undefined &&
    min !== undefined &&
    max !== undefined &&
    compareQuantities(min, '0') > 0
  ) {
    const bound = toNumber(max) / toNumber(min)
    if (toNumber(ratio) > bound)
      errors.invalid(
        `${field}.maxLimitRequestRatio[${name}]`,
        ratio,
        `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`,
      )
  }
  const fixed = limit !== undefined && request !== undefined && !mayOvercommit(name)
  if (fixed && compareQuantities(limit, request) !== 0)
    errors.invalid(
      `${field}.defaultRequest[${name}]`,
      request,
      `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
    )
}

function toNumber(text: string): number {
  return parseQuantity(text).toNumber()
}

export const limitRange: KindRules = {
  group: '',
  kind: 'LimitRange',
  generationOf: null,
  // Clients may leave the name out: the server then takes a UUID.
  prepareForCreate(object) {
    if (!object.metadata?.name) object.metadata.name = object.metadata.uid
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

import type {
  MatchResources,
  MutatingAdmissionPolicy,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateLabelSelector } from '@gyropilot/schema/validation/labels'
import {
  dns1035Label,
  dnsSubdomain,
  pathSegment,
  qualifiedName,
} from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { validateConditions } from '../conditions.ts'
import { ExpressionCheck } from './expressions.ts'
import {
  defaultMatching,
  defaultRule,
  validateMatchConditions,
  validateOperations,
  validateRule,
} from './rules.ts'

export const GROUP = 'admissionregistration.k8s.io'

export function defaultMatchResources(match: DraftOf<MatchResources> | undefined): void {
  if (!match) return
  defaultMatching(match)
  for (const list of ['resourceRules', 'excludeResourceRules'] as const)
    for (const rule of match[list] ?? []) defaultRule(rule)
}

export function validateMatchResources(
  match: StoredOf<MatchResources>,
  errors: FieldErrors,
  field: string,
): void {
  if (!['Equivalent', 'Exact'].includes(match.matchPolicy ?? ''))
    errors.notSupported(`${field}.matchPolicy`, match.matchPolicy ?? '', ['Equivalent', 'Exact'])
  validateLabelSelector(match.namespaceSelector, errors, `${field}.namespaceSelector`)
  validateLabelSelector(match.objectSelector, errors, `${field}.objectSelector`)
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [index, rule] of (match[list] ?? []).entries()) {
      const at = `${field}.${list}[${index}]`
      const names = new Set<string>()
      for (const [position, name] of (rule.resourceNames ?? []).entries()) {
        invalidAll(errors, `${at}.resourceNames[${position}]`, name, pathSegment(name))
        if (names.has(name)) errors.duplicate(`${at}.resourceNames[${position}]`, name)
        names.add(name)
      }
      validateOperations(rule.operations, errors, `${at}.operations`)
      validateRule(rule, errors, at)
    }
  }
}

function validateParamKind(kind: StoredOf<ParamKind>, errors: FieldErrors, field: string): void {
  const apiVersion: string = kind.apiVersion ?? ''
  if (apiVersion === '') errors.required(`${field}.apiVersion`)
  else validateApiVersion(apiVersion, errors, `${field}.apiVersion`)
  const name: string = kind.kind ?? ''
  if (name === '') errors.required(`${field}.kind`)
  else {
    const messages = dns1035Label(name.toLowerCase())
    if (messages.length > 0)
      errors.invalid(
        `${field}.kind`,
        name,
        `may have mixed case, but should otherwise match: ${messages.join(',')}`,
      )
  }
}

/** `version` or `group/version`, whose parts are named in the errors. */
function validateApiVersion(text: string, errors: FieldErrors, field: string): void {
  const parts = text === '/' ? [''] : text.split('/')
  if (parts.length > 2) {
    errors.invalid(field, text, `unexpected GroupVersion string: ${text}`)
    return
  }
  const version = parts.at(-1)!
  const group = parts.length === 2 ? parts[0]! : ''
  const groupMessages = group === '' ? [] : dnsSubdomain(group)
  if (groupMessages.length > 0) errors.invalid(field, group, groupMessages.join(','))
  if (version === '') {
    errors.invalid(field, text, 'version must be specified')
    return
  }
  const messages = dns1035Label(version)
  if (messages.length > 0) errors.invalid(field, version, messages.join(','))
}

function validatePolicySpec(
  spec: StoredOf<ValidatingAdmissionPolicySpec>,
  errors: FieldErrors,
): void {
  if (spec.failurePolicy === undefined) errors.required('spec.failurePolicy')
  else if (!['Fail', 'Ignore'].includes(spec.failurePolicy))
    errors.notSupported('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore'])
  if (spec.paramKind) validateParamKind(spec.paramKind, errors, 'spec.paramKind')
  if (!spec.matchConstraints) errors.required('spec.matchConstraints')
  else {
    validateMatchResources(spec.matchConstraints, errors, 'spec.matchConstraints')
    // Rules say which types expressions are about.
    if ((spec.matchConstraints.resourceRules ?? []).length === 0)
      errors.required('spec.matchConstraints.resourceRules')
  }
}

function validatePolicyExpressions(
  spec: StoredOf<ValidatingAdmissionPolicySpec>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  const conditions = spec.matchConditions ?? []
  validateMatchConditions(conditions, expressions, errors, 'spec.matchConditions')
  validateVariables(spec, expressions, errors)
}

const RESERVED =
  'true false null in as break const continue else for function if import let loop package namespace return var void while'

function isExpressionIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.split(' ').includes(name)
}

function validateVariables(
  spec: StoredOf<ValidatingAdmissionPolicySpec>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  for (const [index, variable] of (spec.variables ?? []).entries()) {
    const at = `spec.variables[${index}]`
    if (!variable.name?.trim()) errors.required(`${at}.name`, 'name is not specified')
    else if (!isExpressionIdentifier(variable.name))
      errors.invalid(`${at}.name`, variable.name, 'must be a valid CEL identifier')
    expressions.variable(variable.name ?? '', variable.expression ?? '', errors, `${at}.expression`)
  }
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

/** The fixed message and the computed one. */
function validateMessages(
  { message = '', messageExpression = '' }: StoredOf<Validation>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
  field: string,
): void {
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.invalid(
      `${field}.messageExpression`,
      messageExpression,
      'must be non-empty if specified',
    )
  else if (messageExpression !== '')
    expressions.check('message', messageExpression, errors, `${field}.messageExpression`)
  if (message !== '' && message.trim() === '')
    errors.invalid(`${field}.message`, message, 'must be non-empty if specified')
  else if (/[\r\n]/.test(message.trim()))
    errors.invalid(`${field}.message`, message, 'must not contain line breaks')
}

function validateValidations(
  spec: StoredOf<ValidatingAdmissionPolicySpec>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  const validations = spec.validations ?? []
  const audits = spec.auditAnnotations ?? []
  if (validations.length === 0 && audits.length === 0) {
    errors.required(
      'spec.validations',
      'validations or auditAnnotations must contain at least one item',
    )
    errors.required(
      'spec.auditAnnotations',
      'validations or auditAnnotations must contain at least one item',
    )
    return
  }
  for (const [index, validation] of validations.entries()) {
    const at = `spec.validations[${index}]`
    expressions.check('validation', validation.expression, errors, `${at}.expression`)
    validateMessages(validation, expressions, errors, at)
    if (validation.reason !== undefined && !REASONS.includes(validation.reason))
      errors.notSupported(`${at}.reason`, validation.reason, REASONS)
  }
}

const AUDIT_LIMIT = 20
const AUDIT_EXPRESSION_LIMIT_BYTES = 5 * 1024

/** Keys are written with the name of the policy before them. */
function validateAuditAnnotations(
  object: StoredOf<ValidatingAdmissionPolicy>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  const audits = object.spec?.auditAnnotations ?? []
  const policy: string = object.metadata?.name ?? ''
  if (audits.length > AUDIT_LIMIT)
    errors.invalid(
      'spec.auditAnnotations',
      audits.map(({ key = '', valueExpression = '' }) => ({
        Key: key,
        ValueExpression: valueExpression,
      })),
      `must not have more than ${AUDIT_LIMIT} auditAnnotations`,
    )
  const keys = new Set<string>()
  for (const [index, { key = '', valueExpression = '' }] of audits.entries()) {
    const at = `spec.auditAnnotations[${index}]`
    if (policy === '') errors.invalid(`${at}.key`, key, 'requires metadata.name be non-empty')
    else {
      const name = `${policy}/${key}`
      invalidAll(errors, `${at}.key`, name, qualifiedName(name))
    }
    if (valueExpression.trim().length > AUDIT_EXPRESSION_LIMIT_BYTES)
      errors.required(
        `${at}.valueExpression`,
        `must not exceed ${AUDIT_EXPRESSION_LIMIT_BYTES} bytes in length`,
      )
    else
      expressions.check(
        'audit',
        valueExpression,
        errors,
        `${at}.valueExpression`,
        'valueExpression is not specified',
      )
    if (keys.has(key)) errors.duplicate(`${at}.key`, key)
    keys.add(key)
  }
}

export const validatingAdmissionPolicy: KindRules<ValidatingAdmissionPolicy> = {
  group: GROUP,
  kind: 'ValidatingAdmissionPolicy',
  unconditionalUpdate: false,
  status: {
    createOnUpdate: 'applied',
    validateUpdate(object, _stored, errors) {
      const warnings = object.status?.typeChecking?.expressionWarnings ?? []
      for (const [index, { fieldRef = '', warning = '' }] of warnings.entries()) {
        const at = `status.typeChecking.expressionWarnings[${index}]`
        if (warning === '') errors.required(`${at}.warning`)
        if (fieldRef === '') errors.required(`${at}.fieldRef`)
      }
      validateConditions(object.status?.conditions, errors, 'status.conditions')
    },
  },
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const expressions = new ExpressionCheck(spec)
    validatePolicySpec(spec, errors)
    validatePolicyExpressions(spec, expressions, errors)
    validateValidations(spec, expressions, errors)
    validateAuditAnnotations(object, expressions, errors)
  },
  columns: tableColumns('admissionregistration.k8s.io/validatingadmissionpolicies', {
    Validations: (object) => (object.spec?.validations ?? []).length,
    ParamKind: (object) =>
      object.spec?.paramKind
        ? `${object.spec.paramKind.apiVersion}/${object.spec.paramKind.kind}`
        : '<unset>',
  }),
}

/** What is deleted is not changed before. */
const MUTABLE_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE']

export function validateMutableOperations(
  match: StoredOf<MatchResources> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  const at = `${field}.resourceRules.operations`
  for (const { operations = [] } of match?.resourceRules ?? [])
    for (const operation of operations)
      if (!MUTABLE_OPERATIONS.includes(operation))
        errors.notSupported(at, operation, MUTABLE_OPERATIONS)
}

const PATCHES: ReadonlyMap<string, 'applyConfiguration' | 'jsonPatch'> = new Map([
  ['ApplyConfiguration', 'applyConfiguration'],
  ['JSONPatch', 'jsonPatch'],
])

function validateMutation(
  mutation: StoredOf<Mutation>,
  expressions: ExpressionCheck,
  errors: FieldErrors,
  at: string,
): void {
  const { patchType = '' } = mutation
  const field = PATCHES.get(patchType)
  if (field === undefined) {
    if (patchType === '') errors.required(`${at}.patchType`)
    else errors.notSupported(`${at}.patchType`, patchType, [...PATCHES.keys()])
    return
  }
  const wanted = mutation[field]
  if (!wanted) errors.required(`${at}.${field}`, `must be specified when patchType is ${patchType}`)
  else expressions.check(field, wanted.expression, errors, `${at}.${field}.expression`, '')
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  if (mutation[other])
    errors.invalid(
      `${at}.${other}`,
      `{${other}}`,
      `must not be specified when patchType is ${patchType}`,
    )
}

export const mutatingAdmissionPolicy: KindRules<MutatingAdmissionPolicy> = {
  group: GROUP,
  kind: 'MutatingAdmissionPolicy',
  unconditionalUpdate: false,
  generationOf: (object) => object.spec,
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    const expressions = new ExpressionCheck(spec, true)
    validatePolicySpec(spec, errors)
    validateMutableOperations(spec.matchConstraints, errors, 'spec.matchConstraints')
    validatePolicyExpressions(spec, expressions, errors)
    if ((spec.mutations ?? []).length === 0)
      errors.required('spec.mutations', 'mutations must contain at least one item')
    for (const [index, mutation] of (spec.mutations ?? []).entries())
      validateMutation(mutation, expressions, errors, `spec.mutations[${index}]`)
    if (!spec.reinvocationPolicy) errors.required('spec.reinvocationPolicy')
    else if (!['IfNeeded', 'Never'].includes(spec.reinvocationPolicy))
      errors.notSupported('spec.reinvocationPolicy', spec.reinvocationPolicy, ['IfNeeded', 'Never'])
  },
  columns: [
    nameColumn,
    column(
      'Mutations',
      'integer',
      'Mutation indicates the number of mutations rules defined in this configuration',
      (object) => (object.spec?.mutations ?? []).length,
    ),
    column(
      'ParamKind',
      'string',
      'ParamKind specifies the kind of resources used to parameterize this policy',
      (object) =>
        object.spec?.paramKind
          ? `${object.spec.paramKind.apiVersion}/${object.spec.paramKind.kind}`
          : '<unset>',
    ),
    ageColumn,
  ],
}

import type { Draft, KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { ExpressionCheck } from './expressions.ts'
import {
  defaultMatching,
  defaultRule,
  validateOperations,
  validateRule,
  validateSelectors,
} from './rules.ts'

const GROUP = 'admissionregistration.k8s.io'

function defaultMatchResources(match: Draft | undefined): void {
  if (!match) return
  defaultMatching(match)
  for (const list of ['resourceRules', 'excludeResourceRules'])
    for (const rule of match[list] ?? []) defaultRule(rule)
}

function validateMatchResources(
  match: Stored,
  required: boolean,
  errors: FieldErrors,
  field: string,
): void {
  if (required && (match.resourceRules ?? []).length === 0)
    errors.required(`${field}.resourceRules`)
  validateSelectors(match, errors, field)
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [index, rule] of (match[list] ?? []).entries()) {
      const at = `${field}.${list}[${index}]`
      const names = new Set<string>()
      for (const [position, name] of (rule.resourceNames ?? []).entries()) {
        if (names.has(name)) errors.duplicate(`${at}.resourceNames[${position}]`, name)
        names.add(name)
      }
      validateOperations(rule.operations, errors, `${at}.operations`)
      validateRule(rule, true, errors, at)
    }
  }
  if (match.matchPolicy !== undefined && !['Equivalent', 'Exact'].includes(match.matchPolicy)) {
    errors.notSupported(`${field}.matchPolicy`, match.matchPolicy, ['Equivalent', 'Exact'])
  }
}

function validateParamKind(kind: Stored | undefined, errors: FieldErrors, field: string): void {
  if (!kind) return
  if (!kind.apiVersion) errors.required(`${field}.apiVersion`)
  if (!kind.kind) errors.required(`${field}.kind`)
}

function validatePolicySpec(spec: Stored, expressions: ExpressionCheck, errors: FieldErrors): void {
  if (spec.failurePolicy === undefined) errors.required('spec.failurePolicy')
  else if (!['Fail', 'Ignore'].includes(spec.failurePolicy))
    errors.notSupported('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore'])
  validateParamKind(spec.paramKind, errors, 'spec.paramKind')
  if (!spec.matchConstraints) errors.required('spec.matchConstraints')
  else validateMatchResources(spec.matchConstraints, true, errors, 'spec.matchConstraints')
  validateConditionsAndVariables(spec, expressions, errors)
}

function validateConditionsAndVariables(
  spec: Stored,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  for (const [index, condition] of (spec.matchConditions ?? []).entries()) {
    const at = `spec.matchConditions[${index}]`
    if (!condition.name) errors.required(`${at}.name`)
    expressions.check('condition', condition.expression, errors, `${at}.expression`, '')
  }
  const names = new Set<string>()
  for (const [index, variable] of (spec.variables ?? []).entries()) {
    const at = `spec.variables[${index}]`
    if (!variable.name) errors.required(`${at}.name`, 'name is not specified')
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(variable.name))
      errors.invalid(`${at}.name`, variable.name, 'name is not a valid CEL identifier')
    else if (names.has(variable.name)) errors.duplicate(`${at}.name`, variable.name)
    names.add(variable.name)
    expressions.variable(variable.name, variable.expression, errors, `${at}.expression`)
  }
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']

function validateValidations(
  spec: Stored,
  expressions: ExpressionCheck,
  errors: FieldErrors,
): void {
  const validations: readonly Stored[] = spec.validations ?? []
  const audits: readonly Stored[] = spec.auditAnnotations ?? []
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
    if (validation.message?.includes('\n'))
      errors.invalid(`${at}.message`, validation.message, 'message must not contain line breaks')
    if (validation.messageExpression !== undefined && validation.messageExpression !== '') {
      if (validation.messageExpression.trim() === '')
        errors.required(`${at}.messageExpression`, 'must be non-empty if specified')
      else
        expressions.check(
          'message',
          validation.messageExpression,
          errors,
          `${at}.messageExpression`,
        )
    }
    if (validation.reason !== undefined && !REASONS.includes(validation.reason))
      errors.notSupported(`${at}.reason`, validation.reason, REASONS)
  }
  const keys = new Set<string>()
  for (const [index, audit] of audits.entries()) {
    const at = `spec.auditAnnotations[${index}]`
    if (!audit.key) errors.required(`${at}.key`)
    else if (keys.has(audit.key)) errors.duplicate(`${at}.key`, audit.key)
    keys.add(audit.key)
    expressions.check('audit', audit.valueExpression, errors, `${at}.valueExpression`, '')
  }
}

export const validatingAdmissionPolicy: KindRules = {
  group: GROUP,
  kind: 'ValidatingAdmissionPolicy',
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    const expressions = new ExpressionCheck(spec)
    validatePolicySpec(spec, expressions, errors)
    validateValidations(spec, expressions, errors)
  },
  columns: tableColumns('admissionregistration.k8s.io/validatingadmissionpolicies', {
    Validations: (object) => (object.spec?.validations ?? []).length,
    ParamKind: (object) =>
      object.spec?.paramKind
        ? `${object.spec.paramKind.apiVersion}/${object.spec.paramKind.kind}`
        : '<unset>',
  }),
}

export const mutatingAdmissionPolicy: KindRules = {
  group: GROUP,
  kind: 'MutatingAdmissionPolicy',
  generationOf: (object) => object.spec,
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    const expressions = new ExpressionCheck(spec, true)
    validatePolicySpec(spec, expressions, errors)
    if ((spec.mutations ?? []).length === 0)
      errors.required('spec.mutations', 'mutations must contain at least one item')
    for (const [index, mutation] of (spec.mutations ?? []).entries()) {
      const at = `spec.mutations[${index}]`
      const field = mutation.patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration'
      if (!['ApplyConfiguration', 'JSONPatch'].includes(mutation.patchType))
        errors.notSupported(`${at}.patchType`, mutation.patchType ?? '', [
          'ApplyConfiguration',
          'JSONPatch',
        ])
      else if (!mutation[field])
        errors.required(
          `${at}.${field}`,
          `must be specified when patchType is ${mutation.patchType}`,
        )
      else expressions.check(field, mutation[field].expression, errors, `${at}.${field}.expression`)
    }
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

function bindingRules(kind: string, validating: boolean): KindRules {
  return {
    group: GROUP,
    kind,
    generationOf: (object) => object.spec,
    defaults: (object) => defaultMatchResources(object.spec?.matchResources),
    validate(object, errors) {
      const spec: Stored = object.spec ?? {}
      if (!spec.policyName) errors.required('spec.policyName')
      validateParamRef(spec.paramRef, errors)
      if (spec.matchResources)
        validateMatchResources(spec.matchResources, false, errors, 'spec.matchResources')
      if (validating) validateActions(spec.validationActions, errors)
    },
    columns: [
      nameColumn,
      column(
        'PolicyName',
        'string',
        `PolicyName indicates the policy definition which the policy binding binded to`,
        (object) => object.spec?.policyName ?? '',
      ),
      column(
        'ParamRef',
        'string',
        'ParamRef indicates the param resource which sets the configration param',
        (object) => {
          const reference: Stored | undefined = object.spec?.paramRef
          if (!reference) return '<unset>'
          return reference.namespace
            ? `${reference.namespace}/${reference.name ?? '*'}`
            : (reference.name ?? '*')
        },
      ),
      ageColumn,
    ],
  }
}

function validateParamRef(reference: Stored | undefined, errors: FieldErrors): void {
  if (!reference) return
  if (reference.name && reference.selector)
    errors.forbidden('spec.paramRef.name', 'name and selector are mutually exclusive')
  else if (!reference.name && !reference.selector)
    errors.required('spec.paramRef', 'one of name or selector must be specified')
  if (reference.parameterNotFoundAction === undefined)
    errors.required('spec.paramRef.parameterNotFoundAction')
  else if (!['Allow', 'Deny'].includes(reference.parameterNotFoundAction)) {
    errors.notSupported(
      'spec.paramRef.parameterNotFoundAction',
      reference.parameterNotFoundAction,
      ['Deny', 'Allow'],
    )
  }
}

function validateActions(actions: readonly string[] | undefined, errors: FieldErrors): void {
  const list = actions ?? []
  if (list.length === 0) errors.required('spec.validationActions')
  const seen = new Set<string>()
  for (const [index, action] of list.entries()) {
    if (!['Audit', 'Deny', 'Warn'].includes(action))
      errors.notSupported(`spec.validationActions[${index}]`, action, ['Audit', 'Deny', 'Warn'])
    if (seen.has(action)) errors.duplicate(`spec.validationActions[${index}]`, action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn'))
    errors.invalid(
      'spec.validationActions',
      list,
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    )
}

export const validatingAdmissionPolicyBinding = bindingRules(
  'ValidatingAdmissionPolicyBinding',
  true,
)
export const mutatingAdmissionPolicyBinding = bindingRules('MutatingAdmissionPolicyBinding', false)

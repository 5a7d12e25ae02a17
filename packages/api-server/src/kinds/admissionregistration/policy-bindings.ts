/** Bindings of admission policies of either kind. */
import type { LabelSelector, ParamRef, ValidatingAdmissionPolicyBinding } from '@gyropilot/api'
import { labelSelectorText } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateLabelSelector } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, pathSegment } from '@gyropilot/schema/validation/names'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import {
  GROUP,
  defaultMatchResources,
  validateMatchResources,
  validateMutableOperations,
} from './policies.ts'

function bindingRules(
  kind: string,
  validating: boolean,
): KindRules<ValidatingAdmissionPolicyBinding> {
  return {
    group: GROUP,
    kind,
    unconditionalUpdate: false,
    generationOf: (object) => object.spec,
    defaults: (object) => defaultMatchResources(object.spec?.matchResources),
    validate(object, errors) {
      const spec = object.spec ?? {}
      const policy: string = spec.policyName ?? ''
      if (policy === '') errors.required('spec.policyName')
      else invalidAll(errors, 'spec.policyName', policy, dnsSubdomain(policy))
      validateParamRef(spec.paramRef, errors)
      if (spec.matchResources)
        validateMatchResources(spec.matchResources, errors, 'spec.matchResources')
      if (validating) validateActions(spec.validationActions, errors)
      else validateMutableOperations(spec.matchResources, errors, 'spec.matchResources')
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
        'ParamRef indicates the param resource which sets the configuration param',
        (object) => paramText(object.spec?.paramRef),
      ),
      ageColumn,
    ],
  }
}

/** Parameters without a namespace may be anywhere; selectors are written as Go writes them. */
function paramText(reference: StoredOf<ParamRef> | undefined): string {
  if (reference?.name) return `${reference.namespace || '*'}/${reference.name}`
  if (!reference?.selector) return '<unset>'
  return labelSelectorText(reference.selector as LabelSelector)
}

function validateParamRef(reference: StoredOf<ParamRef> | undefined, errors: FieldErrors): void {
  if (!reference) return
  const { name = '', selector, parameterNotFoundAction = '' } = reference
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '') {
    invalidAll(errors, 'spec.paramRef.name', name, pathSegment(name))
    if (selector) errors.forbidden('spec.paramRef.name', exclusive)
  }
  if (selector) {
    validateLabelSelector(selector, errors, 'spec.paramRef.selector')
    if (name !== '') errors.forbidden('spec.paramRef.selector', exclusive)
  }
  if (name === '' && !selector)
    errors.required('spec.paramRef', 'one of name or selector must be specified')
  if (parameterNotFoundAction === '') errors.required('spec.paramRef.parameterNotFoundAction')
  else if (!['Allow', 'Deny'].includes(parameterNotFoundAction)) {
    errors.notSupported('spec.paramRef.parameterNotFoundAction', parameterNotFoundAction, [
      'Deny',
      'Allow',
    ])
  }
}

function validateActions(actions: readonly string[] | undefined, errors: FieldErrors): void {
  const list = actions ?? []
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
  if (seen.size === 0)
    errors.required('spec.validationActions', 'at least one validation action is required')
}

export const validatingAdmissionPolicyBinding = bindingRules(
  'ValidatingAdmissionPolicyBinding',
  true,
)
export const mutatingAdmissionPolicyBinding = bindingRules('MutatingAdmissionPolicyBinding', false)

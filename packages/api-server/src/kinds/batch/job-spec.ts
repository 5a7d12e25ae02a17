import type { Stored } from '../../registry/kind-rules.ts'
import { givenValue } from '../../schema/decode.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import {
  isConvertibleSelector,
  invalidAll,
  isEmptySelector,
  selectorMatches,
  validateLabelSelector,
} from '../../schema/validation/labels.ts'
import { dnsLabel, domainPrefixedPath } from '../../schema/validation/names.ts'
import { validateNonNegative } from '../../schema/validation/numbers.ts'
import { validateTemplate } from '../core/pod/spec.ts'
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policies.ts'

const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid']
const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name']
const POLICIES = ['OnFailure', 'Never']
const MAX_INDEXED_PARALLELISM = 100000

/** A job that is created: selector and labels must be the generated ones, unless the selector is manual. */
export function validateJobSpec(object: Stored, errors: FieldErrors): void {
  const spec: Stored = object.spec ?? {}
  if (spec.manualSelector !== true) validateGenerated(object, spec, errors)
  validateSpecAndSelector(spec, errors, 'spec')
  const { name = '' } = object.metadata ?? {}
  if (spec.completionMode === 'Indexed' && spec.completions > 0) {
    const hostname = `${name}-${spec.completions - 1}`
    const messages = dnsLabel(hostname)
    if (messages.length > 0) {
      errors.invalid(
        'metadata.name',
        name,
        `will not able to create pod with invalid DNS hostname: ${JSON.stringify(hostname)}: ${messages[0]}`,
      )
    }
  }
}

function validateGenerated(object: Stored, spec: Stored, errors: FieldErrors): void {
  const { uid = '', name = '' } = object.metadata ?? {}
  const labels: Record<string, string> = spec.template?.metadata?.labels ?? {}
  if (!spec.selector) return
  const expect = (keys: readonly string[], value: string): void => {
    for (const key of keys) {
      if (labels[key] === undefined)
        errors.required(`spec.template.metadata.labels[${key}]`, `must be '${value}'`)
      else if (labels[key] !== value)
        errors.invalid(`spec.template.metadata.labels[${key}]`, labels, `must be '${value}'`)
    }
  }
  expect(UID_LABELS, uid)
  expect(NAME_LABELS, name)
  const { matchLabels = {}, matchExpressions = [] } = spec.selector
  const generated =
    Object.keys(matchLabels).length === 1 &&
    matchExpressions.length === 0 &&
    UID_LABELS.some((key) => matchLabels[key] === uid)
  if (!generated) errors.invalid('spec.selector', spec.selector, '`selector` not auto-generated')
}

export function validateSpecAndSelector(spec: Stored, errors: FieldErrors, field: string): void {
  validateSpecFields(spec, errors, field)
  const selector: Stored | undefined = spec.selector
  if (!selector) errors.required(`${field}.selector`)
  else validateLabelSelector(selector, errors, `${field}.selector`)
  if (selector && !isConvertibleSelector(selector)) return
  const labels = spec.template?.metadata?.labels
  if (!selector || !(isEmptySelector(selector) || selectorMatches(selector, labels))) {
    errors.invalid(
      `${field}.template.metadata.labels`,
      givenValue(spec.template?.metadata, 'labels'),
      '`selector` does not match template `labels`',
    )
  }
}

/** Also of the template in a CronJob, which has neither selector nor defaults of its own. */
export function validateSpecFields(spec: Stored, errors: FieldErrors, field: string): void {
  for (const name of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]) {
    validateNonNegative(spec[name], errors, `${field}.${name}`)
  }
  validateIndexes(spec, errors, field)
  if (spec.managedBy !== undefined) {
    invalidAll(errors, `${field}.managedBy`, spec.managedBy, domainPrefixedPath(spec.managedBy))
    if (spec.managedBy.length > 63) errors.tooLong(`${field}.managedBy`, 63)
  }
  if (spec.completionMode !== undefined) {
    if (!['Indexed', 'NonIndexed'].includes(spec.completionMode))
      errors.notSupported(`${field}.completionMode`, spec.completionMode, ['Indexed', 'NonIndexed'])
    else if (spec.completionMode === 'Indexed') {
      if (spec.completions === undefined)
        errors.required(`${field}.completions`, 'when completion mode is Indexed')
      else if (spec.parallelism > MAX_INDEXED_PARALLELISM) {
        errors.invalid(
          `${field}.parallelism`,
          spec.parallelism,
          `must be less than or equal to ${MAX_INDEXED_PARALLELISM} when completion mode is Indexed`,
        )
      }
    }
  }
  if (spec.podFailurePolicy) validatePodFailurePolicy(spec, errors, `${field}.podFailurePolicy`)
  if (spec.successPolicy) validateSuccessPolicy(spec, errors, field)
  validateReplacement(spec, errors, `${field}.podReplacementPolicy`)
  validateTemplate(spec.template ?? {}, errors, `${field}.template`)
  validateRestartPolicy(spec, errors, `${field}.template.spec.restartPolicy`)
}

function validateIndexes(spec: Stored, errors: FieldErrors, field: string): void {
  const indexed = spec.completionMode === 'Indexed'
  if (spec.maxFailedIndexes !== undefined) {
    if (spec.completions !== undefined && spec.maxFailedIndexes > spec.completions) {
      errors.invalid(
        `${field}.maxFailedIndexes`,
        spec.maxFailedIndexes,
        'must be less than or equal to completions',
      )
    }
    if (spec.backoffLimitPerIndex === undefined)
      errors.required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')
    if (!indexed)
      errors.invalid(
        `${field}.maxFailedIndexes`,
        spec.maxFailedIndexes,
        'requires indexed completion mode',
      )
  }
  if (spec.backoffLimitPerIndex !== undefined && !indexed) {
    errors.invalid(
      `${field}.backoffLimitPerIndex`,
      spec.backoffLimitPerIndex,
      'requires indexed completion mode',
    )
  }
}

function validateReplacement(spec: Stored, errors: FieldErrors, field: string): void {
  const policy: string | undefined = spec.podReplacementPolicy
  if (policy === undefined) return
  const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  if (!supported.includes(policy)) errors.notSupported(field, policy, supported)
}

function validateRestartPolicy(spec: Stored, errors: FieldErrors, field: string): void {
  const policy: string | undefined = spec.template?.spec?.restartPolicy
  if (policy === undefined || policy === '' || policy === 'Always')
    errors.required(field, 'valid values: "OnFailure", "Never"')
  else if (!POLICIES.includes(policy)) errors.notSupported(field, policy, POLICIES)
  else if (spec.podFailurePolicy && policy !== 'Never') {
    errors.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

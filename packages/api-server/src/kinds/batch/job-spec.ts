import type { Job, JobSpec } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  isConvertibleSelector,
  isEmptySelector,
  selectorMatches,
  validateLabelSelector,
} from '@gyropilot/schema/validation/labels'
import { sortedMap } from '@gyropilot/schema/sorted-json'
import { validateDomainPrefixedPath } from '@gyropilot/schema/validation/domain-path'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { validateTemplate } from '../core/pod/spec.ts'
import { printedSelector } from '../workload-template.ts'
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policies.ts'

const POLICIES = ['OnFailure', 'Never']
const MAX_INDEXED = 100000
const MAX_WITH_MANY = 10000

/** A job that is created: selector and labels must be the generated ones, unless the selector is manual. */
export function validateJobSpec(object: StoredOf<Job>, errors: FieldErrors): void {
  const spec = object.spec ?? {}
  if (spec.manualSelector !== true) validateGenerated(object, spec, errors)
  validateSpecAndSelector(spec, errors, 'spec')
  const { name = '' } = object.metadata ?? {}
  if (spec.completionMode === 'Indexed' && spec.completions !== undefined && spec.completions > 0) {
    const hostname = `${name}-${spec.completions - 1}`
    const messages = dnsLabel(hostname)
    if (messages.length > 0) {
      errors.invalid(
        'metadata.name',
        name,
        `will not able to create pod with invalid DNS label: ${hostname}`,
      )
    }
  }
}

function validateGenerated(
  object: StoredOf<Job>,
  spec: StoredOf<JobSpec>,
  errors: FieldErrors,
): void {
  const { uid = '', name = '' } = object.metadata ?? {}
  const labels: Record<string, string> = spec.template?.metadata?.labels ?? {}
  if (!spec.selector) return
  const expected: Record<string, string> = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  }
  for (const [key, value] of Object.entries(expected)) {
    if (labels[key] === undefined)
      errors.required(`spec.template.metadata.labels[${key}]`, `must be '${value}'`)
    else if (labels[key] !== value)
      errors.invalid(
        `spec.template.metadata.labels[${key}]`,
        sortedMap(labels),
        `must be '${value}'`,
      )
  }
  if (isConvertibleSelector(spec.selector) && !selectorMatches(spec.selector, expected))
    errors.invalid('spec.selector', printedSelector(spec.selector), '`selector` not auto-generated')
}

export function validateSpecAndSelector(
  spec: StoredOf<JobSpec>,
  errors: FieldErrors,
  field: string,
): void {
  validateSpecFields(spec, errors, field)
  const selector = spec.selector
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
export function validateSpecFields(
  spec: StoredOf<JobSpec>,
  errors: FieldErrors,
  field: string,
): void {
  for (const name of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const) {
    validateNonNegative(spec[name], errors, `${field}.${name}`)
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')
  if (spec.managedBy !== undefined) {
    validateDomainPrefixedPath(spec.managedBy, errors, `${field}.managedBy`)
    if (Buffer.byteLength(spec.managedBy) > 63) errors.tooLong(`${field}.managedBy`, 63)
  }
  validateCompletionMode(spec, errors, field)
  if (spec.podFailurePolicy) validatePodFailurePolicy(spec, errors, `${field}.podFailurePolicy`)
  if (spec.successPolicy) validateSuccessPolicy(spec, errors, field)
  validateReplacement(spec, errors, `${field}.podReplacementPolicy`)
  validateTemplate(spec.template ?? {}, errors, `${field}.template`)
  validateRestartPolicy(spec, errors, `${field}.template.spec.restartPolicy`)
}

function validateCompletionMode(spec: StoredOf<JobSpec>, errors: FieldErrors, field: string): void {
  const mode: string = spec.completionMode ?? 'NonIndexed'
  if (mode !== 'Indexed' && mode !== 'NonIndexed')
    errors.notSupported(`${field}.completionMode`, mode, ['NonIndexed', 'Indexed'])
  else if (mode === 'Indexed') validateIndexed(spec, errors, field)
  else {
    for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[name] !== undefined)
        errors.invalid(`${field}.${name}`, spec[name], 'requires indexed completion mode')
    }
  }
}

/** The lists of indexes in the status must stay short. */
function validateIndexed(spec: StoredOf<JobSpec>, errors: FieldErrors, field: string): void {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec
  const limit = (name: string, value: number | undefined, most: number, when = ''): void => {
    if (value !== undefined && value > most)
      errors.invalid(`${field}.${name}`, value, `must be less than or equal to ${most}${when}`)
  }
  if (completions === undefined)
    errors.required(`${field}.completions`, 'when completion mode is Indexed')
  limit('parallelism', parallelism, MAX_INDEXED, ' when completion mode is Indexed')
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    errors.invalid(
      `${field}.maxFailedIndexes`,
      maxFailedIndexes,
      'must be less than or equal to completions',
    )
  limit('maxFailedIndexes', maxFailedIndexes, MAX_INDEXED)
  if ((completions ?? 0) <= MAX_INDEXED || backoffLimitPerIndex === undefined) return
  const when = ` when completions are above ${MAX_INDEXED} and used with backoff limit per index`
  if (maxFailedIndexes === undefined)
    errors.required(
      `${field}.maxFailedIndexes`,
      `must be specified when completions is above ${MAX_INDEXED}`,
    )
  limit('parallelism', parallelism, MAX_WITH_MANY, when)
  limit('maxFailedIndexes', maxFailedIndexes, MAX_WITH_MANY, when)
}

function validateReplacement(spec: StoredOf<JobSpec>, errors: FieldErrors, field: string): void {
  const policy: string | undefined = spec.podReplacementPolicy
  if (policy === undefined) return
  const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  if (!supported.includes(policy)) errors.notSupported(field, policy, supported)
}

function validateRestartPolicy(spec: StoredOf<JobSpec>, errors: FieldErrors, field: string): void {
  const policy: string | undefined = spec.template?.spec?.restartPolicy
  if (policy === undefined || policy === '' || policy === 'Always')
    errors.required(field, 'valid values: "OnFailure", "Never"')
  else if (!POLICIES.includes(policy)) errors.notSupported(field, policy, POLICIES)
  else if (spec.podFailurePolicy && policy !== 'Never') {
    errors.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

const MOST_INDEXES = 100_000
const MOST_AT_ONCE = 10_000

/** What failed of so many indexes may be more than a status can hold. */
export function indexWarnings(spec: StoredOf<JobSpec> | undefined, field: string): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec ?? {}
  if (completionMode !== 'Indexed' || completions <= MOST_INDEXES || parallelism <= MOST_AT_ONCE)
    return []
  return [
    `${field}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
  ]
}

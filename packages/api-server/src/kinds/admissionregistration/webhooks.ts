import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  WebhookClientConfig,
} from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenValue } from '@gyropilot/schema/decode'
import { invalidAll, validateLabelSelector } from '@gyropilot/schema/validation/labels'
import { dns1035Label, fullyQualifiedName } from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { ExpressionCheck } from './expressions.ts'
import {
  defaultMatching,
  defaultRule,
  validateMatchConditions,
  validateOperations,
  validateRule,
} from './rules.ts'
import { validateWebhookService } from './webhook-service.ts'
import { validateWebhookUrl } from './webhook-url.ts'

const GROUP = 'admissionregistration.k8s.io'
const VERSIONS = ['v1', 'v1beta1']

function defaultWebhook(webhook: DraftOf<MutatingWebhook>, mutating: boolean): void {
  webhook.failurePolicy ??= 'Fail'
  defaultMatching(webhook)
  webhook.timeoutSeconds ??= 10
  if (mutating) webhook.reinvocationPolicy ??= 'Never'
  if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443
  for (const rule of webhook.rules ?? []) defaultRule(rule)
}

function validateClient(
  config: StoredOf<WebhookClientConfig>,
  errors: FieldErrors,
  field: string,
): void {
  const url: string | undefined = config.url
  const service = config.service
  if ((url === undefined) === (service === undefined))
    errors.required(field, 'exactly one of url or service is required')
  else if (url !== undefined) validateWebhookUrl(url, errors, `${field}.url`)
  else validateWebhookService(service!, errors, `${field}.service`)
}

function validateVersions(
  webhook: StoredOf<MutatingWebhook>,
  errors: FieldErrors,
  field: string,
): void {
  const versions: readonly string[] = webhook.admissionReviewVersions ?? []
  if (versions.length === 0) {
    errors.required(field, `must specify one of ${VERSIONS.join(', ')}`)
    return
  }
  const seen = new Set<string>()
  let known = false
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) {
      errors.invalid(`${field}[${index}]`, version, 'duplicate version')
      continue
    }
    seen.add(version)
    invalidAll(errors, `${field}[${index}]`, version, dns1035Label(version))
    if (VERSIONS.includes(version)) known = true
  }
  if (!known)
    errors.invalid(
      field,
      givenValue(webhook, 'admissionReviewVersions'),
      `must include at least one of ${VERSIONS.join(', ')}`,
    )
}

/** One error at most. */
function validateName(name: string, errors: FieldErrors, field: string): void {
  if (name === '') errors.required(field)
  else {
    const messages = fullyQualifiedName(name, 3)
    if (messages.length > 0) errors.invalid(field, name, messages.join(','))
  }
}

function validateWebhook(
  webhook: StoredOf<MutatingWebhook>,
  mutating: boolean,
  errors: FieldErrors,
  field: string,
): void {
  validateName(webhook.name ?? '', errors, `${field}.name`)
  for (const [index, rule] of (webhook.rules ?? []).entries()) {
    const at = `${field}.rules[${index}]`
    validateOperations(rule.operations, errors, `${at}.operations`)
    validateRule(rule, errors, at)
  }
  enumeration(webhook, 'failurePolicy', ['Fail', 'Ignore'], errors, field)
  enumeration(webhook, 'matchPolicy', ['Equivalent', 'Exact'], errors, field)
  if (webhook.sideEffects === undefined)
    errors.required(`${field}.sideEffects`, 'must specify one of None, NoneOnDryRun')
  else enumeration(webhook, 'sideEffects', ['None', 'NoneOnDryRun'], errors, field)
  const seconds: number | undefined = webhook.timeoutSeconds
  if (seconds !== undefined && (seconds > 30 || seconds < 1)) {
    errors.invalid(
      `${field}.timeoutSeconds`,
      seconds,
      'the timeout value must be between 1 and 30 seconds',
    )
  }
  validateLabelSelector(webhook.namespaceSelector, errors, `${field}.namespaceSelector`)
  validateLabelSelector(webhook.objectSelector, errors, `${field}.objectSelector`)
  if (mutating) enumeration(webhook, 'reinvocationPolicy', ['IfNeeded', 'Never'], errors, field)
  validateClient(webhook.clientConfig ?? {}, errors, `${field}.clientConfig`)
  const conditions = webhook.matchConditions ?? []
  validateMatchConditions(conditions, new ExpressionCheck({}), errors, `${field}.matchConditions`)
}

function enumeration(
  webhook: StoredOf<MutatingWebhook>,
  name: 'failurePolicy' | 'matchPolicy' | 'reinvocationPolicy' | 'sideEffects',
  supported: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  const value: string | undefined = webhook[name]
  if (value !== undefined && !supported.includes(value))
    errors.notSupported(`${field}.${name}`, value, supported)
}

function configuration(kind: string, mutating: boolean): KindRules<MutatingWebhookConfiguration> {
  const count = (object: StoredOf<MutatingWebhookConfiguration>): number =>
    (object.webhooks ?? []).length
  return {
    group: GROUP,
    kind,
    unconditionalUpdate: false,
    generationOf: (object) => object.webhooks,
    generationCountsEmpty: true,
    defaults(object) {
      for (const webhook of object.webhooks ?? []) defaultWebhook(webhook, mutating)
    },
    validate(object, errors) {
      const names = new Set<string>()
      for (const [index, webhook] of (object.webhooks ?? []).entries()) {
        const at = `webhooks[${index}]`
        validateWebhook(webhook, mutating, errors, at)
        validateVersions(webhook, errors, `${at}.admissionReviewVersions`)
        const { name = '' } = webhook
        if (name && names.has(name)) errors.duplicate(`${at}.name`, name)
        names.add(name)
      }
    },
    columns: mutating
      ? [
          nameColumn,
          column(
            'Webhooks',
            'integer',
            'Webhooks indicates the number of webhooks registered in this configuration',
            count,
          ),
          ageColumn,
        ]
      : tableColumns('admissionregistration.k8s.io/validatingwebhookconfigurations', {
          Webhooks: count,
        }),
  }
}

export const validatingWebhookConfiguration = configuration('ValidatingWebhookConfiguration', false)
export const mutatingWebhookConfiguration = configuration('MutatingWebhookConfiguration', true)

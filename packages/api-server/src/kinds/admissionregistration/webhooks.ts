import type { Draft, KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { givenValue } from '../../schema/decode.ts'
import { invalidAll, validateLabelSelector } from '../../schema/validation/labels.ts'
import { dns1035Label, fullyQualifiedName, qualifiedName } from '../../schema/validation/names.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { ExpressionCheck } from './expressions.ts'
import { defaultMatching, defaultRule, validateOperations, validateRule } from './rules.ts'

const GROUP = 'admissionregistration.k8s.io'
const VERSIONS = ['v1', 'v1beta1']
const URL_FORMAT = 'desired format: https://host[/path]'

function defaultWebhook(webhook: Draft, mutating: boolean): void {
  webhook.failurePolicy ??= 'Fail'
  defaultMatching(webhook)
  webhook.timeoutSeconds ??= 10
  if (mutating) webhook.reinvocationPolicy ??= 'Never'
  if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443
  for (const rule of webhook.rules ?? []) defaultRule(rule)
}

export function validateWebhookUrl(text: string, errors: FieldErrors, field: string): void {
  if (/\s/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) {
    errors.required(
      field,
      `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URL; ${URL_FORMAT}`,
    )
    return
  }
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/.exec(
    text,
  )!
  const [, scheme = '', authority = '', , query, fragment] = match
  if (scheme !== 'https')
    errors.invalid(field, scheme, `'https' is the only allowed URL scheme; ${URL_FORMAT}`)
  const host = authority.split('@').at(-1)!
  if (host === '') errors.invalid(field, host, `host must be specified; ${URL_FORMAT}`)
  if (authority.includes('@'))
    errors.invalid(field, authority.split('@')[0], 'user information is not permitted in the URL')
  if (fragment && fragment !== '#')
    errors.invalid(field, fragment.slice(1), 'fragments are not permitted in the URL')
  if (query && query !== '?')
    errors.invalid(field, query.slice(1), 'query parameters are not permitted in the URL')
}

function validateService(service: Stored, errors: FieldErrors, field: string): void {
  if (!service.name) errors.required(`${field}.name`, 'service name is required')
  if (!service.namespace) errors.required(`${field}.namespace`, 'service namespace is required')
  if (service.port === undefined || service.port < 1 || service.port > 65535) {
    errors.invalid(
      `${field}.port`,
      service.port ?? 0,
      'port is not valid: must be between 1 and 65535, inclusive',
    )
  }
  if (service.path && !service.path.startsWith('/'))
    errors.invalid(`${field}.path`, service.path, "must start with a '/'")
}

function validateClient(config: Stored, errors: FieldErrors, field: string): void {
  const url: string | undefined = config.url
  const service: Stored | undefined = config.service
  if ((url === undefined) === (service === undefined))
    errors.required(field, 'exactly one of url or service is required')
  else if (url !== undefined) validateWebhookUrl(url, errors, `${field}.url`)
  else validateService(service!, errors, `${field}.service`)
}

function validateVersions(webhook: Stored, errors: FieldErrors, field: string): void {
  const versions: readonly string[] = webhook.admissionReviewVersions ?? []
  if (versions.length === 0) {
    errors.required(field, `must specify one of ${VERSIONS.join(', ')}`)
    return
  }
  const seen = new Set<string>()
  let known = false
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${field}[${index}]`, version, 'duplicate version')
    seen.add(version)
    const messages = dns1035Label(version)
    if (messages.length > 0) errors.invalid(`${field}[${index}]`, version, messages.join(','))
    if (VERSIONS.includes(version)) known = true
  }
  if (!known)
    errors.invalid(
      field,
      givenValue(webhook, 'admissionReviewVersions'),
      `must include at least one of ${VERSIONS.join(', ')}`,
    )
}

function validateWebhook(
  webhook: Stored,
  mutating: boolean,
  errors: FieldErrors,
  field: string,
): void {
  invalidAll(errors, `${field}.name`, webhook.name ?? '', fullyQualifiedName(webhook.name ?? '', 3))
  for (const [index, rule] of (webhook.rules ?? []).entries()) {
    const at = `${field}.rules[${index}]`
    validateOperations(rule.operations, errors, `${at}.operations`)
    validateRule(rule, true, errors, at)
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
      seconds > 30
        ? 'the timeout value must be between 1 and 30 seconds'
        : 'the timeout value must be between 1 and 30 seconds',
    )
  }
  validateLabelSelector(webhook.namespaceSelector, errors, `${field}.namespaceSelector`)
  validateLabelSelector(webhook.objectSelector, errors, `${field}.objectSelector`)
  validateClient(webhook.clientConfig ?? {}, errors, `${field}.clientConfig`)
  if (mutating) enumeration(webhook, 'reinvocationPolicy', ['IfNeeded', 'Never'], errors, field)
  validateConditions(webhook.matchConditions ?? [], errors, `${field}.matchConditions`)
}

function validateConditions(
  conditions: readonly Stored[],
  errors: FieldErrors,
  field: string,
): void {
  const expressions = new ExpressionCheck({})
  const names = new Set<string>()
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${field}[${index}]`
    expressions.check('condition', expression, errors, `${at}.expression`, '')
    if (!name) errors.required(`${at}.name`)
    else {
      if (names.has(name)) errors.duplicate(`${at}.name`, name)
      invalidAll(errors, `${at}.name`, name, qualifiedName(name))
    }
    names.add(name)
  }
}

function enumeration(
  webhook: Stored,
  name: string,
  supported: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  const value: string | undefined = webhook[name]
  if (value !== undefined && !supported.includes(value))
    errors.notSupported(`${field}.${name}`, value, supported)
}

function configuration(kind: string, mutating: boolean): KindRules {
  const count = (object: Stored): number => (object.webhooks ?? []).length
  return {
    group: GROUP,
    kind,
    generationOf: (object) => object.webhooks,
    defaults(object) {
      for (const webhook of object.webhooks ?? []) defaultWebhook(webhook, mutating)
    },
    validate(object, errors) {
      const names = new Set<string>()
      for (const [index, webhook] of (object.webhooks ?? []).entries()) {
        const at = `webhooks[${index}]`
        validateWebhook(webhook, mutating, errors, at)
        validateVersions(webhook, errors, `${at}.admissionReviewVersions`)
        if (webhook.name && names.has(webhook.name)) errors.duplicate(`${at}.name`, webhook.name)
        names.add(webhook.name)
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

/** How a definition says its versions are converted. Paths are those of the server's own form. */
import { authoritiesProblem } from '@gyropilot/foundation/x509'
import { validateWebhookUrl } from '../kinds/admissionregistration/webhook-url.ts'
import { validateWebhookService } from '../kinds/admissionregistration/webhook-service.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { dns1035Label } from '@gyropilot/schema/validation/names'

const CLIENT = 'spec.conversion.webhookClientConfig'
const VERSIONS = 'spec.conversion.conversionReviewVersions'

/** What is wrong with the authorities of the webhook that a definition names; undefined: nothing, or it names none. */
export function authoritiesProblemOf(conversion: Stored | undefined): string | undefined {
  const caBundle: string = conversion?.['webhook']?.clientConfig?.caBundle ?? ''
  if (conversion?.['strategy'] !== 'Webhook' || caBundle === '') return undefined
  return authoritiesProblem(Buffer.from(caBundle, 'base64').toString())
}

/** `before`: of the definition before an update. A new definition may name useless authorities; it is not served then. */
export function validateConversion(
  conversion: Stored,
  errors: FieldErrors,
  before?: Stored,
  preservesUnknown = false,
): void {
  const strategy: string = conversion['strategy'] ?? ''
  const webhook: Stored = conversion['webhook'] ?? {}
  const versions: readonly string[] = webhook['conversionReviewVersions'] ?? []
  if (preservesUnknown && strategy !== 'None')
    errors.invalid(
      'spec.conversion.strategy',
      strategy,
      'must be None if spec.preserveUnknownFields is true',
    )
  if (strategy === '') errors.required('spec.conversion.strategy')
  else if (strategy !== 'None' && strategy !== 'Webhook')
    errors.notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])
  if (strategy === 'Webhook') {
    validateClient(webhook['clientConfig'], errors)
    const problem = authoritiesProblemOf(conversion)
    if (problem !== undefined && before !== undefined && authoritiesProblemOf(before) === undefined)
      errors.invalid(`${CLIENT}.caBundle`, webhook['clientConfig'].caBundle, problem)
    validateReviewVersions(versions, errors)
    return
  }
  const message = 'should not be set when strategy is not set to Webhook'
  if (webhook['clientConfig'] !== undefined) errors.forbidden(CLIENT, message)
  if (versions.length > 0) errors.forbidden(VERSIONS, message)
}

function validateClient(client: Stored | undefined, errors: FieldErrors): void {
  if (client === undefined) errors.required(CLIENT, 'required when strategy is set to Webhook')
  else if ((client['url'] === undefined) === (client['service'] === undefined))
    errors.required(CLIENT, 'exactly one of url or service is required')
  else if (client['url'] !== undefined) validateWebhookUrl(client['url'], errors, `${CLIENT}.url`)
  else validateWebhookService(client['service'], errors, `${CLIENT}.service`)
}

function validateReviewVersions(versions: readonly string[], errors: FieldErrors): void {
  if (versions.length === 0) {
    errors.required(VERSIONS)
    return
  }
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    const field = `${VERSIONS}[${index}]`
    if (seen.has(version)) errors.invalid(field, version, 'duplicate version')
    else for (const message of dns1035Label(version)) errors.invalid(field, version, message)
    seen.add(version)
  }
  if (!seen.has('v1') && !seen.has('v1beta1'))
    errors.invalid(VERSIONS, versions, 'must include at least one of v1, v1beta1')
}

/** Contract: docs/behaviour/runtime/custom-controllers.md, Webhooks. */
import { errorText } from '@gyropilot/foundation'
import { parseExact, stringifyExact } from '@gyropilot/foundation/exact-json'
import type { HttpAnswer } from '../controller-manager/health-checks.ts'
import type { HttpRequest } from '../system/http-server.ts'

/** What answers one sort of review. Made by `admissionWebhook` and `conversionWebhook`. */
export interface Webhook {
  readonly kind: string
  readonly apiVersion: string
  /** The response of the review, without its uid. */
  respond(request: Readonly<Record<string, unknown>>): Promise<object>
}

/** What a server answers to the requests of API servers; undefined for other paths. */
export function webhooksByPath(
  webhooks: Readonly<Record<`/${string}`, Webhook>>,
): (request: HttpRequest) => Promise<HttpAnswer | undefined> {
  const byPath = new Map<string, Webhook>(Object.entries(webhooks))
  return async ({ target, body }) => {
    const webhook = byPath.get(target.split('?', 1)[0]!)
    return webhook && answered(webhook, body)
  }
}

async function answered(webhook: Webhook, body: string): Promise<HttpAnswer> {
  const { kind, apiVersion } = webhook
  let request: Readonly<Record<string, unknown>>
  try {
    request = requestOf(parseExact(body), webhook)
  } catch (error) {
    const text = `${errorText(error)}\n`
    return { status: 400, contentType: 'text/plain; charset=utf-8', body: text }
  }
  const response = { uid: request['uid'], ...(await webhook.respond(request)) }
  const review = stringifyExact({ kind, apiVersion, response })
  return { status: 200, contentType: 'application/json', body: review }
}

function requestOf(
  review: unknown,
  { kind, apiVersion }: Webhook,
): Readonly<Record<string, unknown>> {
  const asked = (review ?? {}) as Readonly<Record<string, unknown>>
  if (asked['kind'] !== kind || asked['apiVersion'] !== apiVersion)
    throw new Error(
      `a ${kind} of ${apiVersion} is answered here, not ${asked['kind']} of ${asked['apiVersion']}`,
    )
  const { request } = asked
  if (typeof request !== 'object' || request === null) throw new Error(`the ${kind} has no request`)
  return request as Readonly<Record<string, unknown>>
}

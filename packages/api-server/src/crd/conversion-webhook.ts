/**
 * Conversion between versions of a custom resource by a webhook. Contract: docs/behaviour/api-server/custom-resources.md,
 * Webhook.
 */
import { uuid } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { callTarget } from '../admission/webhooks/client-config.ts'
import type { ServiceResolver } from '../admission/webhooks/client-config.ts'
import { UndecodableResponse } from '../admission/webhooks/review-header.ts'
import { ApiError } from '../contracts.ts'
import { unclassified } from '../http/errors.ts'
import type { OutgoingCalls } from '../http/outgoing-calls/outgoing-calls.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ConversionFailure, ConversionMetrics } from './conversion-metrics.ts'
import { acceptedObject, BadConversion, objectsOf } from './conversion-review.ts'

export interface ConversionParts {
  readonly calls: OutgoingCalls
  readonly resolveService: ServiceResolver
  readonly random: RandomSource
  readonly metrics?: ConversionMetrics
}

const TIMEOUT_SECONDS = 30
const SUPPORTED = ['v1', 'v1beta1']

/** Answers the objects in the wanted version, in their order, with one call for all. Throws ApiError. */
export async function convertByWebhook(
  webhook: Stored,
  parts: ConversionParts,
  objects: readonly Stored[],
  desiredApiVersion: string,
): Promise<readonly Draft[]> {
  if (objects.length === 0) return []
  try {
    return await convertTogether(webhook, parts, objects, desiredApiVersion)
  } catch (error) {
    if (objects.length === 1 || !(error instanceof BadAnswer)) throw error
  }
  // Of several it is told what is wrong with the first that is not converted, as if each had been asked for by itself.
  const converted: Draft[] = []
  for (const object of objects)
    converted.push(...(await convertTogether(webhook, parts, [object], desiredApiVersion)))
  return converted
}

/** The webhook answered, but not well. */
class BadAnswer extends ApiError {}

async function convertTogether(
  webhook: Stored,
  parts: ConversionParts,
  objects: readonly Stored[],
  desiredApiVersion: string,
): Promise<readonly Draft[]> {
  const [first] = objects
  const subject = `conversion webhook for ${first!['apiVersion']}, Kind=${first!['kind']}`
  const versions: readonly string[] = webhook['conversionReviewVersions'] ?? []
  const reviewVersion = versions.find((version) => SUPPORTED.includes(version)) ?? 'v1'
  const uid = uuid(parts.random)
  const body = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${reviewVersion}`,
    request: { uid, desiredAPIVersion: desiredApiVersion, objects },
  }
  const counted = parts.metrics?.begun()
  let answer: unknown
  try {
    const target = callTarget(webhook['clientConfig'], TIMEOUT_SECONDS, parts.resolveService)
    answer = await parts.calls.post({ ...target, body, isClientTimeout: true })
  } catch (error) {
    counted?.('conversion_webhook_call_failure')
    throw unclassified(`${subject} failed: ${(error as Error).message}`)
  }
  try {
    const converted = objectsOf(answer, uid, reviewVersion, objects.length).map((object, index) =>
      acceptedObject(object, objects[index]!, desiredApiVersion),
    )
    counted?.('')
    return converted
  } catch (error) {
    counted?.(failureOf(error))
    if (error instanceof UndecodableResponse)
      throw new BadAnswer(500, '', `${subject} failed: ${error.message}`)
    if (!(error instanceof BadConversion)) throw error
    throw new BadAnswer(500, '', error.bare ? error.message : `${subject} ${error.message}`)
  }
}

/** As kube-apiserver counts it: what cannot be decoded is a call that failed. */
function failureOf(error: unknown): ConversionFailure {
  if (!(error instanceof BadConversion) || error.part === 'undecodable')
    return 'conversion_webhook_call_failure'
  switch (error.part) {
    case 'review':
      return 'conversion_webhook_malformed_response_failure'
    case 'count':
      return 'conversion_webhook_partial_response_failure'
    case 'object':
      return 'conversion_webhook_invalid_converted_object_failure'
  }
}

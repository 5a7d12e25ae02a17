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
import { stringifyExact } from '@gyropilot/foundation/exact-json'
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
const BATCH_CHARACTERS = 1024 * 1024
const SUPPORTED = ['v1', 'v1beta1']

/** Answers the objects in the wanted version, in their order, with one call for as many as fit. Throws ApiError. */
export async function convertByWebhook(
  webhook: Stored,
  parts: ConversionParts,
  objects: readonly Stored[],
  desiredApiVersion: string,
): Promise<readonly Draft[]> {
  const converted: Draft[] = []
  for (const some of batches(objects)) {
    const convert = (asked: readonly Stored[]): Promise<readonly Draft[]> =>
      convertTogether(webhook, parts, asked, desiredApiVersion)
    try {
      converted.push(...(await convert(some)))
      continue
    } catch (error) {
      if (some.length === 1 || !(error instanceof BadAnswer)) throw error
    }
    // Of several it is told what is wrong with the first that is not converted, as if each had been asked for by itself.
    for (const object of some) converted.push(...(await convert([object])))
  }
  return converted
}

/** However much there is to convert, no request and no answer is larger than one for a large object. */
function* batches(objects: readonly Stored[]): Generator<readonly Stored[]> {
  let batch: Stored[] = []
  let size = 0
  for (const object of objects) {
    const own = stringifyExact(object).length
    if (batch.length > 0 && size + own > BATCH_CHARACTERS) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(object)
    size += own
  }
  if (batch.length > 0) yield batch
}

/** Objects have no resourceVersion in the store, nor on their way there. */
function withoutVersion(object: Stored): Stored {
  const { resourceVersion: _resourceVersion, ...metadata } = (object['metadata'] ?? {}) as Stored
  return { ...object, metadata }
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
    request: { uid, desiredAPIVersion: desiredApiVersion, objects: objects.map(withoutVersion) },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
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

/**
 * Conversion between versions of a custom resource by a webhook. Contract: docs/behaviour/api-server/custom-resources.md,
 * Webhook.
 */
import { uuid } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { callTarget } from '../admission/webhooks/client-config.ts'
import type { ServiceResolver } from '../admission/webhooks/client-config.ts'
import type { ApiError } from '../contracts.ts'
import { unclassified } from '../http/errors.ts'
import type { OutgoingCalls } from '../http/outgoing-calls/outgoing-calls.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'

export interface ConversionParts {
  readonly calls: OutgoingCalls
  readonly resolveService: ServiceResolver
  readonly random: RandomSource
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
  const [first] = objects
  if (first === undefined) return []
  const fail = (text: string): ApiError =>
    unclassified(`conversion webhook for ${first['apiVersion']}, Kind=${first['kind']} ${text}`)
  const versions: readonly string[] = webhook['conversionReviewVersions'] ?? []
  const reviewVersion = versions.find((version) => SUPPORTED.includes(version)) ?? 'v1'
  const uid = uuid(parts.random)
  const body = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${reviewVersion}`,
    request: { uid, desiredAPIVersion: desiredApiVersion, objects },
  }
  let answer: unknown
  try {
    const target = callTarget(webhook['clientConfig'], TIMEOUT_SECONDS, parts.resolveService)
    answer = await parts.calls.post({ ...target, body })
  } catch (error) {
    throw fail(`failed: ${(error as Error).message}`)
  }
  const converted = convertedObjects(answer, uid, fail)
  if (converted.length !== objects.length)
    throw fail(`returned ${converted.length} objects, expected ${objects.length}`)
  return converted.map((object, index) => {
    checkType(object, index, objects[index]!, desiredApiVersion, fail)
    return restoreMetadata(object, objects[index]!, fail)
  })
}

type Fail = (text: string) => ApiError

function convertedObjects(answer: unknown, uid: string, fail: Fail): readonly Stored[] {
  const response = (answer as Stored | null)?.['response'] as Stored | undefined
  if (response === undefined || response === null) throw fail('failed: response was absent')
  if (response['uid'] !== uid)
    throw fail(
      `failed: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    )
  const result: Stored = response['result'] ?? {}
  if (result['status'] !== 'Success') {
    const message: string = result['message'] ?? ''
    throw fail(
      message === ''
        ? `failed: response.result.status was '${result['status'] ?? ''}', not 'Success'`
        : `failed: ${message}`,
    )
  }
  return response['convertedObjects'] ?? []
}

function checkType(
  object: Stored,
  index: number,
  original: Stored,
  desiredApiVersion: string,
  fail: Fail,
): void {
  const at = `returned invalid converted object at index ${index}: `
  if (object['apiVersion'] !== desiredApiVersion)
    throw fail(
      `${at}invalid groupVersion (expected ${desiredApiVersion}, received ${object['apiVersion'] ?? ''})`,
    )
  if (object['kind'] !== original['kind'])
    throw fail(`${at}invalid kind (expected ${original['kind']}, received ${object['kind'] ?? ''})`)
}

const IDENTITY = ['name', 'namespace', 'uid']

/** Of the metadata only labels and annotations are the webhook's to change. */
function restoreMetadata(object: Stored, original: Stored, fail: Fail): Draft {
  const given: Stored = object['metadata'] ?? {}
  const kept: Stored = original['metadata'] ?? {}
  for (const field of IDENTITY) {
    const [before, after] = [kept[field] ?? '', given[field] ?? '']
    if (before !== after)
      throw fail(`returned invalid object: must have the same ${field}: ${before} != ${after}`)
  }
  const { labels: _labels, annotations: _annotations, ...rest } = kept
  const metadata: Draft = { ...rest }
  if (given['labels'] !== undefined) metadata['labels'] = given['labels']
  if (given['annotations'] !== undefined) metadata['annotations'] = given['annotations']
  return cloneJson({ ...object, metadata }) as Draft
}

/** AdmissionReview in admission.k8s.io/v1: the question, and what answers are good. */
import type { JsonPatchOperation, Status } from '@gyropilot/api'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { describeRequest } from '../request-description.ts'

const API_VERSION = 'admission.k8s.io/v1'
const KIND = 'AdmissionReview'

export interface ReviewObjects {
  readonly object: Stored | undefined
  readonly oldObject: Stored | undefined
}

export interface Verdict {
  readonly allowed: boolean
  readonly status: Partial<Status> | undefined
  readonly patch: readonly JsonPatchOperation[] | undefined
  readonly warnings: readonly string[]
}

/** An answer that is none. */
export class InvalidResponse extends Error {}

export function reviewOf(
  uid: string,
  request: AdmissionRequest,
  seenAs: ResourceInfo,
  { object, oldObject }: ReviewObjects,
): object {
  return {
    kind: KIND,
    apiVersion: API_VERSION,
    request: {
      uid,
      ...describeRequest(request, seenAs),
      object: object ?? null,
      oldObject: oldObject ?? null,
    },
  }
}

/** Throws InvalidResponse. */
export function verdictOf(answer: unknown, uid: string, mutating: boolean): Verdict {
  const review = (typeof answer === 'object' && answer !== null ? answer : {}) as Stored
  const { response } = review
  if (typeof response !== 'object' || response === null)
    throw new InvalidResponse('webhook response was absent')
  if (response.uid !== uid)
    throw new InvalidResponse(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    )
  if (review['apiVersion'] !== API_VERSION || review['kind'] !== KIND) {
    const [version, kind] = [review['apiVersion'] ?? '', review['kind'] ?? '']
    throw new InvalidResponse(
      `expected webhook response of ${API_VERSION}, Kind=${KIND}, got ${version === '' ? '/' : version}, Kind=${kind}`,
    )
  }
  return {
    allowed: response.allowed === true,
    status: response.status ?? undefined,
    patch: patchOf(response, mutating),
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
  }
}

function patchOf(response: Stored, mutating: boolean): Verdict['patch'] {
  const { patch, patchType } = response
  if (!patch && !patchType) return undefined
  if (!mutating)
    throw new InvalidResponse(
      'webhook returned response.patch and response.patchType, which is not allowed for validating webhooks',
    )
  if (!patchType)
    throw new InvalidResponse('webhook returned response.patch but not response.patchType')
  if (!patch)
    throw new InvalidResponse('webhook returned response.patchType but not response.patch')
  if (patchType !== 'JSONPatch')
    throw new InvalidResponse(
      `webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`,
    )
  const text = Buffer.from(String(patch), 'base64').toString()
  try {
    const operations: unknown = JSON.parse(text)
    if (Array.isArray(operations)) return operations as JsonPatchOperation[]
  } catch {
    // Reported below, with what is not an array.
  }
  throw new InvalidResponse('webhook returned response.patch that is not a JSON patch')
}

const LOWEST_REFUSAL = 400

/** The refusal as the webhook worded it, with its name before. */
export function denialOf(name: string, status: Verdict['status']): ApiError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const { code = 0, message = '', reason = '', details } = status ?? {}
  const why = message || reason
  return new ApiError(
    code < LOWEST_REFUSAL ? LOWEST_REFUSAL : code,
    reason,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    details === undefined ? {} : { details },
  )
}

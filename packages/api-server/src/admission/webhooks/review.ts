/** AdmissionReview in admission.k8s.io/v1: the question, and what answers are good. */
import type { Status } from '@gyropilot/api'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { HEADER_TYPE } from '@gyropilot/schema/body-refusals'
import { DecodeError, jsonKind, scalarDecoders } from '@gyropilot/schema/decode-scalars'
import { describeRequest } from '../request-description.ts'

const API_VERSION = 'admission.k8s.io/v1'
const KIND = 'AdmissionReview'

interface ReviewObjects {
  readonly object: Stored | undefined
  readonly oldObject: Stored | undefined
}

export interface Verdict {
  readonly allowed: boolean
  readonly status: Partial<Status> | undefined
  /** JSON, or empty. */
  readonly patch: string
  readonly patchType: string | undefined
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

/** An answer that is no AdmissionReview. */
export class UndecodableResponse extends Error {}

const SCHEME = 'pkg/util/webhook/client.go:71'

/** Throws UndecodableResponse or InvalidResponse. */
export function verdictOf(answer: unknown, uid: string, mutating: boolean): Verdict {
  const response = responseIn(answer)
  if (response === undefined) throw new InvalidResponse('webhook response was absent')
  const { uid: own = '', allowed, status, warnings, patchType } = response
  if (own !== uid)
    throw new InvalidResponse(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(own)}`,
    )
  const patch = Buffer.from(response['patch'] ?? '', 'base64').toString()
  checkPatch(patch, patchType, mutating)
  return {
    allowed: allowed === true,
    status: status ?? undefined,
    patch,
    patchType,
    warnings: warnings ?? [],
  }
}

/** The answer of the review; what says neither kind nor version is taken for one. */
function responseIn(answer: unknown): Stored | undefined {
  if (answer === null) return undefined
  if (typeof answer !== 'object' || Array.isArray(answer))
    throw new UndecodableResponse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(answer, false)} into Go value of type ${HEADER_TYPE}`,
    )
  const review = answer as Stored
  const version: string = review['apiVersion'] || API_VERSION
  const kind: string = review['kind'] || KIND
  if (version !== API_VERSION || kind !== KIND)
    throw new UndecodableResponse(
      kind === KIND && version === 'admission.k8s.io/v1beta1'
        ? `converting (v1beta1.${KIND}) to (v1.${KIND}): unknown conversion`
        : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme ${JSON.stringify(SCHEME)}`,
    )
  const response: Stored | undefined = review['response'] ?? undefined
  for (const [field, type, goType] of FIELDS) {
    const value: unknown = response?.[field] ?? undefined
    if (value === undefined || typeof value === type) continue
    throw new UndecodableResponse(
      `json: cannot unmarshal ${jsonKind(value, false)} into Go struct field AdmissionResponse.response.${field} of type ${goType}`,
    )
  }
  try {
    if (response !== undefined)
      scalarDecoders.bytes!(response['patch'] ?? '', () => new DecodeError(''))
  } catch (error) {
    throw new UndecodableResponse((error as Error).message)
  }
  return response
}

const FIELDS = [
  ['uid', 'string', 'types.UID'],
  ['allowed', 'boolean', 'bool'],
  ['patch', 'string', '[]uint8'],
  ['patchType', 'string', 'v1.PatchType'],
] as const

function checkPatch(patch: string, patchType: string | undefined, mutating: boolean): void {
  if (!mutating) {
    if (patch !== '') throw new InvalidResponse('validating webhook may not return response.patch')
    if (patchType !== undefined)
      throw new InvalidResponse('validating webhook may not return response.patchType')
    return
  }
  if (patch !== '' && patchType === undefined)
    throw new InvalidResponse('webhook returned response.patch but not response.patchType')
  if (patch === '' && patchType !== undefined)
    throw new InvalidResponse('webhook returned response.patchType but not response.patch')
  if (patchType === '')
    throw new InvalidResponse('webhook returned invalid response.patchType of ""')
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

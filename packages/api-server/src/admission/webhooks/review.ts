/** AdmissionReview in admission.k8s.io/v1 and v1beta1: the question, and what answers are good. */
import type { Status } from '@gyropilot/api'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { describeRequest } from '../request-description.ts'
import { typedReview } from './review-fields.ts'
import { decodedReview } from './review-header.ts'

const GROUP = 'admission.k8s.io'
const KIND = 'AdmissionReview'

type ReviewVersion = 'v1' | 'v1beta1'

/** The first of the versions that a webhook understands and that there are. */
export function reviewVersionOf(webhook: Stored): ReviewVersion {
  const understood: readonly string[] = webhook['admissionReviewVersions'] ?? []
  return understood.find((version) => version === 'v1' || version === 'v1beta1') as ReviewVersion
}

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
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  seenAs: ResourceInfo,
  { object, oldObject }: ReviewObjects,
): object {
  return {
    kind: KIND,
    apiVersion: `${GROUP}/${version}`,
    request: {
      uid,
      ...describeRequest(request, seenAs),
      object: object ?? null,
      oldObject: oldObject ?? null,
    },
  }
}

/** Throws UndecodableResponse or InvalidResponse. */
export function verdictOf(
  version: ReviewVersion,
  answer: unknown,
  uid: string,
  mutating: boolean,
): Verdict {
  const review = decodedReview(answer, GROUP, version, KIND)
  const { response } = typedReview(review, version)
  if (response === undefined) throw new InvalidResponse('webhook response was absent')
  const { uid: own = '', allowed, status, warnings } = response
  const patch = Buffer.from(response['patch'] ?? '', 'base64').toString()
  // The older version says neither to what it answers nor of which type its patch is, and not even that it is one.
  const isOld = version === 'v1beta1'
  const typeOfPatch = patch === '' ? undefined : 'JSONPatch'
  const patchType: string | undefined = isOld ? typeOfPatch : response['patchType']
  if (!isOld) {
    if (own !== uid)
      throw new InvalidResponse(
        `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(own)}`,
      )
    checkKind(review)
    checkPatch(patch, patchType, mutating)
  }
  return {
    allowed: allowed === true,
    status,
    patch,
    patchType,
    warnings: warnings ?? [],
  }
}

/** What is taken for a review though it does not say so is none. */
function checkKind({ apiVersion, kind }: Stored): void {
  if (apiVersion && kind) return
  const wanted = `${GROUP}/v1, Kind=${KIND}`
  throw new InvalidResponse(
    `expected webhook response of ${wanted}, got ${apiVersion || '/'}, Kind=${kind || ''}`,
  )
}

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

/** A webhook was asked and refuses. */
export class Denial extends ApiError {}

/** The refusal as the webhook worded it, with its name before. */
export function denialOf(name: string, status: Verdict['status']): Denial {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const { code = 0, message = '', reason = '', details } = status ?? {}
  const why = message || reason
  return new Denial(
    code < LOWEST_REFUSAL ? LOWEST_REFUSAL : code,
    reason,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    details === undefined ? {} : { details },
  )
}

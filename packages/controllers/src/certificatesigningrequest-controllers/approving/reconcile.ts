/** One sync. Step numbers are those of docs/behaviour/controllers/certificatesigningrequest-controllers.md, Approving. */
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest, SubjectAccessReview } from '@gyropilot/api'
import { create, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { isDecided, isIssued } from '../conditions.ts'
import { requestOf } from '../request-text.ts'
import { recognizers } from './recognizers.ts'

export function* reconcile(object: CertificateSigningRequest): Reconcile {
  // 1.
  if (isIssued(object) || isDecided(object)) return
  // 2.
  const parsed = requestOf(object)
  if (!parsed.ok) return { error: parsed.error }
  // 3.
  const tried: string[] = []
  for (const { subresource, message, recognizes } of recognizers) {
    if (!recognizes(object, parsed.request)) continue
    tried.push(subresource)
    // 4.
    const review = yield* write(
      create(resources.subjectaccessreviews, reviewOf(object, subresource)),
    )
    if (!review.ok) return { error: review.error }
    if (!review.object.status?.allowed) continue
    const approved = yield* write(
      update(resources.certificatesigningrequests, approvedWith(object, message), 'approval'),
    )
    return approved.ok ? undefined : { error: approved.error }
  }
  // 6.
  if (tried.length === 0) return
  // 5. The permission may come a little later than the request, and no event tells of it.
  const name = JSON.stringify(object.metadata?.name ?? '')
  const text = `recognized csr ${name} as [${tried.join(' ')}] but subject access review was not approved`
  return { error: new Error(text), expected: true }
}

function reviewOf({ spec }: CertificateSigningRequest, subresource: string): SubjectAccessReview {
  const { username: user, uid, groups, extra } = spec
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user,
      uid,
      groups,
      extra,
      resourceAttributes: {
        verb: 'create',
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
      },
    },
  }
}

/** The server sets the times. */
function approvedWith(
  object: CertificateSigningRequest,
  message: string,
): CertificateSigningRequest {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message }
  const conditions = [...(object.status?.conditions ?? []), condition]
  return { ...object, status: { ...object.status, conditions } }
}

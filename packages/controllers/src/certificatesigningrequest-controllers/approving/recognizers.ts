/** Which requests may be approved by themselves, and which permission each needs. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Sync. */
import type { CertificateSigningRequest } from '@gyropilot/api'
import type { SigningRequest } from '@gyropilot/foundation/x509'
import { KUBELET_CLIENT_SIGNER } from '../config.ts'
import { kubeletClientProblem } from '../kubelet-requests.ts'

interface Recognizer {
  /** Of certificatesigningrequests: what the requester must be allowed to create. */
  readonly subresource: 'selfnodeclient' | 'nodeclient'
  readonly message: string
  recognizes(object: CertificateSigningRequest, request: SigningRequest): boolean
}

/** In the order in which they are asked. */
export const recognizers: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    recognizes: (object, request) =>
      (object.spec.username ?? '') === request.subject.commonName && isNodeClient(object, request),
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    recognizes: isNodeClient,
  },
]

function isNodeClient({ spec }: CertificateSigningRequest, request: SigningRequest): boolean {
  return (
    spec.signerName === KUBELET_CLIENT_SIGNER &&
    kubeletClientProblem(request, spec.usages ?? []) === undefined
  )
}

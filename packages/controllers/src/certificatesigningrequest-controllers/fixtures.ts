/** Requests for tests of the certificate controllers. */
import type { CertificateSigningRequest } from '@gyropilot/api'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import type { SigningRequestOptions } from '@gyropilot/foundation/testing'
import { KUBELET_CLIENT_SIGNER } from './config.ts'

type Spec = CertificateSigningRequest['spec']

export interface RequestOptions {
  /** Default: a kubelet's for its client certificate. */
  readonly request?: SigningRequestOptions | string
  readonly spec?: Partial<Spec>
  readonly status?: CertificateSigningRequest['status']
}

export const NODE: SigningRequestOptions = {
  commonName: 'system:node:n1',
  organizations: ['system:nodes'],
}
export const APPROVED = { type: 'Approved', status: 'True' }
const CLIENT_USAGES: Spec['usages'] = ['digital signature', 'client auth']

export function certificateRequest(options: RequestOptions = {}): CertificateSigningRequest {
  const { request = NODE } = options
  const pem = typeof request === 'string' ? request : signingRequestPem(request)
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr', uid: 'csr-uid', resourceVersion: '5' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: KUBELET_CLIENT_SIGNER,
      usages: CLIENT_USAGES,
      username: 'system:bootstrap:abcdef',
      uid: 'user-uid',
      groups: ['system:bootstrappers'],
      extra: { reason: ['join'] },
      ...options.spec,
    },
    status: options.status ?? {},
  }
}

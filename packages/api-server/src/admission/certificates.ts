/** Who may approve and sign CertificateSigningRequests and attest ClusterTrustBundles, and one subject that nobody gets. */
import type { AdmissionPlugin, AdmissionRequest } from '../contracts.ts'
import { semanticEqual } from '@gyropilot/api'
import { parseSigningRequest } from '@gyropilot/foundation/x509'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalid } from '../http/errors.ts'
import { isFor, refusal } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const GROUP = 'certificates.k8s.io'
const RESOURCE = 'certificatesigningrequests'
const BUNDLES = 'clustertrustbundles'
const POD_REQUESTS = 'podcertificaterequests'

export function certificateApproval(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: (request) =>
      request.operation === 'UPDATE' && isFor(request, GROUP, RESOURCE, 'approval'),
    validate(request) {
      const { signerName } = request.oldObject!['spec']
      if (isAllowed(world, request, 'approve', signerName)) return
      throw refusal(
        request,
        `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`,
      )
    },
  }
}

export function certificateSigning(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: (request) =>
      request.operation === 'UPDATE' && isFor(request, GROUP, RESOURCE, 'status'),
    validate(request) {
      const before = request.oldObject!['status'] ?? {}
      const after = request.object!['status'] ?? {}
      if (
        before.certificate === after.certificate &&
        semanticEqual(before.conditions ?? [], after.conditions ?? [])
      )
        return
      const { signerName } = request.oldObject!['spec']
      if (isAllowed(world, request, 'sign', signerName)) return
      throw refusal(
        request,
        `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`,
      )
    },
  }
}

export function clusterTrustBundleAttest(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    handles: (request) =>
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      isFor(request, GROUP, BUNDLES),
    validate(request) {
      const signerName = request.object!['spec']?.signerName
      if (!signerName || isAllowed(world, request, 'attest', signerName)) return
      throw refusal(
        request,
        `user not permitted to attest for signerName ${JSON.stringify(signerName)}`,
      )
    },
  }
}

/** kube-apiserver checks this in the storage of requests, with what else is wrong with their status. */
export function podCertificateSigning(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PodCertificateRequestStatusAuthorization',
    handles: (request) =>
      request.operation === 'UPDATE' && isFor(request, GROUP, POD_REQUESTS, 'status'),
    validate(request) {
      if (semanticEqual(request.oldObject!['status'] ?? {}, request.object!['status'] ?? {})) return
      const { signerName } = request.oldObject!['spec']
      if (isAllowed(world, request, 'sign', signerName)) return
      const [user, signer] = [request.user.name, signerName].map((name) => JSON.stringify(name))
      const errors = new FieldErrors()
      errors.forbidden(
        'spec.signerName',
        `User ${user} is not permitted to "sign" for signer ${signer}`,
      )
      throw invalid(GROUP, 'PodCertificateRequest', request.name, errors.list)
    },
  }
}

export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    handles: (request) => request.operation === 'CREATE' && isFor(request, GROUP, RESOURCE),
    validate(request) {
      const { signerName, request: encoded } = request.object!['spec']
      if (signerName !== 'kubernetes.io/kube-apiserver-client' || typeof encoded !== 'string')
        return
      const organizations = organizationsOfRequest(
        Buffer.from(encoded, 'base64').toString('latin1'),
      )
      if (!organizations.includes('system:masters')) return
      throw refusal(
        request,
        'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
      )
    },
  }
}

/** Of a PEM text; none when it cannot be read: validation refuses that. */
function organizationsOfRequest(pem: string): readonly string[] {
  try {
    return parseSigningRequest(pem).subject.organizations
  } catch {
    return []
  }
}

/** The verb on this signer, or on all signers of its domain. */
function isAllowed(
  world: AdmissionWorld,
  { user }: AdmissionRequest,
  verb: string,
  signerName: string,
): boolean {
  const wildcard = `${signerName.split('/')[0]}/*`
  return [signerName, wildcard].some(
    (name) =>
      world.authorizer.authorize({
        user,
        verb,
        group: GROUP,
        version: '*',
        resource: 'signers',
        subresource: '',
        namespace: '',
        name,
        path: '',
        isResourceRequest: true,
      }).allowed,
  )
}

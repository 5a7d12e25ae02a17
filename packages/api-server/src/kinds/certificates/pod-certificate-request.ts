import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
  PodCertificateRequestStatus,
} from '@gyropilot/api'
import {
  isProvenBy,
  keyOfStubRequest,
  podKeyProblem,
  publicKeyOf,
} from '@gyropilot/foundation/x509'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { labelsText, tableColumns } from '../columns.ts'
import { validatePodCertificateStatus } from './pod-certificate-status.ts'
import { validateSignerName } from './signer-name.ts'

const DEFAULT_SECONDS = 86_400
const SECONDS_MIN = 3_600
const SECONDS_MAX = 91 * 86_400
/** Of signers of Kubernetes' own. */
const OWN_SECONDS_MAX = 86_400
const UID_BYTES_MAX = 128
const ANNOTATION_BYTES_MAX = 256 * 1024
const KEY_BYTES_MAX = 10 * 1024
const OMITTED_FORMS =
  'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'

/** Served with gate PodCertificateRequest. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "PodCertificateRequest". */
export const podCertificateRequest: KindRules<PodCertificateRequest> = {
  group: 'certificates.k8s.io',
  kind: 'PodCertificateRequest',
  generationOf: null,
  unconditionalUpdate: false,
  defaults({ spec }) {
    if (spec) spec.maxExpirationSeconds ??= DEFAULT_SECONDS
  },
  validate({ spec = {} }, errors) {
    validateSigner(spec, errors)
    validateNames(spec, errors)
    validateLife(spec, errors)
    validateKey(spec, errors)
  },
  updateOrder: 'update-only',
  validateUpdate({ spec }, stored, errors) {
    if (!semanticallyEqual(spec, stored.spec))
      errors.invalid('spec', internalForm(spec, 'PodCertificateRequestSpec'), 'field is immutable')
  },
  status: { validateUpdate: validatePodCertificateStatus },
  selectableFields: {
    'spec.signerName': ({ spec }) => spec?.signerName ?? '',
    'spec.podName': ({ spec }) => spec?.podName ?? '',
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
  },
  columns: tableColumns<PodCertificateRequest>('certificates.k8s.io/podcertificaterequests', {
    PodName: ({ spec }) => spec?.podName ?? '',
    ServiceAccountName: ({ spec }) => spec?.serviceAccountName ?? '',
    NodeName: ({ spec }) => spec?.nodeName ?? '',
    SignerName: ({ spec }) => spec?.signerName ?? '',
    State: ({ status }) => stateOf(status),
    UnverifiedUserAnnotations: ({ spec }) => labelsText(spec?.unverifiedUserAnnotations),
  }),
}

type Spec = StoredOf<PodCertificateRequestSpec>

function validateSigner(
  { signerName, unverifiedUserAnnotations: annotations = {} }: Spec,
  errors: FieldErrors,
): void {
  if (!signerName) errors.required('spec.signerName')
  else validateSignerName(signerName, errors)
  const at = 'spec.unverifiedUserAnnotations'
  let total = 0
  for (const key of Object.keys(annotations).toSorted()) {
    const name = key.toLowerCase()
    const problems = qualifiedName(name)
    invalidAll(errors, at, name, problems)
    if (problems.length === 0 && !name.includes('/'))
      errors.invalid(at, name, 'must be a domain-prefixed key (such as "acme.io/foo")')
    total += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '')
  }
  if (total > ANNOTATION_BYTES_MAX) errors.tooLong(at, ANNOTATION_BYTES_MAX)
}

function validateNames(spec: Spec, errors: FieldErrors): void {
  const users = [
    ['podName', 'podUID'],
    ['serviceAccountName', 'serviceAccountUID'],
    ['nodeName', 'nodeUID'],
  ] as const
  for (const [nameField, uidField] of users) {
    const name = spec[nameField] ?? ''
    invalidAll(errors, `spec.${nameField}`, name, dnsSubdomain(name))
    const uid = spec[uidField] ?? ''
    if (uid === '') errors.invalid(`spec.${uidField}`, uid, 'must not be empty')
    else if (Buffer.byteLength(uid) > UID_BYTES_MAX)
      errors.tooLong(`spec.${uidField}`, UID_BYTES_MAX)
  }
}

function validateLife(
  { signerName = '', maxExpirationSeconds: seconds = 0 }: Spec,
  errors: FieldErrors,
): void {
  const maximum = signerName.startsWith('kubernetes.io/') ? OWN_SECONDS_MAX : SECONDS_MAX
  if (seconds < SECONDS_MIN || seconds > maximum)
    errors.invalid(
      'spec.maxExpirationSeconds',
      seconds,
      `must be in the range [${SECONDS_MIN}, ${maximum}]`,
    )
}

/** A request that is signed with the key, or the key and a signature over the uid of the pod. */
function validateKey(spec: Spec, errors: FieldErrors): void {
  const { stubPKCS10Request: stub, pkixPublicKey: info, proofOfPossession: proof } = spec
  if (stub && !info && !proof) validateStub(stub, errors)
  else if (!stub && info && proof) validatePublicKey(info, proof, spec.podUID ?? '', errors)
  else errors.invalidOmitted('spec', OMITTED_FORMS)
}

function validateStub(stub: string, errors: FieldErrors): void {
  const at = 'spec.stubPKCS10Request'
  const request = Buffer.from(stub, 'base64')
  if (request.length > KEY_BYTES_MAX) {
    errors.tooLong(at, KEY_BYTES_MAX)
    return
  }
  const key = keyOfStubRequest(request)
  if (typeof key === 'string') {
    errors.invalidOmitted(at, key)
    return
  }
  const weak = podKeyProblem(key, 'P256, P384, or P521')
  if (weak !== undefined) errors.invalid(at, weak.shown, weak.problem)
}

function validatePublicKey(info: string, proof: string, podUid: string, errors: FieldErrors): void {
  const [keyBytes, proofBytes] = [info, proof].map((text) => Buffer.from(text, 'base64'))
  for (const [field, bytes] of [
    ['pkixPublicKey', keyBytes!],
    ['proofOfPossession', proofBytes!],
  ] as const)
    if (bytes.length > KEY_BYTES_MAX) {
      errors.tooLong(`spec.${field}`, KEY_BYTES_MAX)
      return
    }
  const key = publicKeyOf(keyBytes!)
  if (key === undefined) {
    errors.invalid('spec.pkixPublicKey', info, 'must be a valid PKIX-serialized public key')
    return
  }
  // In the words of kube-apiserver, though it takes the third one too.
  const weak = podKeyProblem(key, 'P256 or P384')
  if (weak !== undefined) errors.invalid('spec.pkixPublicKey', weak.shown, weak.problem)
  else if (!isProvenBy(key, podUid, proofBytes!))
    errors.invalidOmitted(
      'spec.proofOfPossession',
      'could not verify proof-of-possession signature',
    )
}

function stateOf(status: StoredOf<PodCertificateRequestStatus> | undefined): string {
  const known = ['Issued', 'Denied', 'Failed']
  return (status?.conditions ?? []).find(({ type = '' }) => known.includes(type))?.type ?? 'Pending'
}

import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { errorText, formatTime } from '@gyropilot/foundation'
import { certificatesProblem, parseSigningRequest } from '@gyropilot/foundation/x509'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenValue } from '@gyropilot/schema/decode'
import { formatShortDuration } from '../../printing/ages.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { validateSignerName } from './signer-name.ts'

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

function validateRequest(spec: StoredOf<CertificateSigningRequestSpec>, errors: FieldErrors): void {
  const problem = requestProblem(Buffer.from(spec.request ?? '', 'base64').toString('latin1'))
  if (problem !== undefined) errors.invalid('spec.request', givenValue(spec, 'request'), problem)
}

/** Only who has the private key may ask for a certificate. */
function requestProblem(pem: string): string | undefined {
  try {
    return parseSigningRequest(pem).signatureProblem()
  } catch (error) {
    return errorText(error)
  }
}

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown'

function validate(object: StoredOf<CertificateSigningRequest>, errors: FieldErrors): void {
  const spec = object.spec ?? {}
  validateRequest(spec, errors)
  const usages: readonly string[] = spec.usages ?? []
  if (usages.length === 0) errors.required('spec.usages')
  const seen = new Set<string>()
  for (const [index, usage] of usages.entries()) {
    if (!USAGES.includes(usage)) errors.notSupported(`spec.usages[${index}]`, usage, USAGES)
    if (seen.has(usage)) errors.duplicate(`spec.usages[${index}]`, usage)
    seen.add(usage)
  }
  if (spec.signerName === LEGACY_SIGNER)
    errors.invalid(
      'spec.signerName',
      LEGACY_SIGNER,
      'the legacy signerName is not allowed via this API version',
    )
  else if (spec.signerName) validateSignerName(spec.signerName, errors)
  else errors.required('spec.signerName')
  if (typeof spec.expirationSeconds === 'number' && spec.expirationSeconds < 600) {
    errors.invalid(
      'spec.expirationSeconds',
      spec.expirationSeconds,
      'may not specify a duration less than 600 seconds (10 minutes)',
    )
  }
  validateConditions(object.status, errors)
}

const CONDITION_STATUSES = ['False', 'True', 'Unknown']

/** Decisions and failures are only ever true; a request is approved or denied. */
function validateConditions(
  status: StoredOf<CertificateSigningRequestStatus> | undefined,
  errors: FieldErrors,
): void {
  const types = new Set<string>()
  for (const [index, condition] of (status?.conditions ?? []).entries()) {
    const at = `status.conditions[${index}]`
    const type: string = condition.type ?? ''
    if (type === '') errors.required(`${at}.type`)
    const statuses = isDecision({ type }) || type === 'Failed' ? ['True'] : CONDITION_STATUSES
    if (!condition.status) errors.required(`${at}.status`)
    else if (!statuses.includes(condition.status))
      errors.notSupported(`${at}.status`, condition.status, statuses)
    if (
      (type === 'Approved' && types.has('Denied')) ||
      (type === 'Denied' && types.has('Approved'))
    ) {
      errors.invalid(
        'status.conditions',
        type,
        'Approved and Denied conditions are mutually exclusive',
      )
    }
    if (types.has(type)) errors.duplicate(`${at}.type`, type)
    types.add(type)
  }
}

/** Times of new conditions, and of those whose status changed. */
function fillConditionTimes(
  object: DraftOf<CertificateSigningRequest>,
  stored: StoredOf<CertificateSigningRequest>,
  nowMs: number,
): void {
  const before = new Map(
    (stored.status?.conditions ?? []).map((condition) => [condition.type, condition] as const),
  )
  for (const condition of object.status?.conditions ?? []) {
    const old = before.get(condition.type)
    condition.lastTransitionTime ??=
      old && old.status === condition.status ? old.lastTransitionTime : formatTime(nowMs)
    condition.lastUpdateTime ??= formatTime(nowMs)
  }
}

const isDecision = ({ type }: StoredOf<CertificateSigningRequestCondition>): boolean =>
  type === 'Approved' || type === 'Denied'

/** Decisions are those that were made, in the places where they are given. What is given too much or too little is told of later. */
function withDecisionsOf(
  stored: StoredOf<CertificateSigningRequest>,
  given: readonly StoredOf<CertificateSigningRequestCondition>[],
): DraftOf<CertificateSigningRequestCondition>[] {
  const decided = new Map((stored.status?.conditions ?? []).map((one) => [one.type, one] as const))
  return given.map((condition) => {
    if (!isDecision(condition)) return { ...condition }
    const decision = decided.get(condition.type)
    decided.delete(condition.type)
    return { ...(decision ?? condition) }
  })
}

function validateKept(
  object: StoredOf<CertificateSigningRequest>,
  stored: StoredOf<CertificateSigningRequest>,
  errors: FieldErrors,
): void {
  const now = new Set((object.status?.conditions ?? []).map(({ type }) => type))
  for (const { type } of stored.status?.conditions ?? []) {
    if ((isDecision({ type }) || type === 'Failed') && !now.has(type))
      errors.forbidden(
        'status.conditions',
        `updates may not remove a condition of type ${JSON.stringify(type)}`,
      )
  }
}

/** Who signs does not decide. */
function validateNoDecision(
  object: StoredOf<CertificateSigningRequest>,
  stored: StoredOf<CertificateSigningRequest>,
  errors: FieldErrors,
): void {
  const count = ({ status }: typeof object, type: string): number =>
    (status?.conditions ?? []).filter((condition) => condition.type === type).length
  for (const type of ['Approved', 'Denied'])
    if (count(object, type) > count(stored, type))
      errors.forbidden(
        'status.conditions',
        `updates may not add a condition of type ${JSON.stringify(type)}`,
      )
}

function conditionText(object: StoredOf<CertificateSigningRequest>): string {
  const types = new Set((object.status?.conditions ?? []).map(({ type }) => type))
  const parts: string[] = []
  parts.push(types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending')
  if (types.has('Failed')) parts.push('Failed')
  if (object.status?.certificate) parts.push('Issued')
  return parts.join(',')
}

export const certificateSigningRequest: KindRules<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  kind: 'CertificateSigningRequest',
  // Only what the server asks of every name.
  name: () => [],
  generationOf: null,
  // Who asks is what the server knows, not what the request says.
  prepareForCreate(object, { userName, user }) {
    const spec = (object.spec ??= {})
    for (const field of ['uid', 'groups', 'extra'] as const) delete spec[field]
    spec.username = userName
    if (user?.uid) spec.uid = user.uid
    if (user !== undefined && user.groups.length > 0) spec.groups = [...user.groups]
    if (user !== undefined && Object.keys(user.extra).length > 0) spec.extra = { ...user.extra }
    object.status = {}
  },
  prepareForUpdate(object, stored) {
    object.spec = stored.spec
    object.status = stored.status
  },
  validate,
  status: {
    prepareForUpdate(object, stored, { nowMs }) {
      const conditions = withDecisionsOf(stored, object.status?.conditions ?? [])
      object.status ??= {}
      if (conditions.length > 0) object.status.conditions = conditions
      else delete object.status.conditions
      fillConditionTimes(object, stored, nowMs)
    },
    validateUpdate(object, stored, errors) {
      validate(object, errors)
      const certificate = object.status?.certificate ?? ''
      const before = stored.status?.certificate ?? ''
      const isChanged = certificate !== before
      if (isChanged && certificate !== '') {
        const problem = certificatesProblem(Buffer.from(certificate, 'base64').toString('latin1'))
        if (problem !== undefined)
          errors.invalid('status.certificate', '<certificate data>', problem)
      }
      validateKept(object, stored, errors)
      validateNoDecision(object, stored, errors)
      if (isChanged && before !== '')
        errors.forbidden(
          'status.certificate',
          'updates may not modify existing certificate content',
        )
    },
  },
  subresources: {
    approval: {
      prepareForUpdate(object, stored, { nowMs }) {
        const conditions = object.status?.conditions
        object.spec = stored.spec
        object.status = { ...stored.status }
        if (conditions === undefined) delete object.status.conditions
        else object.status.conditions = conditions
        fillConditionTimes(object, stored, nowMs)
      },
      validateUpdate(object, stored, errors) {
        validate(object, errors)
        validateKept(object, stored, errors)
      },
    },
  },
  selectableFields: { 'spec.signerName': (object) => object.spec?.signerName ?? '' },
  columns: [
    nameColumn,
    ageColumn,
    column(
      'SignerName',
      'string',
      'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n 1. If it\'s a kubelet client certificate, it is assigned\n    "kubernetes.io/kube-apiserver-client-kubelet".\n 2. If it\'s a kubelet serving certificate, it is assigned\n    "kubernetes.io/kubelet-serving".\n 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\nDistribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
      (object) => object.spec?.signerName || '<none>',
    ),
    column(
      'Requestor',
      'string',
      'Base64-encoded PKCS#10 CSR data',
      (object) => object.spec?.username ?? '',
    ),
    column(
      'RequestedDuration',
      'string',
      'expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.',
      (object) =>
        object.spec?.expirationSeconds === undefined
          ? '<none>'
          : formatShortDuration(object.spec.expirationSeconds * 1000),
    ),
    column(
      'Condition',
      'string',
      'Conditions applied to the request, such as approval or denial.',
      conditionText,
    ),
  ],
}

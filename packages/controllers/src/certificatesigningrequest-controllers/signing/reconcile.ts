/** One sync of one signer. Step numbers are those of docs/behaviour/controllers/certificatesigningrequest-controllers.md, Signing. */
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { SigningAuthority, SigningRequest } from '@gyropilot/foundation/x509'
import { currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { hasFailed, isApproved, isIssued } from '../conditions.ts'
import { requestOf } from '../request-text.ts'
import type { SignerName } from './config.ts'
import { signerRules } from './signers.ts'
import { certificateUsages } from './usages.ts'
import { certificateDurationMs, validityOf } from './validity.ts'

interface Signer {
  readonly name: SignerName
  /** The longest life of a certificate. */
  readonly durationMs: number
  /** What signs now. Throws when nothing can. */
  authority(): SigningAuthority
  /** 16 bytes. */
  serialNumber(): Uint8Array
}

export function* reconcile(object: CertificateSigningRequest, signer: Signer): Reconcile {
  // 1.
  if (isIssued(object) || !isApproved(object) || hasFailed(object)) return
  // 2.
  if (object.spec.signerName !== signer.name) return
  // 3.
  const parsed = requestOf(object)
  if (!parsed.ok) return { error: parsed.error }
  const nowMs = yield* currentTimeMs()
  // 4.
  const problem = signerRules[signer.name](parsed.request, object.spec.usages ?? [])
  if (problem !== undefined) return yield* writeStatus(failed(object, problem, nowMs))
  // 5.
  let certificatePem: string
  try {
    certificatePem = sign(object, parsed.request, signer, nowMs)
  } catch (error) {
    return { error }
  }
  const certificate = Buffer.from(certificatePem).toString('base64')
  return yield* writeStatus({ ...object, status: { ...object.status, certificate } })
}

function* writeStatus(object: CertificateSigningRequest): Reconcile {
  const outcome = yield* write(updateStatus(resources.certificatesigningrequests, object))
  return outcome.ok ? undefined : { error: outcome.error }
}

function sign(
  { spec }: CertificateSigningRequest,
  request: SigningRequest,
  signer: Signer,
  nowMs: number,
): string {
  const wrong = request.signatureProblem()
  if (wrong !== undefined)
    throw new Error(`unable to verify certificate request signature: ${wrong}`)
  const authority = signer.authority()
  const durationMs = certificateDurationMs(signer.durationMs, spec.expirationSeconds)
  return authority.sign({
    ...request,
    ...certificateUsages(spec.usages ?? []),
    ...validityOf(nowMs, durationMs, authority.notAfterMs),
    serialNumber: signer.serialNumber(),
  })
}

function failed(
  object: CertificateSigningRequest,
  message: string,
  nowMs: number,
): CertificateSigningRequest {
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: formatTime(nowMs),
  }
  const conditions = [...(object.status?.conditions ?? []), condition]
  return { ...object, status: { ...object.status, conditions } }
}

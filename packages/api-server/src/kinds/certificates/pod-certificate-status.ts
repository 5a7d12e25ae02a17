/** What becomes of a PodCertificateRequest: once, in one way. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "PodCertificateRequest". */
import type { Condition, PodCertificateRequest, PodCertificateRequestSpec } from '@gyropilot/api'
import { parseTime } from '@gyropilot/api'
import { keyOfStubRequest, leafOfChain, publicKeyOf } from '@gyropilot/foundation/x509'
import type { AlternativeNames, ChainLeaf } from '@gyropilot/foundation/x509'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { RuleContext, StoredOf } from '../../registry/kind-rules.ts'
import { validateConditions } from '../conditions.ts'
import { isMailAddress } from './mail-address.ts'

type Request = StoredOf<PodCertificateRequest>
type Status = NonNullable<Request['status']>

const ENDS = ['Issued', 'Denied', 'Failed']
const CHAIN_BYTES_MAX = 102_400
const LIFE_MS_MIN = 3_600_000
/** How far the clock of the signer may be off. */
const SKEW_MS_MAX = 5 * 60_000
const REFRESH_MS = 10 * 60_000
const NANOSECONDS = 1_000_000
const CONSISTENT = 'must be present and consistent with the issued certificate'

/** The first thing that is wrong is told. */
export function validatePodCertificateStatus(
  object: Request,
  stored: Request,
  errors: FieldErrors,
  { nowMs }: RuleContext,
): void {
  const { status = {} } = object
  validateEnds(status.conditions ?? [], errors)
  validateConditions(status.conditions, errors, 'status.conditions')
  if (errors.list.length > 0) return
  const before = stored.status ?? {}
  if (endOf(before) !== undefined) {
    if (!semanticallyEqual(status, before))
      errors.invalidOmitted(
        'status',
        'immutable after PodCertificateRequest is issued, denied, or failed',
      )
    return
  }
  const end = endOf(status)
  if (end === undefined) {
    if (!semanticallyEqual(status, before))
      errors.invalidOmitted(
        'status',
        'status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
      )
  } else if (end === 'Issued') validateIssued(object, errors, nowMs)
  else if (!isEmpty(status))
    errors.invalidOmitted(
      'status',
      'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
    )
}

/** The path has a dot too many, as the server's. */
function validateEnds(conditions: readonly StoredOf<Condition>[], errors: FieldErrors): void {
  let found = false
  for (const [index, { type = '', status = '' }] of conditions.entries()) {
    const at = `status.conditions.[${index}]`
    if (!ENDS.includes(type)) {
      errors.notSupported(`${at}.type`, type, ENDS)
      continue
    }
    if (found)
      errors.invalid(
        `${at}.type`,
        type,
        'There may be at most one condition with type "Issued", "Denied", or "Failed"',
      )
    found = true
    if (status !== 'True') errors.notSupported(`${at}.status`, status, ['True'])
  }
}

function endOf({ conditions = [] }: Status): string | undefined {
  return conditions.find(({ type = '' }) => ENDS.includes(type))?.type
}

function isEmpty({ certificateChain, notBefore, notAfter, beginRefreshAt }: Status): boolean {
  return !certificateChain && !notBefore && !notAfter && !beginRefreshAt
}

function validateIssued(
  { spec = {}, status = {} }: Request,
  errors: FieldErrors,
  nowMs: number,
): void {
  const leaf = validateChain(status.certificateChain ?? '', requestedKey(spec), errors)
  if (leaf === undefined) return
  const [notBeforeMs, notAfterMs, refreshMs] = [
    status.notBefore,
    status.notAfter,
    status.beginRefreshAt,
  ].map(parseTime)
  if (notBeforeMs === undefined) errors.required('status.notBefore', CONSISTENT)
  if (notAfterMs === undefined) errors.required('status.notAfter', CONSISTENT)
  if (refreshMs === undefined)
    errors.required(
      'status.beginRefreshAt',
      'must be present and in the range [notbefore+10min, notafter-10min]',
    )
  if (errors.list.length > 0) return
  if (notBeforeMs === undefined || notAfterMs === undefined || refreshMs === undefined) return
  const refuse = (field: keyof Status, why: string): void =>
    errors.invalid(`status.${field}`, status[field], why)
  const fromMs = leaf.certificate.validFromDate.getTime()
  const toMs = leaf.certificate.validToDate.getTime()
  const lifeMs = toMs - fromMs
  const maxSeconds = spec.maxExpirationSeconds ?? 0
  if (notBeforeMs !== fromMs)
    refuse('notBefore', 'must be set to the NotBefore time encoded in the leaf certificate')
  else if (Math.abs(notBeforeMs - nowMs) > SKEW_MS_MAX)
    refuse('notBefore', "must be set to within 5 minutes of kube-apiserver's current time")
  else if (notAfterMs !== toMs)
    refuse('notAfter', 'must be set to the NotAfter time encoded in the leaf certificate')
  else if (lifeMs > maxSeconds * 1_000)
    errors.invalid(
      'status.certificateChain',
      lifeMs * NANOSECONDS,
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`,
    )
  else if (lifeMs < LIFE_MS_MIN)
    errors.invalid(
      'status.certificateChain',
      lifeMs * NANOSECONDS,
      'leaf certificate lifetime must be >= 1 hour',
    )
  else if (refreshMs < notBeforeMs + REFRESH_MS)
    refuse('beginRefreshAt', 'must be at least 10 minutes after status.notBefore')
  else if (refreshMs > notAfterMs - REFRESH_MS)
    refuse('beginRefreshAt', 'must be at least 10 minutes before status.notAfter')
  else {
    const problem = leaf.restProblem()
    if (problem !== undefined) refuse('certificateChain', problem)
  }
}

/** Undefined: no more is to be said. Names that are wrong are told along with what is behind them. */
function validateChain(
  chain: string,
  key: ReturnType<typeof publicKeyOf>,
  errors: FieldErrors,
): ChainLeaf | undefined {
  const at = 'status.certificateChain'
  if (Buffer.byteLength(chain) > CHAIN_BYTES_MAX) {
    errors.tooLong(at, CHAIN_BYTES_MAX)
    return undefined
  }
  const leaf = leafOfChain(chain)
  if (typeof leaf === 'string') {
    errors.invalid(at, chain, leaf)
    return undefined
  }
  validateNames(leaf.names, errors, at)
  if (leaf.isFor(key)) return leaf
  errors.invalid(at, chain, 'leaf certificate was not issued to the requested public key')
  return undefined
}

function validateNames(
  { dnsNames, emailAddresses }: AlternativeNames,
  errors: FieldErrors,
  at: string,
): void {
  for (const name of dnsNames) {
    if (name === '') errors.invalid(at, name, 'leaf certificate should not contain empty DNSName')
    if (name.includes('..'))
      errors.invalid(at, name, "leaf certificate's DNSName should not contain '..'")
    if (name.startsWith('.') || name.endsWith('.'))
      errors.invalid(at, name, "leaf certificate's DNSName should not start or end with '.'")
  }
  for (const name of emailAddresses)
    if (!isMailAddress(name))
      errors.invalid(at, name, 'leaf certificate should not contain invalid EmailAddress')
}

function requestedKey({
  stubPKCS10Request: stub,
  pkixPublicKey: info,
}: StoredOf<PodCertificateRequestSpec>): ReturnType<typeof publicKeyOf> {
  if (!stub) return publicKeyOf(Buffer.from(info ?? '', 'base64'))
  const key = keyOfStubRequest(Buffer.from(stub, 'base64'))
  return typeof key === 'string' ? undefined : key
}

/** When a request has been there for long enough. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Cleaner. */
import { X509Certificate } from 'node:crypto'
import { parseTime } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { hasCondition, isIssued } from '../conditions.ts'

const HOUR_MS = 3_600_000
/** What somebody may still be waiting for. */
const WAITING_LIMIT_MS = 24 * HOUR_MS
/** What is settled. */
const SETTLED_LIMIT_MS = HOUR_MS

/** Whether one of the rules of the page's table holds. */
export function isOver(request: CertificateSigningRequest, nowMs: number): boolean {
  const { metadata, status } = request
  const issued = isIssued(request)
  if (issued && isConditionOlder(request, 'Approved', nowMs - SETTLED_LIMIT_MS)) return true
  if (isConditionOlder(request, 'Denied', nowMs - SETTLED_LIMIT_MS)) return true
  if (isConditionOlder(request, 'Failed', nowMs - SETTLED_LIMIT_MS)) return true
  if ((status?.conditions ?? []).length === 0)
    return isBefore(metadata?.creationTimestamp, nowMs - WAITING_LIMIT_MS)
  if (issued) return hasCondition(request, 'Approved') && hasExpired(status?.certificate, nowMs)
  return isConditionOlder(request, 'Approved', nowMs - WAITING_LIMIT_MS)
}

function isConditionOlder(
  { status }: CertificateSigningRequest,
  type: string,
  limitMs: number,
): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === type && isBefore(condition.lastUpdateTime, limitMs),
  )
}

/** A time that is not there is never old. */
function isBefore(time: string | undefined, limitMs: number): boolean {
  const timeMs = parseTime(time)
  return timeMs !== undefined && timeMs < limitMs
}

/** Of the first certificate; one that cannot be read is never over. */
function hasExpired(certificate: string | undefined, nowMs: number): boolean {
  try {
    const pem = Buffer.from(certificate ?? '', 'base64').toString('latin1')
    return new X509Certificate(pem).validToDate.getTime() < nowMs
  } catch {
    return false
  }
}

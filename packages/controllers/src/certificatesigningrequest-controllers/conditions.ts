/** What the conditions of a CertificateSigningRequest say. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Sync. */
import type { CertificateSigningRequest } from '@gyropilot/api'

/** Whether the condition is there; its status does not matter. */
export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type)
}

export function isDecided(request: CertificateSigningRequest): boolean {
  return hasCondition(request, 'Approved') || hasCondition(request, 'Denied')
}

/** Denied beats approved. */
export function isApproved(request: CertificateSigningRequest): boolean {
  return hasCondition(request, 'Approved') && !hasCondition(request, 'Denied')
}

/** Here the status does matter; empty is from before there was one. */
export function hasFailed({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Failed' && ['', 'True'].includes(condition.status ?? ''),
  )
}

export function isIssued({ status }: CertificateSigningRequest): boolean {
  return (status?.certificate ?? '') !== ''
}

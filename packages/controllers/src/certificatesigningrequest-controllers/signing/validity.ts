/** From when to when a certificate is good. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Certificate. */
import { formatTime } from '@gyropilot/foundation'
import { BACKDATE_MS, LEAST_DURATION_MS, SHORT_LIFE_MS } from './config.ts'

interface Validity {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** What was asked for, at most what the flag allows, at least ten minutes. */
export function certificateDurationMs(
  limitMs: number,
  expirationSeconds: number | undefined,
): number {
  if (expirationSeconds === undefined) return limitMs
  const requestedMs = expirationSeconds * 1000
  if (requestedMs > limitMs) return limitMs
  return Math.max(requestedMs, LEAST_DURATION_MS)
}

/** Throws when the authority ends before the certificate would begin to be of use. */
export function validityOf(nowMs: number, durationMs: number, authorityEndsMs: number): Validity {
  const notBeforeMs = nowMs - BACKDATE_MS
  if (notBeforeMs >= authorityEndsMs)
    throw new Error(`the signer has expired: NotAfter=${goTime(authorityEndsMs)}`)
  if (nowMs >= authorityEndsMs)
    throw new Error(
      `refusing to sign a certificate that expired in the past: NotAfter=${goTime(authorityEndsMs)}`,
    )
  const fullMs = durationMs < SHORT_LIFE_MS ? nowMs + durationMs : notBeforeMs + durationMs
  return { notBeforeMs, notAfterMs: Math.min(fullMs, authorityEndsMs) }
}

/** `2026-12-22 10:01:29 +0000 UTC` */
function goTime(timeMs: number): string {
  return `${formatTime(timeMs).slice(0, 19).replace('T', ' ')} +0000 UTC`
}

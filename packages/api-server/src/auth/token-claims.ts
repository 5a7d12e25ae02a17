/** What the claims of a service account token say. Texts are problems, in kube-apiserver's words. */
import { serviceAccountUserName } from './identity.ts'

type Claims = Readonly<Record<string, unknown>>

/** Clocks differ, and what was deleted is remembered, for so long. */
export const LEEWAY_MS = 60_000

export interface ObjectClaim {
  readonly name: string
  readonly uid?: string
}

/** The claim `kubernetes.io`. */
export interface BoundClaims {
  readonly namespace?: string
  readonly serviceaccount?: Partial<ObjectClaim>
  readonly pod?: ObjectClaim
  readonly secret?: ObjectClaim
  readonly node?: ObjectClaim
}

interface LegacyClaims {
  readonly namespace: string
  readonly secretName: string
  /** Of the account, as the uid. */
  readonly name: string
  readonly uid: string
}

/** A token that names none is for the server itself. */
export function claimedAudiences(
  { aud }: Claims,
  ownAudiences: readonly string[],
): readonly string[] | string {
  if (aud === undefined || aud === null) return ownAudiences
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (!audiences.every((audience) => typeof audience === 'string'))
    return 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'
  return audiences.length === 0 ? ownAudiences : audiences
}

export function timeProblem({ exp, nbf, iat }: Claims, nowMs: number): string | undefined {
  const times = [nbf, exp, iat].map((seconds) => seconds ?? undefined)
  if (times.some((seconds) => seconds !== undefined && typeof seconds !== 'number'))
    return 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'
  const [notBefore = 0, expiration = Infinity, issuedAt = 0] = times as (number | undefined)[]
  if (nowMs + LEEWAY_MS < notBefore * 1000) return 'service account token is not valid yet'
  if (nowMs - LEEWAY_MS > expiration * 1000) return 'service account token has expired'
  if (nowMs + LEEWAY_MS < issuedAt * 1000) return 'service account token is issued in the future'
  return undefined
}

const LEGACY_CLAIMS = 'kubernetes.io/serviceaccount/'

export function legacyClaims(claims: Claims): LegacyClaims | string {
  const textOf = (claim: string): string => (typeof claims[claim] === 'string' ? claims[claim] : '')
  const subject = textOf('sub')
  const namespace = textOf(`${LEGACY_CLAIMS}namespace`)
  const secretName = textOf(`${LEGACY_CLAIMS}secret.name`)
  const name = textOf(`${LEGACY_CLAIMS}service-account.name`)
  const uid = textOf(`${LEGACY_CLAIMS}service-account.uid`)
  for (const [claim, text] of [
    ['sub', subject],
    ['namespace', namespace],
    ['secretName', secretName],
    ['serviceAccountName', name],
    ['serviceAccountUID', uid],
  ] as const)
    if (text === '') return `${claim} claim is missing`
  if (subject !== serviceAccountUserName(namespace, name)) return 'sub claim is invalid'
  return { namespace, secretName, name, uid }
}

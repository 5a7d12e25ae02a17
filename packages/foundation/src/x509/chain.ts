/**
 * Whether certificates lead to an authority, as Go's crypto/x509 builds chains: who issued a certificate is told by the name that
 * it gives and by the signature. OpenSSL decides otherwise where a certificate has the name of its issuer, as those have that
 * are generated without any, and where identifiers of keys disagree.
 *
 * Limits: an authority that constrains names vouches for nothing that has alternative names; algorithms are those that
 * node:crypto verifies; of certificates that a peer shows in an odd order Node may tell only the first ones.
 */
import { X509Certificate } from 'node:crypto'
import { extensionOf } from './certificate-parts.ts'
import { TAG, childrenOf, onlyElement } from './der-reader.ts'

export interface ChainRequest {
  /** The certificate in question; behind it those that may lead to an authority, in any order. Not empty. */
  readonly presented: readonly X509Certificate[]
  readonly authorities: readonly X509Certificate[]
  /** What all of the chain have to be good for, as an object identifier of an extended key usage. */
  readonly usage: string
  /** Absent: dates do not matter. */
  readonly nowMs?: number
}

/** `chain`: from the certificate in question to the authority. `problem`: why there is none, in Go's words. */
export type FoundChain =
  | { readonly chain: readonly X509Certificate[]; readonly problem?: undefined }
  | { readonly chain?: undefined; readonly problem: string }

export const EXTENDED_KEY_USAGE = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
  any: '2.5.29.37.0',
} as const

export const UNKNOWN_AUTHORITY = 'x509: certificate signed by unknown authority'
export const INCOMPATIBLE_USAGE = 'x509: certificate specifies an incompatible key usage'
/** Of one question, so that nobody makes a server compute for long. */
const MOST_SIGNATURES = 100
/** Certificates of a peer that are looked at. */
const MOST_PRESENTED = 10

export function findChain(request: ChainRequest): FoundChain {
  const [leaf, ...others] = request.presented
  const { authorities, usage, nowMs } = request
  const outOfDate = dateProblem(leaf!, nowMs)
  if (outOfDate !== undefined) return { problem: outOfDate }

  let signatures = 0
  let problem: string | undefined
  let hint: string | undefined
  let isUsable = true

  /** Depth first: authorities before others. */
  const extend = (chain: readonly X509Certificate[]): readonly X509Certificate[] | undefined => {
    const last = chain.at(-1)!
    for (const [candidates, areAuthorities] of [
      [authorities, true],
      [others, false],
    ] as const) {
      for (const candidate of candidates) {
        if (candidate.subject !== last.issuer || includes(chain, candidate)) continue
        if (++signatures > MOST_SIGNATURES) {
          problem = 'x509: signature check attempts limit reached while verifying certificate chain'
          return undefined
        }
        const unsigned = signatureProblem(last, candidate)
        const unfit = unsigned ?? authorityProblem(candidate, chain, nowMs)
        if (unfit !== undefined) {
          hint ??= hintOf(unfit, candidate)
          if (unsigned === undefined) problem = unfit
          continue
        }
        const longer = [...chain, candidate]
        const found = areAuthorities ? usableFor(longer) : extend(longer)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
  const usableFor = (chain: readonly X509Certificate[]) => {
    if (chain.every((certificate) => allows(certificate, usage))) return chain
    isUsable = false
    return undefined
  }

  const found = includes(authorities, leaf!) ? usableFor([leaf!]) : extend([leaf!])
  if (found !== undefined) return { chain: found }
  if (!isUsable) return { problem: INCOMPATIBLE_USAGE }
  return { problem: problem ?? `${UNKNOWN_AUTHORITY}${hint ?? ''}` }
}

/** As much of a TLSSocket, or of HTTP/2's stand-in for one, as is asked. */
interface TlsPeer {
  getPeerCertificate(detailed: true): ShownCertificate
}

interface ShownCertificate {
  readonly raw?: Buffer
  readonly issuerCertificate?: ShownCertificate
}

/** What the peer showed: the certificate that it has the key of comes first. Empty: none. */
export function presentedBy(socket: TlsPeer): readonly X509Certificate[] {
  const presented: X509Certificate[] = []
  let next: ShownCertificate | undefined = socket.getPeerCertificate(true)
  while (next?.raw !== undefined && presented.length < MOST_PRESENTED) {
    presented.push(new X509Certificate(next.raw))
    // What bears the name of its issuer is said to be its own.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate
  }
  return presented
}

/** Undefined: the time is within those that the certificate gives, or does not matter. */
export function dateProblem(
  certificate: X509Certificate,
  nowMs: number | undefined,
): string | undefined {
  if (nowMs === undefined) return undefined
  const { validFromDate, validToDate } = certificate
  const shown = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')
  // oxlint-disable-next-line no-restricted-syntax -- formats a time that was handed in
  const now = shown(new Date(nowMs))
  const words = 'x509: certificate has expired or is not yet valid: current time'
  if (nowMs < validFromDate.getTime()) return `${words} ${now} is before ${shown(validFromDate)}`
  if (nowMs > validToDate.getTime()) return `${words} ${now} is after ${shown(validToDate)}`
  return undefined
}

/** No purposes: all of them. */
export function allows({ keyUsage }: X509Certificate, usage: string): boolean {
  const purposes = keyUsage as readonly string[] | undefined
  if (purposes === undefined || purposes.length === 0) return true
  return purposes.includes(usage) || purposes.includes(EXTENDED_KEY_USAGE.any)
}

function includes(certificates: readonly X509Certificate[], { raw }: X509Certificate): boolean {
  return certificates.some((certificate) => certificate.raw.equals(raw))
}

function signatureProblem(
  certificate: X509Certificate,
  authority: X509Certificate,
): string | undefined {
  if (!authority.ca)
    return 'x509: invalid signature: parent certificate cannot sign this kind of certificate'
  const key = authority.publicKey
  if (isSignedWith(certificate, key)) return undefined
  switch (key.asymmetricKeyType) {
    case 'ec':
      return 'x509: ECDSA verification failure'
    case 'ed25519':
      return 'x509: Ed25519 verification failure'
    default:
      return 'crypto/rsa: verification error'
  }
}

/** node:crypto throws for keys of another kind than the signature's. */
function isSignedWith(certificate: X509Certificate, key: X509Certificate['publicKey']): boolean {
  try {
    return certificate.verify(key)
  } catch {
    return false
  }
}

const BASIC_CONSTRAINTS = '2.5.29.19'
const NAME_CONSTRAINTS = '2.5.29.30'
const NAME_NOT_ALLOWED =
  'x509: a root or intermediate certificate is not authorized to sign for this name'

function authorityProblem(
  authority: X509Certificate,
  below: readonly X509Certificate[],
  nowMs: number | undefined,
): string | undefined {
  const outOfDate = dateProblem(authority, nowMs)
  if (outOfDate !== undefined) return outOfDate
  const most = pathLengthOf(authority)
  if (most !== undefined && below.length - 1 > most)
    return 'x509: too many intermediates for path length constraint'
  const constrainsNames = extensionOf(authority, NAME_CONSTRAINTS) !== undefined
  return constrainsNames && below[0]!.subjectAltName !== undefined ? NAME_NOT_ALLOWED : undefined
}

/** How many others may stand between the authority and the certificate in question; undefined: any number. */
function pathLengthOf(authority: X509Certificate): number | undefined {
  const constraints = extensionOf(authority, BASIC_CONSTRAINTS)
  if (constraints === undefined) return undefined
  const most = childrenOf(onlyElement(constraints), TAG.sequence).find(
    ({ tag }) => tag === TAG.integer,
  )
  return most?.content.reduce((sum, byte) => sum * 256 + byte, 0)
}

function hintOf(problem: string, authority: X509Certificate): string {
  const because = JSON.stringify(problem)
  const name = JSON.stringify(shownName(authority))
  return ` (possibly because of ${because} while trying to verify candidate authority certificate ${name})`
}

function shownName({ subject, serialNumber }: X509Certificate): string {
  const lines = (subject ?? '').split('\n')
  const valueOf = (key: string): string | undefined =>
    lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1)
  return valueOf('CN') ?? valueOf('O') ?? `serial:${BigInt(`0x${serialNumber}`)}`
}

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
import { DerError, TAG, childrenOf, onlyElement } from './der-reader.ts'
import { EXTENDED_KEY_USAGE, EXTENSION } from './extension-identifiers.ts'

export interface ChainRequest {
  /** The certificate in question; behind it those that may lead to an authority, in any order. Not empty. */
  readonly presented: readonly X509Certificate[]
  readonly authorities: readonly X509Certificate[]
  /** What all of the chain have to be good for, as an object identifier of an extended key usage. */
  readonly usage: string
  /** Undefined: dates do not matter. */
  readonly nowMs: number | undefined
}

/** `chain`: from the certificate in question to the authority. `problem`: why there is none, in Go's words. */
export type FoundChain =
  | { readonly chain: readonly X509Certificate[]; readonly problem?: undefined }
  | { readonly chain?: undefined; readonly problem: string }

export const UNKNOWN_AUTHORITY = 'x509: certificate signed by unknown authority'
export const INCOMPATIBLE_USAGE = 'x509: certificate specifies an incompatible key usage'
/** Of one question, so that nobody makes a server compute for long. */
const MOST_SIGNATURES = 100
/** Certificates of a peer that are looked at. */
const MOST_PRESENTED = 10

export function findChain(request: ChainRequest): FoundChain {
  const leaf = request.presented[0]!
  const outOfDate = dateProblem(leaf, request.nowMs)
  if (outOfDate !== undefined) return { problem: outOfDate }
  const search = new ChainSearch(request)
  const isTrusted = includes(request.authorities, leaf)
  const chain = isTrusted ? search.usable([leaf]) : search.extended([leaf])
  return chain === undefined ? { problem: search.problem() } : { chain }
}

type Certificates = readonly X509Certificate[]

/** Depth first, authorities before what the peer showed; remembers what was wrong on the way. */
class ChainSearch {
  readonly #request: ChainRequest
  readonly #candidates: Certificates
  #signatures = 0
  #problem: string | undefined
  #hint = ''
  #isUsable = true

  constructor(request: ChainRequest) {
    this.#request = request
    this.#candidates = [...request.authorities, ...request.presented.slice(1)]
  }

  /** Undefined: no authority is reached. */
  extended(chain: Certificates): Certificates | undefined {
    const last = chain.at(-1)!
    for (const candidate of this.#candidates) {
      if (candidate.subject !== last.issuer || includes(chain, candidate)) continue
      if (++this.#signatures > MOST_SIGNATURES) {
        this.#problem =
          'x509: signature check attempts limit reached while verifying certificate chain'
        return undefined
      }
      if (!this.#isFit(candidate, chain)) continue
      const longer = [...chain, candidate]
      const isEnd = includes(this.#request.authorities, candidate)
      const found = isEnd ? this.usable(longer) : this.extended(longer)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Undefined: one of the chain is for other purposes. */
  usable(chain: Certificates): Certificates | undefined {
    if (chain.every((certificate) => allows(certificate, this.#request.usage))) return chain
    this.#isUsable = false
    return undefined
  }

  problem(): string {
    if (!this.#isUsable) return INCOMPATIBLE_USAGE
    return this.#problem ?? `${UNKNOWN_AUTHORITY}${this.#hint}`
  }

  #isFit(candidate: X509Certificate, below: Certificates): boolean {
    const unsigned = signatureProblem(below.at(-1)!, candidate)
    const unfit = unsigned ?? authorityProblem(candidate, below, this.#request.nowMs)
    if (unfit === undefined) return true
    if (this.#hint === '') this.#hint = hintOf(unfit, candidate)
    if (unsigned === undefined) this.#problem = unfit
    return false
  }
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

const NAME_NOT_ALLOWED =
  'x509: a root or intermediate certificate is not authorized to sign for this name'

function authorityProblem(
  authority: X509Certificate,
  below: readonly X509Certificate[],
  nowMs: number | undefined,
): string | undefined {
  const outOfDate = dateProblem(authority, nowMs)
  if (outOfDate !== undefined) return outOfDate
  const constraints = constraintsOf(authority)
  if (constraints === undefined) return 'x509: malformed certificate'
  const { most, constrainsNames } = constraints
  if (most !== undefined && below.length - 1 > most)
    return 'x509: too many intermediates for path length constraint'
  return constrainsNames && below[0]!.subjectAltName !== undefined ? NAME_NOT_ALLOWED : undefined
}

interface Constraints {
  /** How many others may stand between the authority and the certificate in question; undefined: any number. */
  readonly most: number | undefined
  readonly constrainsNames: boolean
}

/** Undefined: OpenSSL reads the certificate, and a strict reader of DER does not; it may be a stranger's. */
function constraintsOf(authority: X509Certificate): Constraints | undefined {
  try {
    const basic = extensionOf(authority, EXTENSION.basicConstraints)
    const most =
      basic &&
      childrenOf(onlyElement(basic), TAG.sequence)
        .find(({ tag }) => tag === TAG.integer)
        ?.content.reduce((sum, byte) => sum * 256 + byte, 0)
    return {
      most,
      constrainsNames: extensionOf(authority, EXTENSION.nameConstraints) !== undefined,
    }
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
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

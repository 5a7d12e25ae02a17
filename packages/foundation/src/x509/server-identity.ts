/**
 * Whether a server's certificate is to be trusted, as Go's clients judge it. What OpenSSL finds a chain for is believed; where it
 * finds none, the chain is looked for as Go does. Names are those of the subject alternative names only.
 */
import { X509Certificate } from 'node:crypto'
import { readableAuthorities } from './authorities.ts'
import { INCOMPATIBLE_USAGE, UNKNOWN_AUTHORITY, allows, dateProblem, findChain } from './chain.ts'
import { EXTENDED_KEY_USAGE } from './extension-identifiers.ts'
import { pemBlocks } from './pem-blocks.ts'

export interface ServerProof {
  /** What the server showed: its own certificate, and those that may lead to an authority. Not empty. */
  readonly presented: readonly X509Certificate[]
  /** OpenSSL's code for what is wrong with the chain, checked with partial chains allowed. */
  readonly chainError: string | undefined
  /** Name or address that the client asked for. */
  readonly host: string
  /** What the client trusts; undefined: what the machine trusts. */
  readonly authoritiesPem: string | undefined
  readonly nowMs: number
}

export interface CertificateProblem {
  /** Node's or OpenSSL's code. */
  readonly code: string
  /** Go's words: `x509: certificate signed by unknown authority`. */
  readonly text: string
}

/** Undefined: the server is who was asked for. */
export function serverCertificateProblem(proof: ServerProof): CertificateProblem | undefined {
  const { presented, host } = proof
  const certificate = presented[0]!
  const outOfDate = dateProblem(certificate, timeOf(proof))
  if (outOfDate !== undefined) return { code: 'CERT_HAS_EXPIRED', text: outOfDate }
  const misnamed = nameProblem(certificate, host)
  if (misnamed !== undefined) return { code: 'ERR_TLS_CERT_ALTNAME_INVALID', text: misnamed }
  return chainProblem(proof)
}

function chainProblem(proof: ServerProof): CertificateProblem | undefined {
  const { presented, chainError, authoritiesPem } = proof
  const usage = EXTENDED_KEY_USAGE.server
  if (chainError === undefined && allows(presented[0]!, usage)) return undefined
  const code = chainError ?? 'INVALID_PURPOSE'
  // What the machine trusts is known to OpenSSL only, which knows more than Node tells.
  if (authoritiesPem === undefined) return { code, text: WORDS[code] ?? UNKNOWN_AUTHORITY }
  const authorities = readableAuthorities(authoritiesPem)
  const { problem } = findChain({ presented, authorities, usage, nowMs: timeOf(proof) })
  return problem === undefined ? undefined : { code, text: problem }
}

/** OpenSSL judges the time by the machine's clock, and the one that was handed in need not agree: it counts where a date is wrong. */
function timeOf({ chainError, nowMs }: ServerProof): number | undefined {
  return chainError === 'CERT_HAS_EXPIRED' || chainError === 'CERT_NOT_YET_VALID'
    ? nowMs
    : undefined
}

const OUT_OF_DATE = 'x509: certificate has expired or is not yet valid'
/** By OpenSSL's code. */
const WORDS: Readonly<Record<string, string>> = {
  INVALID_PURPOSE: INCOMPATIBLE_USAGE,
  CERT_HAS_EXPIRED: OUT_OF_DATE,
  CERT_NOT_YET_VALID: OUT_OF_DATE,
}

/** The certificates of a PEM text. Throws what node:crypto throws for one that cannot be read. */
export function certificatesOfPem(pem: string): X509Certificate[] {
  const certificates = pemBlocks(pem).filter(({ type }) => type === 'CERTIFICATE')
  return certificates.map((block) => new X509Certificate(block.pem))
}

function nameProblem(certificate: X509Certificate, host: string): string | undefined {
  const names = alternativeNames(certificate)
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(':')
  if (isAddress) {
    if (certificate.checkIP(host) !== undefined) return undefined
    const addresses = names.filter(({ kind }) => kind === 'IP Address')
    if (addresses.length > 0) return validFor(addresses, host)
    return `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
  }
  if (certificate.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined)
    return undefined
  if (names.length === 0 && certificate.checkHost(host, { subject: 'always' }) !== undefined)
    return 'x509: certificate relies on legacy Common Name field, use SANs instead'
  const dnsNames = names.filter(({ kind }) => kind === 'DNS')
  if (dnsNames.length > 0) return validFor(dnsNames, host)
  return `x509: certificate is not valid for any names, but wanted to match ${host}`
}

interface AlternativeName {
  readonly kind: string
  readonly value: string
}

function validFor(names: readonly AlternativeName[], host: string): string {
  const shown = names.map(({ value }) => value).join(', ')
  return `x509: certificate is valid for ${shown}, not ${host}`
}

/** Node writes `DNS:a, IP Address:127.0.0.1`, and as JSON what could be mistaken for several. */
function alternativeNames({ subjectAltName }: X509Certificate): AlternativeName[] {
  const entries = (subjectAltName ?? '').matchAll(/([\w ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)
  return [...entries].map(([, kind = '', value = '']) => ({ kind, value }))
}

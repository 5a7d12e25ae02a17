/**
 * Whether a server's certificate is to be trusted, as Go's clients judge it. OpenSSL builds and checks the chain; this says where
 * Go decides otherwise: a certificate that is itself among the authorities needs no other, names are those of the subject
 * alternative names only, and what a certificate's key may sign with does not matter for a server.
 */
import { X509Certificate } from 'node:crypto'

export interface PresentedCertificate {
  readonly certificate: X509Certificate
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

const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'
const DATE_ERRORS: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])
const ANY_PURPOSE = '2.5.29.37.0'
/** Undefined: the certificate is good for the host. */
export function serverCertificateProblem(
  presented: PresentedCertificate,
): CertificateProblem | undefined {
  const { certificate, chainError } = presented
  const trusted = chainError !== undefined && isTrustedItself(presented)
  const error = trusted ? undefined : chainError
  if (trusted || DATE_ERRORS.has(chainError ?? '')) {
    const outOfDate = dateProblem(certificate, presented.nowMs)
    if (outOfDate !== undefined) return { code: 'CERT_HAS_EXPIRED', text: outOfDate }
  }
  const misnamed = nameProblem(certificate, presented.host)
  if (misnamed !== undefined) return { code: 'ERR_TLS_CERT_ALTNAME_INVALID', text: misnamed }
  if (error !== undefined && error !== 'INVALID_PURPOSE')
    return { code: error, text: chainText(error) }
  if (error !== undefined || !servesServers(certificate)) {
    const text = 'x509: certificate specifies an incompatible key usage'
    return { code: 'INVALID_PURPOSE', text }
  }
  return undefined
}

/** The certificates of a PEM text. Throws what node:crypto throws for one that cannot be read. */
export function certificatesOfPem(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

function isTrustedItself({ certificate, authoritiesPem }: PresentedCertificate): boolean {
  if (authoritiesPem === undefined) return false
  return certificatesOfPem(authoritiesPem).some(({ raw }) => raw.equals(certificate.raw))
}

function dateProblem(certificate: X509Certificate, nowMs: number): string | undefined {
  const { validFromDate, validToDate } = certificate
  const shown = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')
  // oxlint-disable-next-line no-restricted-syntax -- formats a time that was handed in
  const now = shown(new Date(nowMs))
  const words = 'x509: certificate has expired or is not yet valid: current time'
  if (nowMs < validFromDate.getTime()) return `${words} ${now} is before ${shown(validFromDate)}`
  if (nowMs > validToDate.getTime()) return `${words} ${now} is after ${shown(validToDate)}`
  return undefined
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

/** No purposes: all of them. */
function servesServers({ keyUsage }: X509Certificate): boolean {
  const purposes = keyUsage as readonly string[] | undefined
  if (purposes === undefined || purposes.length === 0) return true
  return purposes.includes(SERVER_AUTHENTICATION) || purposes.includes(ANY_PURPOSE)
}

/** OpenSSL knows more than Node tells: all that is wrong with the chain is one thing here. */
function chainText(code: string): string {
  return DATE_ERRORS.has(code)
    ? 'x509: certificate has expired or is not yet valid'
    : 'x509: certificate signed by unknown authority'
}

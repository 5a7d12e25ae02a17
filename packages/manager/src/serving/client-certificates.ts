/** Who a client certificate stands for, and whether an authority vouches for it. Pure. */
import { X509Certificate } from 'node:crypto'
import type { User } from './request.ts'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'
/** Longer chains are not followed. */
const MOST_INTERMEDIATES = 8

/** The certificates of a PEM bundle. Throws for one that cannot be read, and for a bundle without any. */
export function certificatesOf(bundlePem: string): readonly X509Certificate[] {
  const blocks = bundlePem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error('data does not contain any valid RSA or ECDSA certificates')
  return blocks.map((block) => new X509Certificate(block))
}

/** Undefined: a chain of valid certificates leads from the first of `presented` to one of `roots`. Else what is wrong. */
export function chainProblem(
  presented: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  nowMs: number,
): string | undefined {
  const leaf = presented[0]
  if (leaf === undefined) return 'x509: no certificate was presented'
  // No extended usages at all means any.
  const usages = leaf.keyUsage
  if (usages !== undefined && !usages.includes(CLIENT_AUTH) && !usages.includes(ANY_USAGE)) {
    return 'x509: certificate specifies an incompatible key usage'
  }
  let certificate = leaf
  const intermediates = presented.slice(1).filter(({ ca }) => ca)
  for (let depth = 0; depth <= MOST_INTERMEDIATES; depth++) {
    if (!isValidAt(certificate, nowMs)) return 'x509: certificate has expired or is not yet valid'
    const root = roots.find(
      (root) => isIssuedBy(certificate, root) || root.raw.equals(certificate.raw),
    )
    if (root !== undefined) {
      return isValidAt(root, nowMs)
        ? undefined
        : 'x509: certificate has expired or is not yet valid'
    }
    const issuer = intermediates.find(
      (other) => !other.raw.equals(certificate.raw) && isIssuedBy(certificate, other),
    )
    if (issuer === undefined) break
    certificate = issuer
  }
  return 'x509: certificate signed by unknown authority'
}

function isValidAt(certificate: X509Certificate, nowMs: number): boolean {
  return Date.parse(certificate.validFrom) <= nowMs && nowMs <= Date.parse(certificate.validTo)
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

/** Common name as user, organizations as groups. */
export function userOf(certificate: X509Certificate): User {
  const hash = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  return {
    name: attributes(certificate, 'CN').at(-1) ?? '',
    groups: attributes(certificate, 'O'),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${hash}`] },
  }
}

export function commonNameOf(certificate: X509Certificate): string {
  return attributes(certificate, 'CN').at(-1) ?? ''
}

/** Values of one attribute of the subject, which Node prints as one `KEY=value` a line; `+` joins several in one set. */
function attributes(certificate: X509Certificate, key: string): readonly string[] {
  return certificate.subject.split('\n').flatMap((line) => {
    const equals = line.indexOf('=')
    return line.slice(0, equals) === key ? [line.slice(equals + 1)] : []
  })
}

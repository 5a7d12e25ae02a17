/** Whether a certificate and a private key in PEM belong together, in the words of Go's TLS library. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { pemBlocks } from './pem-blocks.ts'

/** Undefined for a pair. */
export function keyPairProblem(certificatePem: string, keyPem: string): string | undefined {
  const certificates = pemBlocks(certificatePem)
  const certificate = certificates.find(({ type }) => type === 'CERTIFICATE')
  if (certificate === undefined) return missingCertificate(certificates.map(({ type }) => type))
  const keys = pemBlocks(keyPem)
  const key = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))
  if (key === undefined) return missingKey(keys.map(({ type }) => type))
  let leaf: X509Certificate
  try {
    leaf = new X509Certificate(certificate.pem)
  } catch {
    return 'x509: malformed certificate'
  }
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(key.pem)
  } catch {
    return 'tls: failed to parse private key'
  }
  if (privateKey.asymmetricKeyType !== leaf.publicKey.asymmetricKeyType)
    return 'tls: private key type does not match public key type'
  return leaf.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key'
}

function missingCertificate(others: readonly string[]): string {
  if (others.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (others.length === 1 && others[0]!.endsWith('PRIVATE KEY'))
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${others.join(' ')}]`
}

function missingKey(others: readonly string[]): string {
  if (others.length === 0) return 'tls: failed to find any PEM data in key input'
  if (others.length === 1 && others[0] === 'CERTIFICATE')
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${others.join(' ')}]`
}

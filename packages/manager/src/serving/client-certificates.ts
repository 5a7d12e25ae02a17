/** Who a client certificate stands for, and the authorities that may vouch for it. Pure. */
import type { X509Certificate } from 'node:crypto'
import { certificatesOfPem } from '@gyropilot/foundation/x509'
import type { User } from './request.ts'

/** The certificates of a PEM bundle. Throws for one that cannot be read, and for a bundle without any. */
export function certificatesOf(bundlePem: string): readonly X509Certificate[] {
  const certificates = certificatesOfPem(bundlePem)
  if (certificates.length > 0) return certificates
  throw new Error('data does not contain any valid RSA or ECDSA certificates')
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

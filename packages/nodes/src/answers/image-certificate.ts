/** The certificate of localhost that the image `agnhost` brings along. Its real key is public; this one is made when it is first needed. */
import { generateKeyPair, issueCertificate, privateKeyPem } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'

const NOT_BEFORE_MS = Date.UTC(1970, 0)
const NOT_AFTER_MS = Date.UTC(2084, 0, 29, 16)
const SUBJECT = { commonName: 'localhost', organizations: ['Acme Co'] }

let made: CertificateAndKey | undefined

export function imageCertificate(): CertificateAndKey {
  made ??= make()
  return made
}

function make(): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPair()
  const certificatePem = issueCertificate(
    {
      subject: SUBJECT,
      publicKey,
      usage: 'server',
      dnsNames: ['example.com'],
      ipAddresses: ['127.0.0.1', '::1'],
      serialNumber: new Uint8Array(16).fill(1),
      notBeforeMs: NOT_BEFORE_MS,
      notAfterMs: NOT_AFTER_MS,
    },
    { subject: SUBJECT, privateKey },
  )
  return { certificatePem, privateKeyPem: privateKeyPem(privateKey) }
}

/** The keys and the authority of every simulated cluster. */
import { createPrivateKey, hash } from 'node:crypto'
import { generateKeyPair, privateKeyPem } from '@gyropilot/foundation/x509'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'

let key: ReturnType<typeof generateKeyPair> | undefined

/** Signs tokens of service accounts. One for the life of this process: tokens never enter a history. */
export function serviceAccountKey(): ReturnType<typeof generateKeyPair> {
  key ??= generateKeyPair()
  return key
}

/** Of `simulatedSigningAuthority`; good from 2000 to 2100. Enters the history (`kube-root-ca.crt`), so it is the same everywhere. */
export const AUTHORITY_PEM = `-----BEGIN CERTIFICATE-----
MIIBGjCBzaADAgECAgEBMAUGAytlcDAUMRIwEAYDVQQDDAlzaW11bGF0ZWQwIBcN
MDAwMTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCXNpbXVs
YXRlZDAqMAUGAytlcAMhAMQyHJuIfwb1FDAMeeUdNkoXhGxaFW0aZ9hdXpfmXQU/
o0IwQDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBTk+CzykecbRLnrOLgiUCeo
8S/NSTAOBgNVHQ8BAf8EBAMCAoQwBQYDK2VwA0EAbaDpjyfYgFUg+X6bXy+6I5jI
ZcKMSmdegf1r2P0VGhFxdpFmgpn0CZJHAmSU6wxqobvPqU5BmEgFZEG7r6rHCQ==
-----END CERTIFICATE-----
`
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

let authority: CertificateAndKey | undefined

/**
 * Signs what is asked for with CertificateSigningRequests. Certificates enter the history: the key is the same everywhere, and of
 * a kind whose signatures have no chance in them.
 */
export function simulatedSigningAuthority(): CertificateAndKey {
  if (authority !== undefined) return authority
  const seed = hash('sha256', 'the signing authority of a simulated cluster', 'buffer')
  const key = Buffer.concat([ED25519_PKCS8, seed])
  authority = {
    certificatePem: AUTHORITY_PEM,
    privateKeyPem: privateKeyPem(createPrivateKey({ key, format: 'der', type: 'pkcs8' })),
  }
  return authority
}

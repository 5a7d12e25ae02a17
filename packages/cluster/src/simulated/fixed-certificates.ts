/** What a simulated cluster has in the place of certificates: nobody opens a TLS connection to it. */
import { generateKeyPair } from '@gyropilot/foundation/x509'

/** Enters the history (`kube-root-ca.crt`), so it is the same everywhere. */
export const AUTHORITY_PEM = `-----BEGIN CERTIFICATE-----
dGhlIGF1dGhvcml0eSBvZiBhIHNpbXVsYXRlZCBjbHVzdGVy
-----END CERTIFICATE-----
`

let key: ReturnType<typeof generateKeyPair> | undefined

/** Signs tokens of service accounts. One for the life of this process: tokens never enter a history. */
export function serviceAccountKey(): ReturnType<typeof generateKeyPair> {
  key ??= generateKeyPair()
  return key
}

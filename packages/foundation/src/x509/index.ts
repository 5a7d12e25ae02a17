/** X.509 certificates over EC P-256 keys: what a cluster and its components need to speak TLS to each other. */
export {
  generateKeyPair,
  ipAddressBytes,
  issueCertificate,
  pem,
  privateKeyPem,
  publicKeyPem,
} from './certificate.ts'
export type {
  CertificateAndKey,
  CertificateRequest,
  DistinguishedName,
  Issuer,
} from './certificate.ts'
export * as der from './der.ts'
export { certificatesOfPem, serverCertificateProblem } from './server-identity.ts'
export type { CertificateProblem, PresentedCertificate } from './server-identity.ts'

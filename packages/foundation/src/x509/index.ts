/** X.509: what a cluster and its components need to speak TLS to each other, and certificates for those who ask for one. */
export type { AlternativeNames } from './alternative-names.ts'
export {
  authoritiesProblem,
  certificatesProblem,
  readableAuthorities,
  trustAnchors,
} from './authorities.ts'
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
export { findChain, presentedBy } from './chain.ts'
export type { ChainRequest, FoundChain } from './chain.ts'
export { parseSigningRequest } from './certificate-request.ts'
export type { SigningRequest } from './certificate-request.ts'
export * as der from './der.ts'
export { DerError } from './der-reader.ts'
export { EXTENDED_KEY_USAGE } from './extension-identifiers.ts'
export { keyPairProblem } from './key-pair.ts'
export {
  isProvenBy,
  keyOfStubRequest,
  leafOfChain,
  podKeyProblem,
  publicKeyOf,
} from './pod-certificates.ts'
export type { ChainLeaf } from './pod-certificates.ts'
export { certificatesOfPem, serverCertificateProblem } from './server-identity.ts'
export type { CertificateProblem, ServerProof } from './server-identity.ts'
export { SigningAuthority } from './signing-authority.ts'
export type { LeafCertificate } from './signing-authority.ts'
export type { Subject } from './subject.ts'

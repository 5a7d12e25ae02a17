export { generateKeyPair, issueCertificate, pem } from '@gyropilot/foundation/x509'
export type {
  CertificateAndKey,
  CertificateRequest,
  DistinguishedName,
  Issuer,
} from '@gyropilot/foundation/x509'
export { createClusterCertificates, subjectOf } from './cluster-certificates.ts'
export type {
  CertificateFiles,
  ClusterCertificates,
  ClusterCertificatesOptions,
  ServiceAccountKey,
} from './cluster-certificates.ts'
export { kubeconfigText } from './kubeconfig.ts'
export type { KubeconfigOptions } from './kubeconfig.ts'

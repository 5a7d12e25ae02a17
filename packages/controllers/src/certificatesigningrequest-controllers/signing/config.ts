/**
 * Settings of the signing controller.
 * Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Flags and configuration.
 */
import type { CertificateAndKey } from '@gyropilot/foundation/x509'

export const SIGNER_NAMES = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kube-apiserver-client',
  'kubernetes.io/legacy-unknown',
] as const

export type SignerName = (typeof SIGNER_NAMES)[number]

/** Where an authority comes from: files of the process, or who runs the cluster. */
export interface AuthoritySource {
  /** What there is now. Rejects when it cannot be read. */
  read(): Promise<CertificateAndKey>
  /** How often another answer is to be looked for. Absent: there is never another one. */
  readonly rereadEveryMs?: number
}

export interface CertificateSigningConfiguration {
  /** --cluster-signing-duration: the longest life of a certificate. */
  readonly durationMs: number
  /** By signer; those left out do not sign. */
  readonly authorities: Readonly<Partial<Record<SignerName, AuthoritySource>>>
}

export const defaultCertificateSigningConfiguration: CertificateSigningConfiguration = {
  durationMs: 365 * 24 * 3_600_000,
  authorities: {},
}

/** How much before now a certificate begins: clocks of those who read it may be behind. */
export const BACKDATE_MS = 5 * 60_000
/** Certificates that live shorter keep their full length from now on. */
export const SHORT_LIFE_MS = 8 * 3_600_000
/** What may be asked for at least. */
export const LEAST_DURATION_MS = 10 * 60_000

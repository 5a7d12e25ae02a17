/** Keys for managers in processes of their own: beside the kubeconfig, as private, and only while these run. */
import { rmSync } from 'node:fs'
import type { ClusterCertificates } from '@gyropilot/api-server'
import { writeBesideKubeconfig } from './written-kubeconfig.ts'

export interface ManagerKeys {
  /** What the server judges tokens of service accounts by. */
  readonly serviceAccountKeyFile: string
  /** What certificates are signed with. */
  readonly signingAuthority: { readonly certFile: string; readonly keyFile: string }
  /** All of them. */
  readonly files: readonly string[]
  remove(): void
}

export function writeManagerKeys(
  kubeconfig: string,
  { serviceAccountKey, authority }: ClusterCertificates,
): ManagerKeys {
  const texts = {
    [`${kubeconfig}.sa.key`]: serviceAccountKey.privateKeyPem,
    [`${kubeconfig}.ca.crt`]: authority.certificatePem,
    [`${kubeconfig}.ca.key`]: authority.privateKeyPem,
  }
  for (const [path, text] of Object.entries(texts)) writeBesideKubeconfig(path, text)
  const files = Object.keys(texts)
  return {
    files,
    serviceAccountKeyFile: `${kubeconfig}.sa.key`,
    signingAuthority: { certFile: `${kubeconfig}.ca.crt`, keyFile: `${kubeconfig}.ca.key` },
    remove() {
      for (const path of files) rmSync(path, { force: true })
    },
  }
}

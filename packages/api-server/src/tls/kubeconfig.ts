import type { CertificateAndKey } from '@gyropilot/foundation/x509'

interface KubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string
  readonly authorityPem: string
  readonly client: CertificateAndKey
  /** Names of cluster and context. Default `gyro`. */
  readonly clusterName?: string
  /** Default `admin`. */
  readonly userName?: string
  readonly namespace?: string
  /** A bearer token besides the client certificate, for clients that take no certificate. */
  readonly token?: string
}

/**
 * A kubeconfig with everything in it: no paths, so it can be moved. Written by hand, with texts quoted as JSON (which YAML
 * reads): loading a YAML library for it would take a third of the start.
 */
export function kubeconfigText(options: KubeconfigOptions): string {
  const cluster = JSON.stringify(options.clusterName ?? 'gyro')
  const user = JSON.stringify(options.userName ?? 'admin')
  const { namespace, token } = options
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${JSON.stringify(options.server)}
    certificate-authority-data: ${base64(options.authorityPem)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(options.client.certificatePem)}
    client-key-data: ${base64(options.client.privateKeyPem)}${token === undefined ? '' : `\n    token: ${JSON.stringify(token)}`}
contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}${namespace === undefined ? '' : `\n    namespace: ${JSON.stringify(namespace)}`}
current-context: ${cluster}
preferences: {}
`
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

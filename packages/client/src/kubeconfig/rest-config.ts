import { clientErrors } from '../errors.ts'
import type { AuthProviderConfig, ExecConfig, Impersonation } from './kubeconfig.ts'

/** Everything needed to talk to one API server as one identity. Paths are absolute; `*Data` is PEM text. */
export interface RestConfig {
  /** `https://10.0.0.1:6443`, with the path prefix if there is one. */
  readonly server: string
  readonly tls: TlsFiles
  readonly bearerToken?: string
  /** Beats `bearerToken`; read again while in use. */
  readonly bearerTokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly exec?: ExecConfig
  /** The cluster's config for the exec plug-in. */
  readonly execClusterConfig?: unknown
  readonly authProvider?: AuthProviderConfig
  readonly impersonate?: Impersonation
  readonly proxyUrl?: string
  readonly disableCompression?: boolean
  /** The context's namespace, or that of the pod. Absent: `default`. */
  readonly namespace?: string
}

/** What is trusted and shown in TLS handshakes. Of a file and its `*Data` the data counts; files are read again while in use. */
export interface TlsFiles {
  readonly caFile?: string
  readonly caData?: string
  readonly certFile?: string
  readonly certData?: string
  readonly keyFile?: string
  readonly keyData?: string
  readonly serverName?: string
  readonly insecure?: boolean
}

/** The same server without any credential: what a client with credentials of its own starts from. */
export function anonymousConfig(config: RestConfig): RestConfig {
  const { server, proxyUrl, disableCompression, namespace } = config
  const { caFile, caData, serverName, insecure } = config.tls
  return {
    server,
    proxyUrl,
    disableCompression,
    namespace,
    tls: { caFile, caData, serverName, insecure },
  }
}

/** What people write, as a URL: `host:port` is http, whatever else is said of TLS. Throws for what is none. */
export function serverUrl(server: string): string {
  const url = /^https?:\/\//i.test(server) ? server : `http://${server}`
  if (URL.canParse(url)) return url
  throw clientErrors.make(
    'KUBECONFIG_INVALID',
    `host must be a URL or a host:port pair: ${JSON.stringify(server)}`,
  )
}

export function usesTls(config: Pick<RestConfig, 'server'>): boolean {
  return config.server.toLowerCase().startsWith('https://')
}

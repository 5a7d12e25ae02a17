/** The content of kubeconfig files, one or merged. Contract: docs/behaviour/runtime/rest-client.md, "Loading configuration". */

export interface Kubeconfig {
  readonly currentContext: string
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
}

/** Paths are absolute. `*Data` is base64. */
export interface ClusterEntry {
  readonly server?: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly certificateAuthority?: string
  readonly certificateAuthorityData?: string
  readonly proxyUrl?: string
  readonly disableCompression?: boolean
  /** The config of an exec plug-in for this cluster, from `extensions`. */
  readonly execConfig?: unknown
}

/** Credentials, as written: nothing is read or checked yet. Paths are absolute, `*Data` is base64. */
export interface UserEntry {
  readonly clientCertificate?: string
  readonly clientCertificateData?: string
  readonly clientKey?: string
  readonly clientKeyData?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly impersonate?: Impersonation
  readonly authProvider?: AuthProviderConfig
  readonly exec?: ExecConfig
}

export interface AuthProviderConfig {
  readonly name: string
  readonly config: Readonly<Record<string, string>>
  /** Where a provider writes new tokens to: the file and the user that it was read from. */
  readonly origin?: { readonly path: string; readonly user: string }
}

/** Whom requests are made as (`as`, `as-uid`, `as-groups`, `as-user-extra`). */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A program that gives credentials (KEP-541, client.authentication.k8s.io). */
export interface ExecConfig {
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly apiVersion: string
  /** Empty: not given. */
  readonly interactiveMode: string
  readonly provideClusterInfo: boolean
  readonly installHint: string
}

/** A cluster and a user by their names. */
export interface ContextEntry {
  readonly cluster: string
  readonly user: string
  readonly namespace?: string
}

export const emptyKubeconfig: Kubeconfig = {
  currentContext: '',
  clusters: new Map(),
  users: new Map(),
  contexts: new Map(),
}

/** One configuration from several: the first that has an entry, or a current context, decides; entries are not mixed. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const firstOf = <T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> => {
    const merged = new Map<string, T>()
    for (const map of maps)
      for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
    return merged
  }
  return {
    currentContext: configs.find((config) => config.currentContext !== '')?.currentContext ?? '',
    clusters: firstOf(configs.map((config) => config.clusters)),
    users: firstOf(configs.map((config) => config.users)),
    contexts: firstOf(configs.map((config) => config.contexts)),
  }
}

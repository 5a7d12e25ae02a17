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
  readonly authProvider?: {
    readonly name: string
    readonly config: Readonly<Record<string, string>>
  }
  readonly exec?: ExecConfig
}

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

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

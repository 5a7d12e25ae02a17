import { aggregateText, errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import { firstToken, refuseNoPair, refuseUnusable } from './first-look.ts'
import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from './kubeconfig.ts'
import { serverUrl } from './rest-config.ts'
import type { RestConfig, TlsFiles } from './rest-config.ts'

/** What a command line may say over the files. */
export interface ConfigOverrides {
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
  /** Instead of the cluster's server. */
  readonly server?: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly certificateAuthority?: string
  readonly token?: string
}

const NO_CONFIGURATION =
  'invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable'
const CLUSTER_WITHOUT_SERVER = 'cluster has no server defined'

export function noConfiguration(cause?: unknown): Error {
  return clientErrors.make('CONFIGURATION_MISSING', NO_CONFIGURATION, { cause })
}

/** current-context, its cluster and its user, each as overridden, checked and made into a RestConfig. */
export async function selectConfig(
  config: Kubeconfig,
  overrides: ConfigOverrides,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<RestConfig> {
  const contextName = overrides.context ?? config.currentContext
  const context = contextOf(config, overrides, contextName)
  const clusterName = overrides.cluster ?? context?.cluster ?? ''
  const userName = overrides.user ?? context?.user ?? ''
  const cluster = clusterOf(config, overrides, clusterName)
  const user = userOf(config, overrides, userName)

  const faults: string[] = []
  if (contextName !== '' && context === undefined) {
    faults.push(`context was not found for specified context: ${contextName}`)
  }
  faults.push(...userFaults(userName, user), ...(await userFileFaults(userName, user, host)))
  faults.push(...(await clusterFaults(clusterName, cluster, host)))
  if (faults.length === 1 && faults[0] === CLUSTER_WITHOUT_SERVER) throw noConfiguration()
  if (faults.length > 0) {
    const text = `invalid configuration: ${aggregateText(faults)}`
    throw clientErrors.make('KUBECONFIG_INVALID', text)
  }
  return restConfigOf(cluster!, user, overrides.namespace ?? context?.namespace, host)
}

function contextOf(
  config: Kubeconfig,
  overrides: ConfigOverrides,
  name: string,
): ContextEntry | undefined {
  const context = config.contexts.get(name)
  if (context === undefined && overrides.context !== undefined) throw missing('context', name)
  return context
}

function clusterOf(
  config: Kubeconfig,
  overrides: ConfigOverrides,
  name: string,
): ClusterEntry | undefined {
  const entry = config.clusters.get(name)
  if (entry === undefined && overrides.cluster !== undefined) throw missing('cluster', name)
  const { server, tlsServerName, insecureSkipTlsVerify, certificateAuthority } = overrides
  let cluster = entry
  if (server !== undefined && server !== '') cluster = { ...cluster, server }
  // A server of one's own does not have the name of the one in the file.
  if (server) cluster = { ...cluster, tlsServerName }
  else if (tlsServerName !== undefined) cluster = { ...cluster, tlsServerName }
  if (certificateAuthority !== undefined) {
    cluster = { ...cluster, certificateAuthority, certificateAuthorityData: undefined }
  }
  if (insecureSkipTlsVerify !== undefined) {
    cluster = { ...cluster, insecureSkipTlsVerify }
    if (insecureSkipTlsVerify && certificateAuthority === undefined) {
      cluster = { ...cluster, certificateAuthority: undefined, certificateAuthorityData: undefined }
    }
  }
  return cluster
}

function userOf(config: Kubeconfig, overrides: ConfigOverrides, name: string): UserEntry {
  const entry = config.users.get(name)
  if (entry === undefined && overrides.user !== undefined) throw missing('auth info', name)
  if (overrides.token === undefined) return entry ?? {}
  return { ...entry, token: overrides.token, tokenFile: undefined }
}

function missing(what: string, name: string): Error {
  return clientErrors.make(
    'KUBECONFIG_ENTRY_MISSING',
    `${what} ${JSON.stringify(name)} does not exist`,
  )
}

async function clusterFaults(
  name: string,
  cluster: ClusterEntry | undefined,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<string[]> {
  if (cluster === undefined) return [CLUSTER_WITHOUT_SERVER]
  const faults: string[] = []
  if (!cluster.server) {
    faults.push(
      name === ''
        ? 'default cluster has no server defined'
        : `no server found for cluster ${JSON.stringify(name)}`,
    )
  }
  const proxyFault = cluster.proxyUrl === undefined ? undefined : proxyUrlFault(cluster.proxyUrl)
  if (proxyFault !== undefined) {
    faults.push(
      `invalid 'proxy-url' ${JSON.stringify(cluster.proxyUrl)} for cluster ${JSON.stringify(name)}: ${proxyFault}`,
    )
  }
  if (
    cluster.certificateAuthority !== undefined &&
    cluster.certificateAuthorityData !== undefined
  ) {
    faults.push(
      `certificate-authority-data and certificate-authority are both specified for ${name}. ` +
        'certificate-authority-data will override.',
    )
  }
  faults.push(
    ...(await unreadable('certificate-authority', cluster.certificateAuthority, name, host)),
  )
  return faults
}

function proxyUrlFault(url: string): string | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]
  if (scheme === undefined || !URL.canParse(url)) return `could not parse: ${url}`
  if (['http', 'https', 'socks5', 'socks5h'].includes(scheme.toLowerCase())) return undefined
  return `unsupported scheme ${JSON.stringify(scheme)}, must be http, https, or socks5`
}

function userFaults(name: string, user: UserEntry): string[] {
  const faults: string[] = []
  const methods: string[] = []
  if (user.token || user.tokenFile) methods.push('token')
  if (user.username || user.password) methods.push('basicAuth')
  const hasCertificate =
    user.clientCertificate !== undefined || user.clientCertificateData !== undefined
  if (hasCertificate) {
    if (user.clientCertificate !== undefined && user.clientCertificateData !== undefined) {
      faults.push(
        `client-cert-data and client-cert are both specified for ${name}. client-cert-data will override.`,
      )
    }
    if (user.clientKey !== undefined && user.clientKeyData !== undefined) {
      faults.push(
        `client-key-data and client-key are both specified for ${name}; client-key-data will override`,
      )
    }
    if (user.clientKey === undefined && user.clientKeyData === undefined) {
      faults.push(
        `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
      )
    }
  }
  if (user.exec !== undefined) faults.push(...execFaults(name, user, user.exec))
  // A client certificate goes together with anything.
  if (methods.length > 1) {
    faults.push(
      `more than one authentication method found for ${name}; found [${methods.join(' ')}], only one is allowed`,
    )
  }
  const as = user.impersonate
  if (as !== undefined && as.user === '') {
    faults.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`)
  }
  return faults
}

function execFaults(name: string, user: UserEntry, exec: NonNullable<UserEntry['exec']>): string[] {
  const faults: string[] = []
  const needed = (what: string): string =>
    `${what} must be specified for ${name} to use exec authentication plugin`
  if (user.authProvider !== undefined) {
    faults.push(`authProvider cannot be provided in combination with an exec plugin for ${name}`)
  }
  if (exec.command === '') faults.push(needed('command'))
  if (exec.apiVersion === '') faults.push(needed('apiVersion'))
  for (const { name: variable } of exec.env)
    if (variable === '') faults.push(needed('env variable name'))
  const mode = exec.interactiveMode
  // v1beta1 has a default; v1 makes everybody say it.
  if (mode === '' && exec.apiVersion !== 'client.authentication.k8s.io/v1beta1')
    faults.push(needed('interactiveMode'))
  else if (!['', 'Never', 'IfAvailable', 'Always'].includes(mode)) {
    faults.push(`invalid interactiveMode for ${name}: ${JSON.stringify(mode)}`)
  }
  return faults
}

async function userFileFaults(
  name: string,
  user: UserEntry,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<string[]> {
  return [
    ...(await unreadable('client-cert', user.clientCertificate, name, host)),
    ...(await unreadable('client-key', user.clientKey, name, host)),
  ]
}

async function unreadable(
  what: string,
  path: string | undefined,
  name: string,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<string[]> {
  if (path === undefined) return []
  try {
    await host.readTextFile(path)
    return []
  } catch (error) {
    return [`unable to read ${what} ${path} for ${name} due to ${errorText(error)}`]
  }
}

async function restConfigOf(
  cluster: ClusterEntry,
  user: UserEntry,
  namespace: string | undefined,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<RestConfig> {
  const clusterTls: TlsFiles = {
    caFile:
      cluster.certificateAuthorityData === undefined ? cluster.certificateAuthority : undefined,
    caData: decoded(cluster.certificateAuthorityData),
    serverName: cluster.tlsServerName,
    insecure: cluster.insecureSkipTlsVerify ?? false,
  }
  if (clusterTls.insecure && (clusterTls.caFile ?? clusterTls.caData) !== undefined) {
    throw clientErrors.make(
      'KUBECONFIG_INVALID',
      'specifying a root certificates file with the insecure flag is not allowed',
    )
  }
  const userTls: TlsFiles = {
    certFile: user.clientCertificateData === undefined ? user.clientCertificate : undefined,
    certData: decoded(user.clientCertificateData),
    keyFile: user.clientKeyData === undefined ? user.clientKey : undefined,
    keyData: decoded(user.clientKeyData),
  }
  const server = serverUrl(cluster.server!)
  const base: RestConfig = {
    server,
    tls: clusterTls,
    proxyUrl: cluster.proxyUrl,
    disableCompression: cluster.disableCompression,
    namespace,
    ...(user.impersonate === undefined ? {} : { impersonate: user.impersonate }),
  }
  // Credentials are not for plain text.
  if (!server.toLowerCase().startsWith('https://')) return base
  if (user.tokenFile !== undefined) await firstToken(user.tokenFile, host)
  refuseUnusable(
    clusterTls.caFile === undefined
      ? clusterTls.caData
      : await host.readTextFile(clusterTls.caFile),
  )
  refuseNoPair(userTls.certData, userTls.keyData)
  return {
    ...base,
    tls: { ...clusterTls, ...userTls },
    bearerToken: user.token,
    bearerTokenFile: user.tokenFile,
    username: user.username,
    password: user.password,
    exec: user.exec,
    execClusterConfig: cluster.execConfig,
    authProvider: user.authProvider,
  }
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8')
}

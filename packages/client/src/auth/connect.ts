import { silentLogger, silentMetrics } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger, MetricsRegistry } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import { HttpTransport } from '../http-transport/http-transport.ts'
import { followingRedirects } from '../http-transport/redirects.ts'
import { ServerTransports } from '../http-transport/server-transports.ts'
import type { TlsSource } from '../http-transport/tls-source.ts'
import { refuseUnusable } from '../kubeconfig/first-look.ts'
import type { AuthProviderConfig } from '../kubeconfig/kubeconfig.ts'
import type { RestConfig } from '../kubeconfig/rest-config.ts'
import { usesTls } from '../kubeconfig/rest-config.ts'
import type { Transport } from '../transport.ts'
import { authenticatedTransport, basicCredentials, bearerToken } from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { ExecCredentials, refuseApiVersion } from './exec-credentials.ts'
import { execMetrics } from './exec-metrics.ts'
import { impersonatingTransport } from './impersonation.ts'
import { proxyFromEnvironment } from './proxy.ts'
import { tlsFromFiles } from './tls-files.ts'
import { TokenFile } from './token-file.ts'

const DEFAULT_PING_AFTER_IDLE_SECONDS = 30
const DEFAULT_PING_TIMEOUT_SECONDS = 15

/** The world that connections are made in. Logger and metrics default to silent ones. */
export interface ConnectionOptions {
  readonly host: HostEnvironment
  readonly clock: Clock
  readonly logger?: Logger
  readonly metrics?: MetricsRegistry
}

/**
 * The transports of one process. Those with equal server and TLS settings share their connections, whatever their token
 * or impersonation; closing one of them leaves the connections to the others, `close` ends them all.
 */
export class TransportPool {
  readonly #options: ConnectionOptions
  readonly #shared = new Map<string, Transport>()
  /** One per plug-in and cluster: all who are the same to the server share what one run of it said. */
  readonly #exec = new Map<string, ExecCredentials>()
  /** One per server, issuer and client: a refresh-token must not be used by two at once. */
  readonly #oidc = new Map<string, Credentials>()

  constructor(options: ConnectionOptions) {
    this.#options = options
    execMetrics(this.#metrics())
  }

  /** A transport with the identity of `config`. Throws GyropilotError for what cannot be used. */
  transport(config: RestConfig): Transport {
    refuseUnusable(config.tls.caData)
    const exec = this.#execOf(config)
    const shared = this.#sharedFor(config, exec)
    let transport: Transport = { send: shared.send.bind(shared), close: async () => {} }
    transport = withIdentity(transport, config, exec ?? this.#oidcOf(config), this.#options)
    if (config.impersonate !== undefined)
      transport = impersonatingTransport(transport, config.impersonate)
    return followingRedirects(transport, config.server)
  }

  async close(): Promise<void> {
    const all = [...this.#shared.values()]
    this.#shared.clear()
    await Promise.all(all.map((transport) => transport.close()))
  }

  #sharedFor(config: RestConfig, exec: ExecCredentials | undefined): Transport {
    const key = keyOf(config, exec !== undefined)
    const found = this.#shared.get(key)
    this.#count(found === undefined ? 'miss' : 'hit')
    if (found !== undefined) return found
    const made = this.#newFor(config, exec)
    this.#shared.set(key, made)
    this.#metrics()
      .gauge({
        name: 'rest_client_transport_cache_entries',
        help: 'Number of transport entries in the internal cache.',
      })
      .set(this.#shared.size)
    return made
  }

  #newFor(config: RestConfig, exec: ExecCredentials | undefined): Transport {
    const reloads = this.#metrics().counter({
      name: 'rest_client_transport_ca_reload_total',
      help: 'Number of times a CA reload is attempted, partitioned by the result and reason for the reload attempt',
      labels: ['reason', 'result'],
    })
    const files = tlsFromFiles(config.tls, this.#options.host, (result, reason) =>
      reloads.increment({ reason, result }),
    )
    const tls = exec === undefined ? files : exec.tls(files)
    return new ServerTransports(config.server, (server) =>
      this.#httpTransport({ ...config, server }, tls),
    )
  }

  #httpTransport(config: RestConfig, tls: TlsSource): Transport {
    const { host, clock, logger } = this.#options
    return new HttpTransport({
      server: config.server,
      clock,
      ...(logger === undefined ? {} : { logger }),
      tls,
      proxyUrl: config.proxyUrl ?? proxyFromEnvironment(config.server, host),
      disableCompression: config.disableCompression ?? false,
      pingAfterIdleMs:
        secondsFrom(host, 'HTTP2_READ_IDLE_TIMEOUT_SECONDS', DEFAULT_PING_AFTER_IDLE_SECONDS) *
        1000,
      pingTimeoutMs:
        secondsFrom(host, 'HTTP2_PING_TIMEOUT_SECONDS', DEFAULT_PING_TIMEOUT_SECONDS) * 1000,
      http1Only: Boolean(host.env('DISABLE_HTTP2')),
    })
  }

  #execOf(config: RestConfig): ExecCredentials | undefined {
    if (config.exec === undefined || !usesTls(config)) return undefined
    refuseApiVersion(config.exec.apiVersion)
    // Who has a token needs no plug-in.
    if (config.bearerToken || config.bearerTokenFile !== undefined) return undefined
    const key = keyOf(config, true)
    let credentials = this.#exec.get(key)
    if (credentials === undefined) {
      credentials = new ExecCredentials(config, this.#options)
      this.#exec.set(key, credentials)
    }
    return credentials
  }

  #oidcOf(config: RestConfig): Credentials | undefined {
    const { authProvider } = config
    if (authProvider === undefined) return undefined
    if (authProvider.name !== 'oidc') throw unsupportedProvider(authProvider.name)
    const { 'idp-issuer-url': issuer, 'client-id': client } = authProvider.config
    const key = JSON.stringify([config.server, issuer, client])
    let credentials = this.#oidc.get(key)
    if (credentials === undefined) {
      credentials = oidcCredentials(authProvider, this.#options)
      this.#oidc.set(key, credentials)
    }
    return credentials
  }

  #count(result: 'hit' | 'miss'): void {
    this.#metrics()
      .counter({
        name: 'rest_client_transport_create_calls_total',
        help: 'Number of calls to get a new transport, partitioned by the result of the operation hit: obtained from the cache, miss: created and added to the cache, miss-gc: recreated and added back to the cache after being garbage collected, uncacheable: created and not cached',
        labels: ['result'],
      })
      .increment({ result })
  }

  #metrics(): MetricsRegistry {
    return this.#options.metrics ?? silentMetrics
  }
}

/** What connections to a server have in common, and with a plug-in who they are. */
function keyOf(config: RestConfig, withExec: boolean): string {
  const { server, tls, proxyUrl, disableCompression = false, exec, execClusterConfig } = config
  const identity = withExec ? [exec, execClusterConfig] : []
  return JSON.stringify([server, tls, proxyUrl, disableCompression, ...identity])
}

function withIdentity(
  transport: Transport,
  config: RestConfig,
  provider: Credentials | undefined,
  options: ConnectionOptions,
): Transport {
  const { host, clock, logger = silentLogger } = options
  if (config.bearerTokenFile !== undefined) {
    return authenticatedTransport(
      transport,
      new TokenFile(config.bearerTokenFile, host, clock, logger),
    )
  }
  if (config.bearerToken) return authenticatedTransport(transport, bearerToken(config.bearerToken))
  if (config.username || config.password) {
    return authenticatedTransport(
      transport,
      basicCredentials(config.username ?? '', config.password ?? ''),
    )
  }
  return provider === undefined ? transport : authenticatedTransport(transport, provider)
}

/** Loaded for the first token: hardly any user has one. */
function oidcCredentials(settings: AuthProviderConfig, context: ConnectionOptions): Credentials {
  let loading: Promise<Credentials> | undefined
  return {
    async headers() {
      loading ??= import('./oidc-credentials.ts').then(
        ({ OidcCredentials }) => new OidcCredentials(settings, context),
      )
      return (await loading).headers()
    },
  }
}

function unsupportedProvider(name: string): Error {
  const plugins: Readonly<Record<string, string>> = {
    gcp: 'gke-gcloud-auth-plugin',
    azure: 'kubelogin',
  }
  const plugin = plugins[name]
  if (plugin !== undefined) {
    return clientErrors.make(
      'AUTH_PROVIDER_UNSUPPORTED',
      `The ${name} auth plugin has been removed. Please use the ${JSON.stringify(plugin)} credential plugin instead.`,
    )
  }
  return clientErrors.make(
    'AUTH_PROVIDER_UNSUPPORTED',
    `no Auth Provider found for name ${JSON.stringify(name)}`,
  )
}

function secondsFrom(host: Pick<HostEnvironment, 'env'>, name: string, fallback: number): number {
  const text = host.env(name)
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : fallback
}

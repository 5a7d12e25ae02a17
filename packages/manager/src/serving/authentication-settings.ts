/**
 * What the manager believes of certificates: from flags and their files, else from ConfigMap
 * kube-system/extension-apiserver-authentication; both are followed while it runs. Contract: docs/behaviour/runtime/manager.md, Serving.
 */
import type { X509Certificate } from 'node:crypto'
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, HostEnvironment, Logger, RandomSource } from '@gyropilot/foundation'
import { aggregateErrors, errorText } from '@gyropilot/foundation'
import { SharedInformer } from '@gyropilot/runtime'
import { managerErrors } from '../errors.ts'
import type { Options } from '../options/options.ts'
import type { AuthenticationSettings, FrontProxySettings } from './authentication.ts'
import { certificatesOf } from './client-certificates.ts'

const NAMESPACE = 'kube-system'
const NAME = 'extension-apiserver-authentication'

interface AuthenticationSettingsOptions {
  readonly options: Options
  readonly host: Pick<HostEnvironment, 'readTextFile'>
  /** Of --authentication-kubeconfig; undefined: the cluster is not asked. */
  readonly client?: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
}

type Data = Readonly<Record<string, string>>

interface Clients {
  readonly pem: string
  readonly authorities: readonly X509Certificate[]
}

interface Proxies {
  readonly pem: string
  readonly frontProxy?: FrontProxySettings | undefined
}

export const KEEPING_FORMER_SETTINGS = 'Keeping the former authentication settings'

export class FollowedAuthenticationSettings {
  readonly #given: AuthenticationSettingsOptions
  #clients: Clients = { pem: '', authorities: [] }
  #proxies: Proxies = { pem: '' }
  #settings: AuthenticationSettings = { clientAuthorities: [] }
  #cluster: Data = {}

  private constructor(given: AuthenticationSettingsOptions) {
    this.#given = given
  }

  /** Rejects when a file cannot be read, and when the cluster cannot be asked for front proxies, unless that is tolerated. */
  static async load(given: AuthenticationSettingsOptions): Promise<FollowedAuthenticationSettings> {
    const loaded = new FollowedAuthenticationSettings(given)
    if (loaded.#asksCluster) loaded.#cluster = await loaded.#readCluster()
    await loaded.refresh()
    return loaded
  }

  get current(): AuthenticationSettings {
    return this.#settings
  }

  /** All authorities, for the list of acceptable ones in the TLS handshake; empty: client certificates are not asked for. */
  get authoritiesPem(): string {
    return [this.#clients.pem, this.#proxies.pem].filter(Boolean).join('\n')
  }

  /** Follows the ConfigMap until `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger } = this.#given
    if (client === undefined || !this.#asksCluster) return
    const informer = new SharedInformer<ConfigMap>({
      client,
      type: resources.configmaps,
      namespace: NAMESPACE,
      fieldSelector: `metadata.name=${NAME}`,
      clock,
      random,
      logger,
    })
    const take = (configMap: ConfigMap): void => {
      this.#cluster = configMap.data ?? {}
      this.refresh().catch((error: unknown) => logger.error(error, KEEPING_FORMER_SETTINGS))
    }
    informer.addHandler({ onAdd: take, onUpdate: (_, configMap) => take(configMap) })
    await informer.run(signal)
  }

  /** Reads the files again. What cannot be read rejects and stays as it was; it holds back nothing else. */
  async refresh(): Promise<void> {
    const [clients, proxies] = await Promise.allSettled([this.#readClients(), this.#readProxies()])
    if (clients.status === 'fulfilled') this.#clients = clients.value
    if (proxies.status === 'fulfilled') this.#proxies = proxies.value
    const { frontProxy } = this.#proxies
    this.#settings = {
      clientAuthorities: this.#clients.authorities,
      ...(frontProxy === undefined ? {} : { frontProxy }),
    }
    const problems = [clients, proxies].flatMap((read) =>
      read.status === 'rejected' ? [read.reason as unknown] : [],
    )
    const problem = aggregateErrors(problems)
    if (problem !== undefined) throw problem
  }

  async #readClients(): Promise<Clients> {
    const { options, host } = this.#given
    const file = options.text('client-ca-file')
    const pem = file
      ? await bundleOf(host, file, 'load client CA provider', 'client-ca-bundle')
      : (this.#cluster['client-ca-file'] ?? '')
    return { pem, authorities: authorities(pem, file || 'client-ca-file') }
  }

  async #readProxies(): Promise<Proxies> {
    const { options, host } = this.#given
    const file = options.text('requestheader-client-ca-file')
    const purpose = 'create request header authentication config'
    const pem = file
      ? await bundleOf(host, file, purpose, 'request-header')
      : (this.#cluster['requestheader-client-ca-file'] ?? '')
    return { pem, frontProxy: this.#frontProxy(file, pem) }
  }

  get #asksCluster(): boolean {
    const { options, client } = this.#given
    if (client === undefined || options.flag('authentication-skip-lookup')) return false
    return (
      options.text('client-ca-file') === '' || options.text('requestheader-client-ca-file') === ''
    )
  }

  async #readCluster(): Promise<Data> {
    const { client, options, logger } = this.#given
    try {
      const configMap = await client!.resource(resources.configmaps, NAMESPACE).get(NAME)
      return configMap.data ?? {}
    } catch (error) {
      const what = `unable to load configmap based request-header-client-ca-file: ${errorText(error)}`
      const proxyIsGiven = options.text('requestheader-client-ca-file') !== ''
      // A missing client CA only means that no client certificate is believed yet.
      if (proxyIsGiven || options.flag('authentication-tolerate-lookup-failure')) {
        logger.error(error, 'Error looking up in-cluster authentication configuration')
        logger.info(
          'Continuing without authentication configuration. This may treat all requests as anonymous.',
        )
        return {}
      }
      throw managerErrors.make('AUTHENTICATION_LOOKUP_FAILED', what, { cause: error })
    }
  }

  #frontProxy(file: string, pem: string): FrontProxySettings | undefined {
    if (pem === '') return undefined
    const { options } = this.#given
    const list = (name: string): readonly string[] => {
      if (file !== '') return options.list(name)
      // In the ConfigMap the lists are JSON texts.
      const parsed: unknown = JSON.parse(this.#cluster[name] || '[]')
      return Array.isArray(parsed) ? parsed.map(String) : []
    }
    const lower = (name: string): readonly string[] => list(name).map((text) => text.toLowerCase())
    return {
      authorities: authorities(pem, file || 'requestheader-client-ca-file'),
      allowedNames: list('requestheader-allowed-names'),
      usernameHeaders: lower('requestheader-username-headers'),
      groupHeaders: lower('requestheader-group-headers'),
      uidHeaders: lower('requestheader-uid-headers'),
      extraHeaderPrefixes: lower('requestheader-extra-headers-prefix'),
    }
  }
}

async function bundleOf(
  host: Pick<HostEnvironment, 'readTextFile'>,
  file: string,
  purpose: string,
  bundle: string,
): Promise<string> {
  let text: string
  try {
    text = await host.readTextFile(file)
  } catch (error) {
    const message = `unable to ${purpose}: ${errorText(error)}`
    throw managerErrors.make('OPTIONS_INVALID', message, { cause: error })
  }
  if (text.trim() !== '') return text
  const why = `missing content for CA bundle ${JSON.stringify(`${bundle}::${file}`)}`
  throw managerErrors.make('OPTIONS_INVALID', `unable to ${purpose}: ${why}`)
}

function authorities(pem: string, source: string): readonly X509Certificate[] {
  if (pem.trim() === '') return []
  try {
    return certificatesOf(pem)
  } catch (error) {
    throw managerErrors.make(
      'OPTIONS_INVALID',
      `unable to load client CA provider: error loading ${source}: ${errorText(error)}`,
    )
  }
}

/**
 * A whole cluster in one process: API server, controllers, scheduler, simulated nodes, on one clock and one source of chance.
 * On the system clock it is `gyro up`; on a virtual clock it is a test.
 */
import { createApiServer } from '@gyropilot/api-server'
import type {
  ApiServer,
  ApiServerOptions,
  ClusterCertificates,
  RuntimeConfig,
  Store,
  UserInfo,
} from '@gyropilot/api-server'
import type { Client } from '@gyropilot/client'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { TurnGate } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { exposeFeatureGates } from '@gyropilot/manager/feature-gates'
import type { ReconcileTrace } from '@gyropilot/runtime'
import type { Dial, Secure, SimulatedNodeConfiguration, SimulatedKubelet } from '@gyropilot/nodes'
import { ADMINISTRATOR, Identities } from './identities.ts'
import { inProcessConnection } from './in-process-connection.ts'
import type { Audit } from './in-process-connection.ts'
import { Parts } from './parts.ts'
import type { RunningPart } from './parts.ts'

/** What a Cluster is made of. */
export interface ClusterOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly store: Store
  readonly certificates: ClusterCertificates
  /** Bearer token of the administrator. Default: a random one. */
  readonly administratorToken?: string
  /** As kube-apiserver's --runtime-config: `{ 'coordination.k8s.io/v1beta1': true }`. */
  readonly runtimeConfig?: RuntimeConfig
  /** Feature gates that are not at the default of 1.36, for the API server and the controllers. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Settings of the API server that differ from the defaults, or from what follows from the certificates. */
  readonly serverOptions?: ServerSettings
  /** Bearer tokens beside those of the parts. */
  readonly tokens?: ReadonlyMap<string, UserInfo>
  readonly trace?: ReconcileTrace
  /** Settings of controllers that differ from the defaults. */
  readonly configuration?: Partial<ControllersConfiguration>
  /** Told of every request of the parts, not of those from outside. */
  readonly audit?: Audit
  /** Leads ports of simulated pods to programs outside, where an annotation asks for it. Absent: never. */
  readonly dial?: Dial
  readonly secure?: Secure
  /**
   * Resolves in the next turn of the event loop: the requests of the parts are then spread over turns, so that bursts of them
   * do not hold up others. Absent, as on a virtual clock: they are answered as they come.
   */
  readonly nextTurn?: () => Promise<void>
}

export type ServerSettings = Omit<
  Partial<ApiServerOptions>,
  'clock' | 'random' | 'logger' | 'store' | 'metrics' | 'serviceAccountKey' | 'tokens' | 'kubelets'
>

/** Some milliseconds of work. */
const REQUESTS_PER_TURN = 8

/**
 * A whole cluster in this process: the API server, and the parts that are started. Time, chance and storage are the caller's.
 * Nothing listens or runs before it is asked to.
 */
export class Cluster {
  readonly server: ApiServer
  readonly administratorToken: string
  readonly #parts: Parts

  constructor(options: ClusterOptions) {
    const { clock, random, logger, metrics, store, certificates, audit } = options
    const identities = new Identities(random.fork('identities'))
    if (options.administratorToken) {
      identities.tokens.set(options.administratorToken, ADMINISTRATOR)
    }
    for (const [token, user] of options.tokens ?? []) identities.tokens.set(token, user)
    this.administratorToken = options.administratorToken || identities.tokenOf(ADMINISTRATOR)
    const { featureGates = {} } = options
    const serverGates = { ...featureGates, ...options.serverOptions?.featureGates }
    exposeFeatureGates(metrics, new Map(Object.entries(serverGates)))
    this.server = createApiServer({
      clock,
      random: random.fork('api-server'),
      logger,
      metrics,
      store,
      serviceAccountKey: certificates.serviceAccountKey,
      clientAuthorityPem: certificates.authority.certificatePem,
      frontProxyAuthorityPem: certificates.frontProxyAuthority.certificatePem,
      proxyClient: certificates.frontProxyClient,
      tokens: identities.tokens,
      runtimeConfig: options.runtimeConfig,
      kubelets: { kubeletOf: (nodeName) => this.#parts.kubeletOf(nodeName) },
      ...options.serverOptions,
      featureGates: serverGates,
    })
    const authorityPem = certificates.authority.certificatePem
    const { server } = this
    const { nextTurn } = options
    const gate =
      nextTurn === undefined
        ? undefined
        : new TurnGate({ clock, nextTurn, perTurn: REQUESTS_PER_TURN })
    const connection = inProcessConnection({
      server,
      identities,
      authorityPem,
      serviceAccountPrivateKeyPem: certificates.serviceAccountKey.privateKeyPem,
      signingAuthority: certificates.authority,
      audit,
      gate,
    })
    this.#parts = new Parts({
      connection,
      clock,
      random,
      logger,
      metrics,
      ...(options.trace === undefined ? {} : { trace: options.trace }),
      featureGates,
      ...(options.configuration && { configuration: options.configuration }),
      ...(options.dial === undefined ? {} : { dial: options.dial }),
      ...(options.secure === undefined ? {} : { secure: options.secure }),
    })
  }

  /** Creates what every cluster has. Parts may be started afterwards, in any order. */
  start(): Promise<void> {
    return this.server.start()
  }

  /** Speaks as the administrator. */
  client(): Client {
    return this.#parts.client()
  }

  /** What answers for a simulated node of this cluster. */
  kubeletOf(nodeName: string): SimulatedKubelet | undefined {
    return this.#parts.kubeletOf(nodeName)
  }

  startControllerManager(items?: readonly string[]): RunningPart {
    return this.#parts.startControllerManager(items)
  }

  /** See Parts. */
  startCloudControllerManager(
    provider: CloudProvider,
    settings: { readonly clusterCidr: string },
  ): RunningPart {
    return this.#parts.startCloudControllerManager(provider, settings)
  }

  startScheduler(): RunningPart {
    return this.#parts.startScheduler()
  }

  startStorage(): RunningPart {
    return this.#parts.startStorage()
  }

  startNodes(nodes: readonly SimulatedNodeConfiguration[]): RunningPart {
    this.server.serveResourceMetrics()
    return this.#parts.startNodes(nodes)
  }

  /** Stops the parts, then the server. The store stays open: it belongs to the caller. */
  async stop(graceMs?: number): Promise<void> {
    await this.#parts.stop()
    await this.server.stop(graceMs)
  }
}

/**
 * The parts of a cluster that talk to an API server: controllers, scheduler, simulated nodes. Which server, and as whom, is
 * the connection's matter: one in this process, or any other.
 */
import { KUBERNETES_VERSION } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { partClient } from './part-client.ts'
import type { Client, Transport } from '@gyropilot/client'
import { SIGNER_NAMES, controllers, defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import {
  clientBuilder,
  cloudDescriptors,
  initializeProvider,
  knownCloudControllers,
  runControllers,
} from '@gyropilot/manager'
import type { RunControllersOptions } from '@gyropilot/manager'
import { gateValues } from '@gyropilot/manager/feature-gates'
import { EventBroadcaster, SeriesBroadcaster, SharedInformerFactory } from '@gyropilot/runtime'
import type { InformerFactory, ReconcileTrace } from '@gyropilot/runtime'
import { STORAGE_DRIVER, SimulatedNodes, StorageDriver, VolumeData } from '@gyropilot/nodes'
import { SCHEDULER_NAME, Scheduler } from '@gyropilot/scheduler'
import type {
  Dial,
  Secure,
  SimulatedKubelet,
  SimulatedNodeConfiguration,
  SharedLoads,
} from '@gyropilot/nodes'
import { nodeIpam } from './pod-ranges.ts'

/** The machine that the scheduler says it runs on: its events name `default-scheduler-<host>` as their instance. */
const SCHEDULER_HOST = 'gyro'

/** Who a part is to the server. */
export type PartIdentity =
  | { readonly kind: 'administrator' }
  | { readonly kind: 'controller-manager' }
  | { readonly kind: 'scheduler' }
  /** A service account of kube-system. */
  | { readonly kind: 'controller'; readonly account: string }

/** How parts reach an API server, be it in this process or behind a socket. */
export interface Connection {
  /** `host:port`, for metrics. */
  readonly host: string
  /** The CA that clients in the cluster should trust, in PEM. */
  readonly authorityPem: string
  /** What the server judges service account tokens by, in PEM. Absent: unknown here, so token Secrets are not filled. */
  readonly serviceAccountPrivateKeyPem?: string
  /** What certificates are signed with that the server takes for a client's. Absent: unknown here, so none are signed. */
  readonly signingAuthority?: CertificateAndKey
  transportAs(identity: PartIdentity): Transport
}

/** What parts are made of. */
export interface PartsOptions {
  readonly connection: Connection
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly trace?: ReconcileTrace
  /** Of the controllers; those that are not at the default of 1.36. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Settings of controllers that differ from the defaults. */
  readonly configuration?: Partial<ControllersConfiguration>
  /** Leads ports of simulated pods to programs outside, where an annotation asks for it. Absent: never. */
  readonly dial?: Dial
  readonly secure?: Secure
  /** What answers for any node of the cluster, where these parts do not have them all. */
  readonly kubeletOf?: (nodeName: string) => SimulatedKubelet | undefined
  /** Who shares a scripted load, where these nodes are not all. */
  readonly loads?: SharedLoads
  /** What is written on volumes, where nodes and storage driver are of several such parts. Default: of these parts alone. */
  readonly volumeData?: VolumeData
}

/** A part that runs until its cluster stops. */
export interface RunningPart {
  /** Resolves when it does its work. */
  readonly ready: Promise<void>
  /** Rejects when the part fails; resolves after stop. */
  readonly ended: Promise<void>
}

const RESYNC_MS = 12 * 3_600_000
const USER_AGENT = {
  version: `v${KUBERNETES_VERSION}`,
  os: 'linux',
  arch: 'amd64',
  commit: 'gyropil',
}

/** Starts and stops what runs in a cluster besides its server: controller managers, scheduler, kubelets, drivers. */
export class Parts {
  readonly #options: PartsOptions
  readonly #lifetime = new AbortController()
  readonly #running: Promise<void>[] = []
  readonly #nodes: SimulatedNodes[] = []
  readonly #volumeData: VolumeData

  constructor(options: PartsOptions) {
    this.#options = options
    this.#volumeData = options.volumeData ?? new VolumeData()
  }

  /** Writes events as this client. `host` is the node of kubelets; `stream`: of random names. */
  events(client: Client, host?: string, stream = host ?? ''): EventBroadcaster {
    const { clock, random, logger } = this.#options
    return new EventBroadcaster({
      client,
      clock,
      random: random.fork(`events/${stream}`),
      logger: logger.named('events'),
      ...(host === undefined ? {} : { host }),
    })
  }

  /** Without rate limit. `program` is what the server takes the field manager from. */
  client(identity: PartIdentity = { kind: 'administrator' }, program = 'gyro'): Client {
    const { connection, clock, logger, metrics } = this.#options
    const transport = connection.transportAs(identity)
    const { host } = connection
    return partClient({ transport, clock, logger, metrics, host, userAgent: program })
  }

  /** The controllers of kube-controller-manager, each under its own service account. `items` as of --controllers. */
  startControllerManager(items: readonly string[] = ['*']): RunningPart {
    const { connection } = this.#options
    const options = {
      ...this.#managerOptions('kube-controller-manager', { kind: 'controller-manager' }),
      descriptors: controllers,
      items,
      configuration: {
        ...defaultControllersConfiguration,
        featureGates: this.#gates(),
        nodeIpam: nodeIpam('ipv4'),
        certificateSigning: certificateSigning(connection),
        rootCaPublisher: { caBundle: connection.authorityPem },
        serviceAccountToken: {
          ...defaultControllersConfiguration.serviceAccountToken,
          privateKeyPem: connection.serviceAccountPrivateKeyPem ?? '',
          rootCaPem: connection.authorityPem,
        },
        ...this.#options.configuration,
      },
    }
    return this.#start((signal, onStarted) => runControllers(options, signal, onStarted))
  }

  /** The loops of cloud-controller-manager, each under its own service account. `clusterCidr` are the ranges of pods, for routes. */
  startCloudControllerManager(
    provider: CloudProvider,
    { clusterCidr }: { readonly clusterCidr: string },
  ): RunningPart {
    const { cloud, nodeRoute } = defaultControllersConfiguration
    const options: RunControllersOptions = {
      ...this.#managerOptions('cloud-controller-manager', { kind: 'administrator' }),
      descriptors: cloudDescriptors,
      knownControllers: knownCloudControllers,
      // The other manager hands out ranges.
      items: ['*', '-node-ipam-controller'],
      beforeControllers: (surroundings) =>
        initializeProvider(provider, surroundings, this.#options),
      configuration: {
        ...defaultControllersConfiguration,
        featureGates: this.#gates(),
        cloud: { ...cloud, provider },
        nodeRoute: { ...nodeRoute, clusterCidr },
        ...this.#options.configuration,
      },
    }
    return this.#start((signal, onStarted) => runControllers(options, signal, onStarted))
  }

  #gates(): Readonly<Record<string, boolean>> {
    return gateValues(new Map(Object.entries(this.#options.featureGates ?? {})))
  }

  #managerOptions(program: string, root: PartIdentity) {
    const { connection, clock, random, logger, metrics, trace } = this.#options
    const common = {
      clock,
      logger,
      metrics,
      host: connection.host,
      rate: { qps: -1, burst: 0 },
      userAgent: { ...USER_AGENT, program },
    }
    const transport = connection.transportAs(root)
    const part = program.replace(/^kube-/, '')
    return {
      program,
      rootClients: clientBuilder({ ...common, transport: () => transport }),
      controllerClients: clientBuilder({
        ...common,
        transport: (account) => connection.transportAs({ kind: 'controller', account }),
      }),
      startIntervalMs: 0,
      minResyncPeriodMs: RESYNC_MS,
      clock,
      random: random.fork(part),
      logger: logger.named(part),
      metrics,
      ...(trace === undefined ? {} : { trace }),
    }
  }

  startScheduler(): RunningPart {
    const { clock, random, logger } = this.#options
    const client = this.client({ kind: 'scheduler' }, 'kube-scheduler')
    const informers = this.#informers(client, 'scheduler')
    const recorder = new SeriesBroadcaster({
      client,
      clock,
      random: random.fork('events/scheduler'),
      logger: logger.named('events'),
      controller: SCHEDULER_NAME,
      hostname: SCHEDULER_HOST,
    })
    const scheduler = new Scheduler({
      client,
      informers,
      clock,
      random: random.fork('scheduler'),
      logger: logger.named('scheduler'),
      recorder,
      featureGates: this.#gates(),
    })
    return this.#start(async (signal, onStarted) => {
      informers.start(signal)
      if (!(await informers.waitForCacheSync(signal))) return
      scheduler.start(signal)
      onStarted()
      await informers.shutdown()
      await recorder.shutdown()
    })
  }

  startNodes(nodes: readonly SimulatedNodeConfiguration[]): RunningPart {
    const { clock, random, logger, dial, secure, loads, kubeletOf } = this.#options
    const client = this.client({ kind: 'administrator' }, 'kubelet')
    const informers = this.#informers(client, 'nodes', ownOf(nodes))
    const simulated = new SimulatedNodes({
      nodes,
      client,
      informers,
      clock,
      random: random.fork('nodes'),
      logger: logger.named('nodes'),
      recorderOf: (host) => this.events(client, host).recorder('kubelet'),
      ...(dial === undefined ? {} : { dial }),
      ...(secure === undefined ? {} : { secure }),
      ...(loads === undefined ? {} : { loads }),
      kubeletOf: kubeletOf ?? ((name) => this.kubeletOf(name)),
      volumeData: this.#volumeData,
    })
    this.#nodes.push(simulated)
    return this.#start(async (signal, onStarted) => {
      informers.start(signal)
      if (!(await informers.waitForCacheSync(signal))) return
      await simulated.start(signal)
      onStarted()
      // Until then more of them are started: claims and volumes, with the first pod that has some.
      await whenAborted(signal)
      await informers.shutdown()
    })
  }

  /** What provisions, attaches and resizes volumes. One for a cluster, whatever its nodes. */
  startStorage(): RunningPart {
    const { clock, logger } = this.#options
    const client = this.client({ kind: 'administrator' }, 'csi-driver')
    const informers = this.#informers(client, 'storage')
    const driver = new StorageDriver({
      client,
      informers,
      clock,
      logger: logger.named('storage'),
      recorder: this.events(client, undefined, STORAGE_DRIVER).recorder(STORAGE_DRIVER),
      data: this.#volumeData,
    })
    return this.#start(async (signal, onStarted) => {
      informers.start(signal)
      if (!(await informers.waitForCacheSync(signal))) return
      await driver.install(signal)
      onStarted()
      await driver.run(signal)
      await informers.shutdown()
    })
  }

  /** What answers for a simulated node of these parts. */
  kubeletOf(nodeName: string): SimulatedKubelet | undefined {
    for (const nodes of this.#nodes) {
      const kubelet = nodes.kubeletOf(nodeName)
      if (kubelet !== undefined) return kubelet
    }
    return undefined
  }

  /** Resolves when all parts have stopped. */
  async stop(): Promise<void> {
    this.#lifetime.abort(new Error('the cluster stops'))
    await Promise.allSettled(this.#running)
  }

  #start(run: (signal: AbortSignal, onStarted: () => void) => Promise<void>): RunningPart {
    const { signal } = this.#lifetime
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    const ended = run(signal, resolve).catch((error: unknown) => {
      if (signal.aborted) return
      reject(error)
      throw error
    })
    ready.catch(() => {})
    ended.catch(() => {})
    this.#running.push(ended)
    return { ready, ended }
  }

  #informers(
    client: Client,
    name: string,
    fieldSelector?: (type: ResourceType) => string | undefined,
  ): InformerFactory {
    const { clock, random, logger } = this.#options
    return new SharedInformerFactory({
      client,
      clock,
      random: random.fork(`${name}/informers`),
      logger: logger.named(name),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    })
  }
}

async function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
}

/** One authority for all signers. */
function certificateSigning({ signingAuthority }: Connection) {
  const byDefault = defaultControllersConfiguration.certificateSigning
  if (signingAuthority === undefined) return byDefault
  const source = { read: () => Promise.resolve(signingAuthority) }
  const authorities = Object.fromEntries(SIGNER_NAMES.map((name) => [name, source]))
  return { ...byDefault, authorities }
}

/** A kubelet watches itself and the pods that are bound to it. Several in one process share one watch of all that are bound. */
function ownOf(
  nodes: readonly SimulatedNodeConfiguration[],
): (type: ResourceType) => string | undefined {
  const [only, ...others] = nodes
  if (only === undefined || others.length > 0)
    return ({ resource }) => (resource === 'pods' ? 'spec.nodeName!=' : undefined)
  return ({ resource }) =>
    resource === 'pods'
      ? `spec.nodeName=${only.name}`
      : resource === 'nodes'
        ? `metadata.name=${only.name}`
        : undefined
}

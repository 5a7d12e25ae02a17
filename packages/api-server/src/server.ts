/** The embedded API server: its parts put together. It behaves as kube-apiserver 1.36 does, for one machine. */
import type { Duplex } from 'node:stream'
import type { Timer } from '@gyropilot/foundation'
import { admissionPlugins, serviceResolver, type ServiceResolver } from './admission/index.ts'
import { DecisionMetrics } from './admission/decision-metrics.ts'
import { fieldManagement } from './field-management/field-management.ts'
import {
  createAuthentication,
  createAuthorizer,
  LAST_USED,
  SERVER_IDENTITY,
  ServiceAccountTokens,
  type RbacAuthorizer,
} from './auth/index.ts'
import { bootstrap, type Bootstrapped } from './bootstrap/index.ts'
import type { RequestAttributes, SubresourceHandler } from './contracts.ts'
import { standingChecks, startChecks } from './discovery/health.ts'
import { ComponentPages } from './discovery/component-pages.ts'
import { NonResources } from './discovery/non-resource-handler.ts'
import { OpenApiDocuments } from './discovery/openapi.ts'
import { VERSION } from './discovery/version.ts'
import { AdmissionChain } from './handlers/writes/admission-chain.ts'
import { Allocations } from './handlers/writes/allocations.ts'
import { Deleter } from './handlers/writes/deletion.ts'
import { DeletionHandler } from './handlers/writes/deletion-handler.ts'
import { ExpirySweeper } from './handlers/reads/expiry.ts'
import { FlowSchemas } from './handlers/limits/flow-control.ts'
import { exposePriorityLevels } from './handlers/limits/priority-level-seats.ts'
import { IN_FLIGHT_LIMITS, InFlight } from './handlers/limits/in-flight.ts'
import { Internals } from './handlers/internals.ts'
import { ObjectWriter } from './handlers/writes/object-writer.ts'
import { serviceEndpoints } from './handlers/writes/service-endpoints.ts'
import { Pipeline, type PipelineParts } from './handlers/pipeline.ts'
import { RequestBodies } from './handlers/bodies/request-bodies.ts'
import { AccessMetrics } from './handlers/access-metrics.ts'
import { AdmissionMetrics } from './handlers/admission-metrics.ts'
import { RequestMetrics } from './handlers/request-metrics.ts'
import {
  exposeApiServices,
  exposeBuild,
  exposeServerState,
  lostApiServices,
} from './handlers/server-state-metrics.ts'
import { ResourceHandler } from './handlers/resource-handler.ts'
import { SubresourceEndpoint } from './handlers/subresource-endpoint.ts'
import type { Answer } from './http/answer.ts'
import type { ServerRequest, ServerResponse } from './http/exchange.ts'
import { gatheredRequests } from './http/listener/gathered-requests.ts'
import { listen, type Listener } from './http/listener/listener.ts'
import { createOutgoingCalls, type OutgoingCalls } from './http/outgoing-calls/outgoing-calls.ts'
import { renderLocally } from './http/render-local.ts'
import { Backends } from './aggregation/backends.ts'
import { ForeignVersions } from './aggregation/foreign-versions.ts'
import { ConversionMetrics } from './crd/conversion-metrics.ts'
import { DefinitionController, definitionRules } from './crd/index.ts'
import { rulesFor } from './kinds/index.ts'
import { DEFAULT_ADDRESS, flagsOf } from './server-flags.ts'
import type { ApiServer, ApiServerOptions, ListenOptions } from './server-options.ts'
import { ElectingController } from './leader-election/electing-controller.ts'
import { decodeProtobuf } from '@gyropilot/protobuf'
import { resourceMetrics } from './resource-metrics/resource-metrics.ts'
import { featureEnabled, gateEnabled, gatedRules } from './registry/feature-gates.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { ResourceRegistry } from './registry/resource-registry.ts'
import { servedTable } from './registry/runtime-config.ts'
import { ServiceAllocation, ServiceRepair } from './service-ips/index.ts'
import { startCompaction } from './storage/compactor.ts'
import type { Store } from './storage/store.ts'
import { subresourceHandlers, type SubresourceParts } from './subresources/index.ts'

const STOP_GRACE_MS = 10_000
const DEFAULT_PORT = 6443

export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options)
}

class EmbeddedApiServer implements ApiServer {
  readonly store: Store
  readonly registry: ResourceRegistry
  readonly internals: Internals
  readonly #pipeline: Pipeline
  readonly #expiry: ExpirySweeper
  #compaction: Timer | undefined
  readonly #definitions: DefinitionController
  readonly #foreign: ForeignVersions
  readonly #elections: ElectingController | undefined
  readonly #repair: ServiceRepair
  readonly #listeners: Listener[] = []
  readonly #calls: OutgoingCalls
  readonly #resolveService: ServiceResolver
  readonly #options: ApiServerOptions
  #bootstrapped: Bootstrapped | undefined
  #ready = false
  #stopping = false
  #address = ''

  constructor(options: ApiServerOptions) {
    const { clock, random, store, logger, serviceRanges: ranges } = options
    this.#options = options
    this.#calls = createOutgoingCalls(clock)
    this.#resolveService = options.resolveService ?? serviceResolver(store, options.kubelets)
    this.store = store
    const isOn = (gate: string): boolean => this.#isOn(gate)
    this.registry = new ResourceRegistry(
      (group, kind) => gatedRules(rulesOf(group, kind), isOn),
      servedTable(options.runtimeConfig, isOn),
    )
    const authorizer = createAuthorizer({ store, modes: options.authorizationModes })
    const serviceAccountTokens = this.#serviceAccountTokens()
    const load = this.#load()
    const authentication = createAuthentication({
      ...options,
      serviceAccountTokens,
      onCertificate: (remainingMs) => load.access?.certificateShown(remainingMs),
    })
    const admission = this.#admission(authorizer)
    const services = new ServiceAllocation({ store, random, logger, ranges })
    const allocations = new Allocations([serviceEndpoints(store, clock), services], clock, logger)
    const writer = new ObjectWriter({
      store,
      clock,
      random,
      admission,
      allocations,
      fields: fieldManagement,
      featureEnabled: (gate) =>
        this.#options.featureGates?.[gate] ?? gateEnabled(gate, this.registry),
    })
    const { registry } = this
    const deleter = new Deleter(store, clock, admission, allocations)
    this.internals = new Internals({ store, registry, writer, deleter, self: SERVER_IDENTITY })
    this.#repair = this.#serviceRepair(services)
    this.#expiry = new ExpirySweeper(store, clock, logger.named('expiry'))
    const openApi = new OpenApiDocuments(registry, clock, options.logger.named('openapi'))
    this.#definitions = this.#definitionController(openApi)
    this.#foreign = this.#foreignVersions(openApi, load.metrics)
    this.#elections = this.#electingController()
    const bodies = new RequestBodies(registry, decodeProtobuf)
    const fields = fieldManagement
    this.#pipeline = new Pipeline({
      clock,
      random,
      logger: options.logger.named('api-server'),
      registry,
      authenticator: authentication,
      authorizer,
      resources: new ResourceHandler({
        store,
        clock,
        random: random.fork('watches'),
        registry,
        writer,
        fields,
        authorizer,
        bodies,
      }),
      deletions: new DeletionHandler({ store, clock, deleter, bodies }),
      endpoints: new SubresourceEndpoint({ store, clock, admission, fields, bodies }),
      nonResources: this.#nonResources(openApi, serviceAccountTokens),
      foreign: this.#foreign,
      subresources: this.#subresources({ clock, authentication, authorizer, serviceAccountTokens }),
      internals: this.internals,
      ...load,
    })
  }

  #admission(authorizer: RbacAuthorizer): AdmissionChain {
    const { store, clock, random, podSecurity, admissionSelection, admission, metrics } =
      this.#options
    const world = {
      store,
      authorizer,
      clock,
      random: random.fork('admission'),
      registry: this.registry,
      calls: this.#calls,
      resolveService: this.#resolveService,
      podSecurity,
      featureEnabled: (gate: string) => this.#isOn(gate),
      ...(metrics === undefined ? {} : { decisions: new DecisionMetrics(metrics, clock) }),
      server: () => this.internals,
    }
    return new AdmissionChain(
      [...admissionPlugins(world, admissionSelection), ...(admission ?? [])],
      metrics === undefined ? undefined : new AdmissionMetrics(metrics, clock),
    )
  }

  #serviceAccountTokens(): ServiceAccountTokens {
    const { clock, random, store, serviceAccountKey: key } = this.#options
    return new ServiceAccountTokens({
      clock,
      random,
      store,
      key,
      otherPublicKeys: this.#options.otherServiceAccountKeys,
      issuers: this.#options.serviceAccountIssuers,
      audiences: this.#options.apiAudiences,
      onFirstUseOfDay: (secret, date) => this.#recordUse(secret, date),
    })
  }

  /** How much is going on: counted, bounded, shown. */
  #load(): Pick<PipelineParts, 'flowControlUids' | 'inFlight' | 'metrics' | 'access'> {
    const { store, clock, metrics, inFlight: limits = IN_FLIGHT_LIMITS } = this.#options
    const inFlight = new InFlight(limits)
    const flows = new FlowSchemas(store)
    const base = {
      flowControlUids: (request: RequestAttributes) => flows.uidsOf(request),
      inFlight,
    }
    if (metrics === undefined) return base
    exposeServerState(metrics, store, inFlight)
    exposeApiServices(metrics, store)
    exposeBuild(metrics, VERSION)
    exposePriorityLevels(metrics, store, limits.reading + limits.mutating)
    return {
      ...base,
      metrics: new RequestMetrics(metrics, clock),
      access: new AccessMetrics(metrics, clock),
    }
  }

  #subresources(parts: Omit<SubresourceParts, 'kubelets'>): SubresourceHandler[] {
    const { kubelets, subresources = [] } = this.#options
    return [...subresourceHandlers({ ...parts, kubelets }), ...subresources]
  }

  #definitionController(openApi: OpenApiDocuments): DefinitionController {
    const { clock, logger, random, metrics } = this.#options
    return new DefinitionController({
      conversion: {
        calls: this.#calls,
        resolveService: this.#resolveService,
        random: random.fork('conversions'),
        ...(metrics === undefined ? {} : { metrics: new ConversionMetrics(metrics, clock) }),
      },
      publish: (path, document) => openApi.publish(path, document),
      deleteInstance: (...instance) => this.internals.deleteInstance(...instance),
      registry: this.registry,
      server: this.internals,
      clock,
      logger: logger.named('custom-resources'),
      user: SERVER_IDENTITY,
    })
  }

  #foreignVersions(openApi: OpenApiDocuments, metrics?: RequestMetrics): ForeignVersions {
    const { clock, logger, proxyClient } = this.#options
    const { registry, internals: server } = this
    const lost = this.#options.metrics && lostApiServices(this.#options.metrics)
    const backends = new Backends({
      clock,
      resolveService: this.#resolveService,
      ...(proxyClient === undefined ? {} : { proxyClient }),
    })
    return new ForeignVersions({
      registry,
      server,
      backends,
      clock,
      logger: logger.named('api-services'),
      describe: (apiService, documents) => openApi.describe(apiService, documents),
      onUnavailable: (request) => metrics?.unavailable(request),
      onLost: (name, reason) => lost?.increment({ name, reason }),
    })
  }

  #isOn(gate: string): boolean {
    return this.#options.featureGates?.[gate] ?? featureEnabled(gate)
  }

  #serviceRepair(allocation: ServiceAllocation): ServiceRepair {
    const { clock, random, logger, hostname } = this.#options
    return new ServiceRepair({
      server: this.internals,
      allocation,
      clock,
      random: random.fork('service-repair'),
      logger: logger.named('service-repair'),
      user: SERVER_IDENTITY,
      ...(hostname === undefined ? {} : { hostname }),
    })
  }

  /** Leaders are elected where candidates can announce themselves. */
  #electingController(): ElectingController | undefined {
    const { clock, logger } = this.#options
    const server = this.internals
    if (server.resource('coordination.k8s.io', 'leasecandidates') === undefined) return undefined
    return new ElectingController({
      server,
      clock,
      logger: logger.named('leader-election-controller'),
      user: SERVER_IDENTITY,
    })
  }

  #nonResources(openApi: OpenApiDocuments, tokens: ServiceAccountTokens): NonResources {
    return new NonResources({
      registry: this.registry,
      version: VERSION,
      checks: [
        ...standingChecks,
        ...startChecks(() => this.#ready),
        { name: 'shutdown', on: ['readyz'], healthy: () => !this.#stopping },
      ],
      metrics: this.#options.metrics,
      pages: new ComponentPages({
        clock: this.#options.clock,
        version: VERSION.gitVersion.slice(1),
        runtimeVersion: process.version,
        flags: flagsOf(this.#options),
      }),
      openApi,
      foreign: this.#foreign,
      openId: {
        configuration: () => tokens.openidConfiguration(`https://${this.#address}`),
        keySet: tokens.keySet(),
      },
      serverAddress: () => this.#address,
    })
  }

  /** In the background: the request that showed the token does not wait, and a write that failed is made good by the next use. */
  #recordUse(secret: Stored, date: string): void {
    const { namespace, name, uid } = secret['metadata']
    this.internals
      .update('', 'secrets', namespace, name, (draft) => {
        if (draft['metadata'].uid !== uid) return
        draft['metadata'].labels = { ...draft['metadata'].labels, [LAST_USED]: date }
      })
      .catch((error: unknown) =>
        this.#options.logger.error(error, 'Recording the use of a token failed', {
          secret: `${namespace}/${name}`,
        }),
      )
  }

  async start(): Promise<void> {
    const { clock, random, advertiseAddress = DEFAULT_ADDRESS, serviceRanges } = this.#options
    const { clientAuthorityPem, frontProxyAuthorityPem, hostname } = this.#options
    this.#expiry.start()
    this.#compaction = startCompaction(this.store, clock)
    const securePort = this.#listeners[0]?.port ?? DEFAULT_PORT
    const server = this.internals
    const options = {
      server,
      registry: this.registry,
      fields: fieldManagement,
      clock,
      random,
      logger: this.#options.logger.named('bootstrap'),
      advertiseAddress,
      securePort,
      serviceRanges,
      clientAuthorityPem,
      frontProxyAuthorityPem,
      hostname,
      isOn: (gate: string) => this.#isOn(gate),
    }
    this.#bootstrapped = await bootstrap(options)
    this.#repair.start()
    await this.#definitions.start()
    this.#foreign.start()
    this.#elections?.start()
    this.#ready = true
  }

  async handle(request: ServerRequest): Promise<ServerResponse> {
    return renderLocally(await this.#pipeline.answer(request), request.signal)
  }

  async listen({ host, port, certificatePem, keyPem }: ListenOptions): Promise<Listener> {
    const listener = await listen(host, port, {
      certificatePem,
      keyPem,
      requestClientCertificates: true,
      gate: gatheredRequests(this.#options.clock),
      answer: (request) => this.#pipeline.answer(request),
      upgrade: (request, socket, head) => void this.#upgrade(request, socket, head),
    })
    this.#listeners.push(listener)
    this.#address = `${host}:${listener.port}`
    return listener
  }

  serveResourceMetrics(): void {
    const { kubelets } = this.#options
    if (kubelets === undefined) return
    for (const resource of resourceMetrics(kubelets)) this.registry.add(resource)
  }

  definitionsSettled(): Promise<void> {
    return this.#definitions.idle()
  }

  /** Streams are rare: their code is loaded with the first. */
  async #upgrade(request: ServerRequest, socket: Duplex, head: Buffer): Promise<void> {
    const { upgrade } = await import('./streams/upgrade.ts')
    const answerOf = (asked: ServerRequest): Promise<Answer> => this.#pipeline.answer(asked)
    await upgrade(request, socket, head, answerOf, this.#options.clock)
  }

  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopping = true
    this.#expiry.stop()
    this.#compaction?.cancel()
    this.#bootstrapped?.stop()
    this.#definitions.stop()
    this.#foreign.stop()
    this.#elections?.stop()
    this.#repair.stop()
    this.#calls.stop()
    await Promise.all(this.#listeners.splice(0).map((listener) => listener.stop(graceMs)))
  }
}

function rulesOf(group: string, kind: string): ReturnType<typeof rulesFor> {
  const isDefinition = group === definitionRules.group && kind === definitionRules.kind
  return isDefinition ? definitionRules : rulesFor(group, kind)
}

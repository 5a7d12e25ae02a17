/** What a server is made of, and what can be done with it. */
import type { KeyObject } from 'node:crypto'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import type { AdmissionSelection, PodSecurityDefaults, ServiceResolver } from './admission/index.ts'
import type { AuthorizationMode } from './auth/index.ts'
import type { AdmissionPlugin, ServerInternals, SubresourceHandler, UserInfo } from './contracts.ts'
import type { InFlightLimits } from './handlers/limits/in-flight.ts'
import type { ServerRequest, ServerResponse } from './http/exchange.ts'
import type { Listener } from './http/listener/listener.ts'
import type { ResourceRegistry } from './registry/resource-registry.ts'
import type { RuntimeConfig } from './registry/runtime-config.ts'
import type { Store } from './storage/store.ts'
import type { Kubelets } from './subresources/index.ts'

export interface ApiServerOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly store: Store
  /** Shown under `/metrics` when given. */
  readonly metrics?: MetricsRegistry
  /** Signs and checks tokens of service accounts. */
  readonly serviceAccountKey: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  /** Judge tokens of service accounts too: of earlier or other signers. */
  readonly otherServiceAccountKeys?: readonly KeyObject[]
  /** Of tokens: the first signs, all are accepted. Default `https://kubernetes.default.svc`. */
  readonly serviceAccountIssuers?: readonly string[]
  /** What tokens must be meant for. Default: the issuers. */
  readonly apiAudiences?: readonly string[]
  /** Static bearer tokens. */
  readonly tokens?: ReadonlyMap<string, UserInfo>
  /** Whether requests that show nothing are `system:anonymous`, else 401. Default true. */
  readonly anonymousAuthentication?: boolean
  /** Who says what requests may do. Default Node and RBAC. */
  readonly authorizationModes?: readonly AuthorizationMode[]
  readonly clientAuthorityPem?: string
  readonly frontProxyAuthorityPem?: string
  /** Common names that front proxies may have. Default `front-proxy-client`; empty: any. */
  readonly frontProxyNames?: readonly string[]
  /** Shown to the API servers behind APIServices, signed by that authority. Absent: they believe nobody whom this one names. */
  readonly proxyClient?: CertificateAndKey
  /** Of services; the first family is the cluster's. Default `10.0.0.0/16`. */
  readonly serviceRanges?: readonly string[]
  /** Where clients outside the process reach this server. Default `127.0.0.1`. */
  readonly advertiseAddress?: string
  /** Of the machine: the server keeps a Lease in kube-system that is named after it, and reports events from there. Absent: no Lease, and `localhost`. */
  readonly hostname?: string
  /** Finds services that webhooks are configured with. Absent: as their objects say, ExternalName and endpoints. */
  readonly resolveService?: ServiceResolver
  /** Which plug-ins run, beyond or less than by default. */
  readonly admissionSelection?: AdmissionSelection
  /** Levels of pod security where a namespace has no labels for them. Default privileged, as upstream. */
  readonly podSecurity?: PodSecurityDefaults
  /** Added behind those. */
  readonly admission?: readonly AdmissionPlugin[]
  /** Logs, streams and usage of containers. Absent: they answer as nodes whose kubelet is down. */
  readonly kubelets?: Kubelets
  /** How many requests may be worked on at once; members of system:masters are never refused. Default 400 and 200. */
  readonly inFlight?: InFlightLimits
  /** Versions served beyond the default: `{ 'coordination.k8s.io/v1beta1': true }`, and with it the server elects leaders. */
  readonly runtimeConfig?: RuntimeConfig
  /** Gates of fields that are not at the default of 1.36. A field whose gate is off is dropped from what is written. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Replace the server's own. */
  readonly subresources?: readonly SubresourceHandler[]
}

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly certificatePem: string
  readonly keyPem: string
}

export interface ApiServer {
  readonly store: Store
  readonly registry: ResourceRegistry
  readonly internals: ServerInternals
  /** Creates what every cluster has and starts the server's own loops. Requests may be sent before; call it after `listen`. */
  start(): Promise<void>
  /** Within the process: values are the store's own frozen objects and must not be edited. */
  handle(request: ServerRequest): Promise<ServerResponse>
  listen(options: ListenOptions): Promise<Listener>
  /** Serves group metrics.k8s.io from now on, out of what the kubelets say. For when there are nodes. */
  serveResourceMetrics(): void
  /** Resolves when every CustomResourceDefinition in the store has been looked at: it is served then, or its conditions say why not. */
  definitionsSettled(): Promise<void>
  /** Ends listeners and loops. The store stays open: it belongs to the caller. */
  stop(graceMs?: number): Promise<void>
}

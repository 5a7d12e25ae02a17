/** Reading, and nothing else, from one cluster: what cannot be read is told as such and never ends the answer. */
import type {
  DiscoveredResource,
  EndpointSlice,
  KubernetesObject,
  Lease,
  MutatingWebhookConfiguration,
  Service,
  UnstructuredObject,
  ValidatingWebhookConfiguration,
} from '@gyropilot/api'
import { groupResourceOf } from '@gyropilot/api'
import {
  ResourceLookup,
  asType,
  isForbidden,
  isMethodNotSupported,
  isNotFound,
} from '@gyropilot/client'
import type { Client, Discovered } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { FailedList, Found, Listing, WebhookFact, Workload } from './facts.ts'

/** Lists at once: a cluster has a hundred kinds and more. */
const PARALLEL_LISTS = 12

/** All of a kind, as far as it could be read. */
interface Read<T> {
  readonly items: readonly T[]
  readonly failed: readonly FailedList[]
}

export class ClusterReader {
  readonly lookup: ResourceLookup
  readonly discovered: Discovered
  readonly #client: Client
  #webhooks: Promise<Read<WebhookFact>> | undefined
  #leases: Promise<Read<Lease>> | undefined
  #workloads: Promise<Read<Workload>> | undefined
  #failedGroups: Promise<ReadonlyMap<string, string>> | undefined

  constructor(client: Client, discovered: Discovered) {
    this.#client = client
    this.discovered = discovered
    this.lookup = new ResourceLookup(discovered)
  }

  /** Rejects as the server does. */
  get(type: DiscoveredResource, name: string, namespace?: string): Promise<UnstructuredObject> {
    const scope = type.namespaced ? namespace : undefined
    return this.#client.resource<UnstructuredObject>(asType(type) as never, scope).get(name)
  }

  /** Undefined when it is not there or cannot be read. */
  async find(
    group: string,
    resource: string,
    name: string,
    namespace?: string,
  ): Promise<UnstructuredObject | undefined> {
    const type = this.lookup.forResource(group, resource)
    return type === undefined ? undefined : this.get(type, name, namespace).catch(() => undefined)
  }

  /** All objects of a resource, in one namespace or in all. */
  async list(
    type: DiscoveredResource,
    options: {
      readonly namespace?: string | undefined
      readonly metadataOnly?: boolean
      readonly fieldSelector?: string
    },
  ): Promise<Listing> {
    const { namespace, ...rest } = options
    const scope = type.namespaced ? namespace : undefined
    const found: Found[] = []
    try {
      const client = this.#client.resource<UnstructuredObject>(asType(type) as never, scope)
      for await (const page of client.pages(rest))
        found.push(...page.items.map((object) => ({ type, object })))
    } catch (error) {
      return { found, failed: failureOf(type, error) }
    }
    return { found, failed: [] }
  }

  async listEach(
    types: readonly DiscoveredResource[],
    options: Parameters<ClusterReader['list']>[1],
  ): Promise<Listing> {
    const found: Found[] = []
    const failed: FailedList[] = []
    const queue = [...types]
    const work = async (): Promise<void> => {
      for (let type = queue.shift(); type !== undefined; type = queue.shift()) {
        const listing = await this.list(type, options)
        found.push(...listing.found)
        failed.push(...listing.failed)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_LISTS }, work))
    // Lists end in any order; answers are the same each time.
    const key = ({ type, object: { metadata } }: Found): string =>
      `${groupResourceOf(type)}/${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
    return {
      found: found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
      failed: failed.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
    }
  }

  /** Each resource once that can be listed and deleted. */
  deletable(): readonly DiscoveredResource[] {
    return this.lookup.preferred(['list', 'delete'])
  }

  leases(): Promise<Read<Lease>> {
    return (this.#leases ??= this.#all<Lease>('coordination.k8s.io', 'leases'))
  }

  workloads(): Promise<Read<Workload>> {
    return (this.#workloads ??= this.#readWorkloads())
  }

  webhooks(): Promise<Read<WebhookFact>> {
    return (this.#webhooks ??= this.#readWebhooks())
  }

  /** Group versions that discovery missed, each with what its APIService says. */
  failedGroups(): Promise<ReadonlyMap<string, string>> {
    return (this.#failedGroups ??= this.#readFailedGroups())
  }

  async #all<T extends KubernetesObject>(group: string, resource: string): Promise<Read<T>> {
    const type = this.lookup.forResource(group, resource)
    if (type === undefined) return { items: [], failed: [] }
    const { found, failed } = await this.list(type, {})
    return { items: found.map(({ object }) => object as KubernetesObject as T), failed }
  }

  async #readWorkloads(): Promise<Read<Workload>> {
    const kinds = ['deployments', 'statefulsets', 'daemonsets']
    const lists = await Promise.all(
      kinds.map(async (resource) => {
        const { items, failed } = await this.#all<WorkloadObject>('apps', resource)
        return { items: items.map((object) => workloadOf(resource, object)), failed }
      }),
    )
    return {
      items: lists.flatMap(({ items }) => items),
      failed: lists.flatMap(({ failed }) => failed),
    }
  }

  async #readWebhooks(): Promise<Read<WebhookFact>> {
    const group = 'admissionregistration.k8s.io'
    const [validating, mutating] = await Promise.all([
      this.#all<ValidatingWebhookConfiguration>(group, 'validatingwebhookconfigurations'),
      this.#all<MutatingWebhookConfiguration>(group, 'mutatingwebhookconfigurations'),
    ])
    const factsOf = (
      kind: WebhookFact['kind'],
      { metadata, webhooks = [] }: ValidatingWebhookConfiguration | MutatingWebhookConfiguration,
    ): Promise<WebhookFact>[] =>
      webhooks.map(async (webhook) => ({
        configuration: metadata?.name ?? '',
        kind,
        webhook,
        backend: await this.#backendOf(webhook.clientConfig.service),
      }))
    const items = await Promise.all([
      ...validating.items.flatMap((object) => factsOf('ValidatingWebhookConfiguration', object)),
      ...mutating.items.flatMap((object) => factsOf('MutatingWebhookConfiguration', object)),
    ])
    return { items, failed: [...validating.failed, ...mutating.failed] }
  }

  async #backendOf(
    reference: { readonly namespace: string; readonly name: string } | undefined,
  ): Promise<WebhookFact['backend']> {
    if (reference === undefined) return 'unknown'
    const { namespace, name } = reference
    const services = this.lookup.forResource('', 'services')
    const slices = this.lookup.forResource('discovery.k8s.io', 'endpointslices')
    if (services === undefined || slices === undefined) return 'unknown'
    let service: Service
    try {
      service = (await this.get(services, name, namespace)) as Service
    } catch (error) {
      return isNotFound(error) ? 'no service' : 'unknown'
    }
    if (service.spec?.type === 'ExternalName') return 'unknown'
    const { found, failed } = await this.list(slices, { namespace })
    if (failed.length > 0) return 'unknown'
    const isReady = found.some(
      ({ object }) =>
        object.metadata?.labels?.['kubernetes.io/service-name'] === name &&
        (object as unknown as EndpointSlice).endpoints?.some(
          ({ conditions }) => conditions?.ready !== false,
        ),
    )
    return isReady ? 'answers' : 'no ready endpoints'
  }

  async #readFailedGroups(): Promise<ReadonlyMap<string, string>> {
    const entries = [...this.discovered.failed].map(async ([groupVersion, reason]) => {
      const [group, version] = groupVersion.split('/')
      const name = `${version}.${group}`
      const service = await this.find('apiregistration.k8s.io', 'apiservices', name)
      const status = service?.['status'] as ApiServiceStatus | undefined
      const available = status?.conditions?.find(({ type }) => type === 'Available')
      const says =
        available === undefined || available.status === 'True'
          ? ''
          : `; apiservice/${name} is not available: ${available.message ?? ''}`
      return [groupVersion, `${reason}${says}`] as const
    })
    return new Map(await Promise.all(entries))
  }
}

interface ApiServiceStatus {
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly message?: string
  }[]
}

interface WorkloadObject extends KubernetesObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly readyReplicas?: number
    readonly numberReady?: number
    readonly desiredNumberScheduled?: number
  }
}

function workloadOf(resource: string, { metadata, spec, status }: WorkloadObject): Workload {
  return {
    kind: resource.replace(/s$/, ''),
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    replicas: status?.desiredNumberScheduled ?? spec?.replicas ?? 0,
    ready: status?.numberReady ?? status?.readyReplicas ?? 0,
  }
}

/** A kind that is not there or cannot be listed by nature has no objects to hold anything. */
function failureOf(type: DiscoveredResource, error: unknown): readonly FailedList[] {
  if (isNotFound(error) || isMethodNotSupported(error)) return []
  return [
    { resource: groupResourceOf(type), reason: errorText(error), forbidden: isForbidden(error) },
  ]
}

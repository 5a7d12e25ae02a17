/** A collector against the embedded API server, on virtual time: for tests that assert the state of the world. */
import { createTestServer } from '@gyropilot/api-server/testing'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { pathOf, resources } from '@gyropilot/api'
import { ApiClient, RestMapper, isNotFound, memoryTransport } from '@gyropilot/client'
import type { DeleteOptions, TransportRequest } from '@gyropilot/client'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { Clock, VirtualClock } from '@gyropilot/foundation'
import { SharedInformerFactory } from '@gyropilot/runtime'
import type { ControllerContext, EventRecord } from '@gyropilot/runtime'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { GarbageCollector } from '../garbage-collector.ts'

const AUTHORIZATION = 'Bearer test-token'

export interface LiveWorld {
  readonly clock: VirtualClock
  readonly client: ApiClient
  readonly events: readonly EventRecord[]
  readonly metrics: RecordingMetrics
  /** The collector's writes, as `delete pods` or `patch pods -> 409`, and its reads, as `get pods`. */
  readonly requests: string[]
  writes(): readonly string[]
  collector(): GarbageCollector
  start(): void
  stop(): Promise<void>
  create<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T>
  delete(
    type: ResourceType,
    object: KubernetesObject,
    propagationPolicy?: DeleteOptions['propagationPolicy'],
  ): Promise<void>
  /** As it is now; undefined: gone. */
  find<T extends KubernetesObject>(type: ResourceType<T>, object: T): Promise<T | undefined>
}

export interface LiveWorldOptions {
  /** What the collector is given in the place of the world's clock. */
  readonly clockOf?: (clock: Clock) => Clock
  /** Told of each request of the collector and its informers before the server is; an error that it throws is the answer. */
  readonly before?: (request: TransportRequest, world: LiveWorld) => Promise<void> | void
}

export async function liveWorld(options: LiveWorldOptions = {}): Promise<LiveWorld> {
  const { server, clock } = await createTestServer()
  const requests: string[] = []
  const events: EventRecord[] = []
  const metrics = new RecordingMetrics()
  const clientOf = (onAnswer?: (request: TransportRequest, status: number) => void): ApiClient =>
    new ApiClient({
      clock,
      qps: -1,
      onWarning: () => {},
      transport: memoryTransport(async (request) => {
        if (onAnswer !== undefined) await options.before?.(request, world)
        const headers = { ...request.headers, authorization: AUTHORIZATION }
        const response = await server.handle({ ...request, headers })
        onAnswer?.(request, response.status)
        return response
      }),
    })
  const client = clientOf()
  // Pods are not admitted without it, and no controller is here to make it.
  const account = { metadata: { name: 'default', namespace: 'default' } }
  await client.resource(resources.serviceaccounts, 'default').create(account)
  const counted = clientOf((request, status) => requests.push(requestLine(request, status)))
  const watching = clientOf(() => {})
  let running: { collector: GarbageCollector; stop(): Promise<void> } | undefined
  const world: LiveWorld = {
    clock,
    client,
    events,
    metrics,
    requests,
    writes: () => requests.filter((line) => !line.startsWith('get ')).toSorted(),
    collector: () => running!.collector,
    start() {
      const abort = new AbortController()
      const context: ControllerContext = {
        name: 'garbage-collector-controller',
        client: counted,
        informers: informersOf(watching, clock),
        metadataInformers: informersOf(watching, clock),
        mapper: new RestMapper({ client: counted, clock }),
        recorder: () => ({ record: (event) => void events.push(event) }),
        clock: options.clockOf?.(clock) ?? clock,
        random: new SeededRandom('collector'),
        logger: silentLogger,
        metrics,
        configuration: undefined,
        informersStarted: Promise.resolve(),
      }
      const collector = new GarbageCollector(context, 20)
      const ended = collector.run(abort.signal)
      running = {
        collector,
        async stop() {
          abort.abort()
          await ended
          await context.metadataInformers.shutdown()
        },
      }
    },
    async stop() {
      await running?.stop()
      running = undefined
      await server.stop()
    },
    create: (type, object) => client.resource(type, object.metadata?.namespace).create(object),
    async delete(type, { metadata }, propagationPolicy) {
      const resource = client.resource(type, metadata?.namespace)
      await resource.delete(metadata?.name ?? '', propagationPolicy && { propagationPolicy })
    },
    async find(type, { metadata }) {
      try {
        return await client.resource(type, metadata?.namespace).get(metadata?.name ?? '')
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
  }
  return world
}

function informersOf(client: ApiClient, clock: VirtualClock): SharedInformerFactory {
  const random = new SeededRandom('informers')
  return new SharedInformerFactory({
    client,
    clock,
    random,
    logger: silentLogger,
    metadataOnly: true,
  })
}

function requestLine({ method, path }: TransportRequest, status: number): string {
  const parts = (path.split('?')[0] ?? '').split('/').slice(path.startsWith('/apis') ? 4 : 3)
  const resource = parts[0] === 'namespaces' && parts.length > 2 ? parts[2] : parts[0]
  const line = `${method.toLowerCase()} ${resource ?? 'discovery'}`
  return status >= 400 ? `${line} -> ${status}` : line
}

/** Whether the request lists or watches all objects of this type. */
export function isCollectionOf(type: ResourceType, { path }: TransportRequest): boolean {
  return path.split('?')[0] === pathOf(type)
}

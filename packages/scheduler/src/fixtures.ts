/** A scheduler for tests whose caches hold what a test sets, and whose server answers what a test says. */
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import type { Client } from '@gyropilot/client'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { EventHandler, InformerFactory } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { Scheduler } from './scheduler.ts'

interface Type {
  readonly resource: string
}

interface Binding {
  readonly metadata: { readonly uid?: string }
  readonly target: { readonly name: string }
}

interface RecordedEvent {
  readonly regarding: KubernetesObject
  readonly reason: string
  readonly note: string
}

type Index = (object: KubernetesObject) => readonly string[]

/** What the server does with a write; unset: it takes it. */
interface Answers {
  bind?: (podName: string) => Promise<void>
  evict?: (podName: string) => Promise<void>
  patch?: (podName: string) => Promise<void>
  update?: (resource: string) => void
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`

export class SchedulerWorld {
  readonly clock = testClock()
  /** Names of pods and nodes, in the order in which the server was asked. */
  readonly bound: [podName: string, nodeName: string][] = []
  /** Whom the bindings meant, in the same order. */
  readonly boundUids: (string | undefined)[] = []
  readonly evicted: string[] = []
  readonly updated: string[] = []
  readonly patched: [podName: string, status: Pod['status']][] = []
  readonly events: [podName: string, reason: string, note: string][] = []
  readonly answers: Answers = {}
  readonly #caches = new Map<string, Map<string, KubernetesObject>>()
  readonly #handlers = new Map<string, EventHandler<KubernetesObject>[]>()
  readonly #indexes = new Map<string, Index>()
  readonly #stopped = new AbortController()
  readonly #scheduler: Scheduler

  constructor(featureGates: Readonly<Record<string, boolean>> = {}) {
    this.#scheduler = new Scheduler({
      client: {
        resource: (type: Type, namespace?: string) => this.#resource(type, namespace),
      } as unknown as Client,
      informers: {
        informer: (type: Type) => this.#informer(type),
      } as unknown as InformerFactory,
      clock: this.clock,
      random: new SeededRandom('scheduler'),
      logger: silentLogger,
      recorder: {
        record: ({ regarding, reason, note }: RecordedEvent) =>
          this.events.push([regarding.metadata?.name ?? '', reason, note]),
      } as never,
      featureGates,
    })
  }

  /** Put into the cache, and told of. */
  set({ resource }: Type, object: KubernetesObject): void {
    const { namespace, name = '' } = object.metadata ?? {}
    const key = keyOf(namespace, name)
    const cache = this.#cache(resource)
    const before = cache.get(key)
    cache.set(key, object)
    for (const handler of this.#handlers.get(resource) ?? [])
      if (before === undefined) void handler.onAdd?.(object, false)
      else void handler.onUpdate?.(before, object)
  }

  /** Taken out of the cache, and told of. */
  unset({ resource }: Type, object: KubernetesObject): void {
    const { namespace, name = '' } = object.metadata ?? {}
    this.#cache(resource).delete(keyOf(namespace, name))
    for (const handler of this.#handlers.get(resource) ?? []) void handler.onDelete?.(object)
  }

  start(): void {
    this.#scheduler.start(this.#stopped.signal)
  }

  stop(): void {
    this.#stopped.abort()
  }

  #cache(resource: string): Map<string, KubernetesObject> {
    let cache = this.#caches.get(resource)
    if (cache === undefined) this.#caches.set(resource, (cache = new Map()))
    return cache
  }

  #informer({ resource }: Type): object {
    const cache = this.#cache(resource)
    return {
      lister: {
        list: () => [...cache.values()],
        get: (namespace: string | undefined, name: string) => cache.get(keyOf(namespace, name)),
        getByKey: (key: string) => cache.get(key),
        byIndex: (index: string, value: string) =>
          [...cache.values()].filter((object) =>
            this.#indexes.get(`${resource} ${index}`)!(object).includes(value),
          ),
      },
      addHandler: (handler: EventHandler<KubernetesObject>) =>
        this.#handlers.set(resource, [...(this.#handlers.get(resource) ?? []), handler]),
      addIndex: (name: string, values: Index) => this.#indexes.set(`${resource} ${name}`, values),
    }
  }

  #resource({ resource }: Type, namespace: string | undefined): object {
    return {
      createSubresource: async (name: string, _: string, { metadata, target }: Binding) => {
        this.bound.push([name, target.name])
        this.boundUids.push(metadata.uid)
        await this.answers.bind?.(name)
      },
      patch: async (name: string, { value }: { value: Pod }) => {
        this.patched.push([name, value.status])
        await this.answers.patch?.(name)
        const before: Pod | undefined = this.#cache(resource).get(keyOf(namespace, name))
        return { ...before, status: { ...before?.status, ...value.status } }
      },
      update: async (object: KubernetesObject) => {
        this.answers.update?.(resource)
        this.updated.push(object.metadata?.name ?? '')
        return object
      },
      delete: async (name: string) => {
        this.evicted.push(name)
        await this.answers.evict?.(name)
      },
    }
  }
}

/** Of one container that asks for so much. */
export function asking(name: string, cpu: string, spec: Partial<Pod['spec']> = {}): Pod {
  const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu } } }]
  return pod({ name, spec: { containers, ...spec } })
}

export const nodeOf = (name: string, cpu: string) =>
  node({ name, allocatable: { cpu, pods: '10' } })

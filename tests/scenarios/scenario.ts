/**
 * Acceptance sentences played on a whole cluster in virtual time: no sockets, no real time, one seed. A scenario asserts the
 * state of the world, never the calls that were made.
 */
import { test } from 'node:test'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { createClusterCertificates, createMemoryStore } from '@gyropilot/api-server'
import type { Client, ResourceClient } from '@gyropilot/client'
import { isNotFound } from '@gyropilot/client'
import { Cluster } from '@gyropilot/cluster'
import { PrometheusRegistry, SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { VirtualClock } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'

export interface World {
  readonly client: Client
  readonly clock: VirtualClock
  /** The verbs of a type, in namespace `default` unless told otherwise. */
  of<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): ResourceClient<T>
  /** Undefined when it is not there. */
  find<T extends KubernetesObject>(
    type: ResourceType<T>,
    name: string,
    namespace?: string,
  ): Promise<T | undefined>
  list<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): Promise<readonly T[]>
  /** Advances the clock step by step until `check` answers something; fails after so many virtual milliseconds. */
  until<T>(what: string, withinMs: number, check: () => Promise<T | undefined>): Promise<T>
  advance(ms: number): Promise<void>
}

export interface ScenarioOptions {
  readonly nodes?: number
  readonly controllers?: readonly string[]
  readonly seed?: string
}

const STEP_MS = 50

export function scenario(
  title: string,
  play: (world: World) => Promise<void>,
  options: ScenarioOptions = {},
): void {
  test(title, async () => {
    const clock = virtualClock()
    const random = new SeededRandom(options.seed ?? title)
    const cluster = new Cluster({
      clock,
      random,
      logger: silentLogger,
      metrics: new PrometheusRegistry(),
      store: createMemoryStore(clock),
      certificates: createClusterCertificates({ clock, random }),
    })
    const drive = async <T>(work: Promise<T>): Promise<T> => {
      let done = false
      void work.finally(() => (done = true)).catch(() => {})
      await clock.advanceUntil(() => done, 60_000)
      return work
    }
    await drive(cluster.start())
    await drive(cluster.startControllerManager(options.controllers).ready)
    await drive(cluster.startScheduler().ready)
    const nodes = Array.from({ length: options.nodes ?? 2 }, (_, index) => ({
      name: `node-${index + 1}`,
      hostIp: `192.168.0.${index + 1}`,
      podCidr: `10.244.${index}.0/24`,
    }))
    await drive(cluster.startNodes(nodes).ready)
    try {
      await play(worldOf(cluster.client(), clock, drive))
    } catch (error) {
      throw new Error(
        `seed ${JSON.stringify(options.seed ?? title)}: ${(error as Error).message}`,
        { cause: error },
      )
    } finally {
      await drive(cluster.stop(0))
    }
  })
}

function worldOf(
  client: Client,
  clock: VirtualClock,
  drive: <T>(work: Promise<T>) => Promise<T>,
): World {
  const scoped = <T extends KubernetesObject>(type: ResourceType<T>, namespace = 'default') =>
    driven(client.resource(type, type.namespaced ? namespace : undefined), drive)
  const find: World['find'] = async (type, name, namespace) => {
    try {
      return await scoped(type, namespace).get(name)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
  return {
    client,
    clock,
    of: scoped,
    find,
    async list(type, namespace) {
      return (await scoped(type, namespace).list()).items
    },
    async until(what, withinMs, check) {
      const endMs = clock.monotonicMs() + withinMs
      for (;;) {
        const found = await check()
        if (found !== undefined) return found
        if (clock.monotonicMs() >= endMs)
          throw new Error(`not within ${withinMs} virtual ms: ${what}`)
        await clock.advance(STEP_MS)
      }
    },
    advance: (ms) => clock.advance(ms),
  }
}

/** Each call moves virtual time until it is answered: admission and retries wait on the clock. */
function driven<T extends object>(target: T, drive: <R>(work: Promise<R>) => Promise<R>): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const result: unknown = member.apply(object, args)
        return result instanceof Promise ? drive(result) : result
      }
    },
  })
}

/**
 * Acceptance sentences played on a whole cluster in virtual time: no sockets, no real time, one seed. A scenario asserts the
 * state of the world, never the calls that were made.
 */
import { test } from 'node:test'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Client, ResourceClient } from '@gyropilot/client'
import type { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { createCluster } from '@gyropilot/cluster'
import type { SimulatedCluster, SimulationOptions } from '@gyropilot/cluster'
import type { VirtualClock } from '@gyropilot/foundation'
import { gateValues } from '@gyropilot/manager/feature-gates'

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
  /** The controller manager ends as by `kill -9`, and is started again a second later: it remembers nothing. */
  restartManager(): void
  /** A process ends as by `kill -9`, and is started again a second later: `storage`, `scheduler`, `node-1`. */
  crash(process: string): void
  /** With the option of this name only. */
  cloud(): InMemoryCloud
  /** Nothing of the node's process reaches the API server, or comes back, for so long. */
  partition(node: string, forMs: number): void
}

export interface ScenarioOptions {
  readonly nodes?: number
  readonly controllers?: readonly string[]
  readonly seed?: string
  /** There is a cloud. */
  readonly cloud?: boolean
  /** Turned on beyond those that are on by default. */
  readonly featureGates?: readonly string[]
  /** Settings of controllers that differ from the defaults. */
  readonly configuration?: SimulationOptions['configuration']
  /** The storage driver and its default class. Default true. */
  readonly storage?: boolean
}

const STEP_MS = 50

export function scenario(
  title: string,
  play: (world: World) => Promise<void>,
  options: ScenarioOptions = {},
): void {
  test(title, async () => {
    const {
      nodes = 2,
      seed = title,
      controllers,
      featureGates,
      configuration,
      storage = true,
      cloud,
    } = options
    const gates = featureGates && gateValues(new Map(featureGates.map((gate) => [gate, true])))
    const cluster = await createCluster({
      seed,
      nodes,
      storage,
      cloud,
      ...(controllers && { controllers }),
      configuration: { ...configuration, ...(gates && { featureGates: gates }) },
    })
    try {
      await play(worldOf(cluster))
    } catch (error) {
      throw new Error(`seed ${JSON.stringify(seed)}: ${(error as Error).message}`, {
        cause: error,
      })
    }
  })
}

function worldOf(cluster: SimulatedCluster): World {
  const { client, clock } = cluster
  const scoped = <T extends KubernetesObject>(type: ResourceType<T>, namespace = 'default') =>
    client.resource(type, type.namespaced ? namespace : undefined)
  return {
    client,
    clock,
    of: scoped,
    find: async (type, name, namespace = 'default') => cluster.objects.find(type, namespace, name),
    list: async (type, namespace = 'default') =>
      cluster.objects.all(type, type.namespaced ? namespace : undefined),
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
    restartManager: () => cluster.process('controller-manager-1').crash(),
    crash: (process) => cluster.process(process).crash(),
    cloud() {
      if (cluster.cloud === undefined) throw new Error('this scenario has no cloud')
      return cluster.cloud
    },
    partition: (node, forMs) => cluster.network.partition(node, undefined, forMs),
  }
}

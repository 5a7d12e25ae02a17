import { createApiServer } from '@gyropilot/api-server'
import type { ApiServer, Store } from '@gyropilot/api-server'
import type { RandomSource, VirtualClock } from '@gyropilot/foundation'
import type { Identities } from '../identities.ts'
import type { History } from './history.ts'
import { serverOptions } from './prebuilt-store.ts'
import { Incarnation } from './process.ts'
import type { ProgramWorld } from './programs.ts'
import type { SimulationOptions } from './simulation-options.ts'

interface SimulatedServerParts {
  readonly clock: VirtualClock
  readonly random: RandomSource
  readonly store: Store
  readonly identities: Identities
  readonly history: History
  readonly kubelets: ProgramWorld['kubelets']
  readonly options: SimulationOptions
}

/** The API server of a simulated cluster, one life after the other on the same store. */
export class SimulatedServer {
  readonly #parts: SimulatedServerParts
  #current: ApiServer | undefined
  #lives = 0
  #life: Incarnation | undefined

  constructor(parts: SimulatedServerParts) {
    this.#parts = parts
  }

  /** Undefined: it is down. */
  get current(): ApiServer | undefined {
    return this.#current
  }

  async start(): Promise<void> {
    const { clock: clusterClock, random: clusterRandom, store, identities, options } = this.#parts
    // A killed server ends in the middle of what it does: requests that wait for something are not done afterwards.
    const life = new Incarnation('api-server', this.#lives++, clusterClock, clusterRandom)
    this.#life = life
    const { clock, random } = life
    const server = createApiServer({
      ...serverOptions({ clock, random, store }),
      tokens: identities.tokens,
      runtimeConfig: options.runtimeConfig,
      featureGates: options.featureGates,
      kubelets: { kubeletOf: (nodeName) => this.#parts.kubelets.get(nodeName)?.() },
    })
    await server.start()
    if (options.nodes !== 0) server.serveResourceMetrics()
    this.#current = server
    this.#parts.history.line('server is up')
  }

  /** Resolves when kinds that were installed are served. */
  async takeInDefinitions(): Promise<void> {
    await this.#current?.definitionsSettled()
  }

  /** In the middle of what it does. Whoever still holds a connection to it breaks it with `disconnect`. */
  async kill(disconnect: () => void): Promise<void> {
    const old = this.#current
    this.#current = undefined
    this.#life?.kill()
    disconnect()
    await old?.stop(0)
  }

  async stop(): Promise<void> {
    await this.#current?.stop(0)
    this.#current = undefined
  }
}

/** One balancer: listeners on an address, and what becomes of connections that come in. */
import type { Node } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { backEndsOf } from './back-ends.ts'
import { keyOfPort, mayComeIn } from './balancer-wish.ts'
import type { BalancerWish, WishedPort } from './balancer-wish.ts'
import { Choice } from './choice.ts'
import { healthOf } from './health-check.ts'
import type { ServedService } from './health-check.ts'
import type { BackEnd, Connection, Datagram, Listening, Network, PodNetwork } from './network.ts'

export interface BalancerSurroundings {
  readonly clock: Clock
  readonly logger: Logger
  readonly network: Network
  readonly pods: PodNetwork
  /** Where a node's own ports are. */
  addressOfNode(nodeName: string): string
}

const NOTHING: BalancerWish = {
  ports: [],
  sourceRanges: [],
  affinityMs: undefined,
  isLocal: false,
  healthCheckPort: undefined,
}

export class Balancer {
  readonly address: string
  readonly service: ServedService
  readonly #surroundings: BalancerSurroundings
  readonly #listening = new Map<string, Listening>()
  #wish = NOTHING
  #nodes: ReadonlySet<string> = new Set()
  /** One change after the other. */
  #change: Promise<unknown> = Promise.resolve()

  constructor(address: string, service: ServedService, surroundings: BalancerSurroundings) {
    this.address = address
    this.service = service
    this.#surroundings = surroundings
  }

  get wish(): BalancerWish {
    return this.#wish
  }

  /** Sorted. */
  get nodes(): readonly string[] {
    return [...this.#nodes].sort()
  }

  /** Rejects with the system's error when a port cannot be listened on: what was served before is served on. */
  become(wish: BalancerWish, nodes: readonly Node[]): Promise<void> {
    return this.#inTurn(() => this.#become(wish, nodes))
  }

  /** The nodes alone have changed: the wish is the one that is served when it is this change's turn. */
  withNodes(nodes: readonly Node[]): Promise<void> {
    return this.#inTurn(() => this.#become(this.#wish, nodes))
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#wish = NOTHING
      this.#nodes = new Set()
      await this.#closeOthers(new Map())
    })
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#change.then(change)
    this.#change = done.catch(() => {})
    return done
  }

  async #become(wish: BalancerWish, nodes: readonly Node[]): Promise<void> {
    const names = new Set(nodes.map(({ metadata }) => metadata?.name ?? ''))
    const wanted = this.#wanted(wish, names)
    await this.#openMissing(wanted)
    this.#wish = wish
    this.#nodes = names
    await this.#closeOthers(wanted)
  }

  /** What is to be listened on, by a key that says what and where. */
  #wanted(
    { ports, healthCheckPort }: BalancerWish,
    nodes: ReadonlySet<string>,
  ): Map<string, () => Promise<Listening>> {
    const wanted = new Map<string, () => Promise<Listening>>()
    for (const port of ports) wanted.set(keyOfPort(port), () => this.#listen(port))
    if (healthCheckPort === undefined) return wanted
    for (const node of nodes)
      wanted.set(`health/${node}/${healthCheckPort}`, () =>
        this.#surroundings.network.listenHttp(
          this.#surroundings.addressOfNode(node),
          healthCheckPort,
          () => healthOf(this.service, node),
        ),
      )
    return wanted
  }

  async #openMissing(wanted: ReadonlyMap<string, () => Promise<Listening>>): Promise<void> {
    const opened: string[] = []
    try {
      for (const [key, open] of wanted) {
        if (this.#listening.has(key)) continue
        this.#listening.set(key, await open())
        opened.push(key)
      }
    } catch (error) {
      await Promise.all(opened.map((key) => this.#closeOne(key)))
      throw error
    }
  }

  async #closeOthers(wanted: ReadonlyMap<string, unknown>): Promise<void> {
    const others = [...this.#listening.keys()].filter((key) => !wanted.has(key))
    await Promise.all(others.map((key) => this.#closeOne(key)))
  }

  async #closeOne(key: string): Promise<void> {
    const listening = this.#listening.get(key)
    this.#listening.delete(key)
    await listening?.close()
  }

  /** What a port is called may change while it is listened on. */
  #listen(port: WishedPort): Promise<Listening> {
    const { network, clock } = this.#surroundings
    const choice = new Choice(clock)
    const key = keyOfPort(port)
    return port.protocol === 'TCP'
      ? network.listenTcp(
          this.address,
          port.port,
          (connection) => void this.#connect(key, choice, connection),
        )
      : network.listenUdp(
          this.address,
          port.port,
          (datagram) => void this.#exchange(key, choice, datagram),
        )
  }

  /** Undefined: whoever it is may not come in, or nobody is there to answer. */
  #backEndFor(key: string, choice: Choice, client: string): BackEnd | undefined {
    const { ports, sourceRanges, isLocal, affinityMs } = this.#wish
    const port = ports.find((one) => keyOfPort(one) === key)
    if (port === undefined || !mayComeIn(client, sourceRanges)) return undefined
    const backEnds = backEndsOf({
      slices: this.service.slices(),
      portName: port.name,
      isLocal,
      nodes: this.#nodes,
    })
    return choice.choose(backEnds, client, affinityMs)
  }

  async #connect(key: string, choice: Choice, connection: Connection): Promise<void> {
    const { pods } = this.#surroundings
    const backEnd = this.#backEndFor(key, choice, connection.from)
    if (backEnd === undefined) return connection.reset()
    try {
      const problem = await pods.connect(backEnd, connection)
      if (problem === undefined) return connection.end()
      this.#complain(key, problem)
    } catch (error) {
      if (!connection.signal.aborted) this.#complain(key, errorText(error))
    }
    connection.reset()
  }

  async #exchange(key: string, choice: Choice, datagram: Datagram): Promise<void> {
    const backEnd = this.#backEndFor(key, choice, datagram.from)
    if (backEnd === undefined) return
    try {
      const answer = await this.#surroundings.pods.exchange(backEnd, datagram.bytes)
      if (answer !== undefined) datagram.reply(answer)
    } catch (error) {
      this.#complain(key, errorText(error))
    }
  }

  #complain(port: string, problem: string): void {
    const { namespace, name } = this.service
    this.#surroundings.logger.verbosity(2).info('A back end did not answer', {
      service: `${namespace}/${name}`,
      port,
      problem,
    })
  }
}

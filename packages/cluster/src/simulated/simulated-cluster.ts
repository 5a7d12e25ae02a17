import type { KubernetesObject, Pod, ResourceType } from '@gyropilot/api'
import type { Store, StoreEvent } from '@gyropilot/api-server'
import { memoryTransport } from '@gyropilot/client'
import type { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { Client, DeleteOptions, Patch, PatchOptions, Transport } from '@gyropilot/client'
import {
  SeededRandom,
  VirtualClock,
  promiseSettler,
  silentLogger,
  silentMetrics,
  sleep,
} from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { SharedLoads, VolumeData } from '@gyropilot/nodes'
import { gateValues } from '@gyropilot/manager/feature-gates'
import type { ReconcileTrace } from '@gyropilot/runtime'
import { noFaults } from '../faults/injector.ts'
import type { FaultInjector } from '../faults/injector.ts'
import { RecentRevisions } from '../faults/stale-read.ts'
import { ADMINISTRATOR, Identities } from '../identities.ts'
import { partClient } from '../part-client.ts'
import type { ClusterObserver } from './cluster-observer.ts'
import { cloudOfNodes } from './cloud.ts'
import { connectionOf } from './connections.ts'
import { firstPrograms } from './first-programs.ts'
import { History } from './history.ts'
import { Network } from './network.ts'
import type { Latency } from './network.ts'
import { Objects, resourceOf } from './objects.ts'
import { prebuiltStore } from './prebuilt-store.ts'
import { SimulatedProcess } from './process.ts'
import type { Incarnation, Program } from './process.ts'
import type { ProgramWorld } from './programs.ts'
import type { RequestFacts } from './request-facts.ts'
import { SimulatedServer } from './simulated-server.ts'
import type { SimulationOptions } from './simulation-options.ts'

const DEFAULT_LATENCY: Latency = { minimumMs: 0.2, maximumMs: 2 }
const RESTART_DELAY_MS = 1_000
const START_LIMIT_MS = 60_000
const USER_RETRY_MS = 100
const USER_PATIENCE_MS = 600_000

/** Starts a cluster; resolves when its managers lead and its nodes are registered. */
export async function createCluster(options: SimulationOptions): Promise<SimulatedCluster> {
  const clock = new VirtualClock({ settle: promiseSettler() })
  const cluster = new SimulatedCluster(options, clock, await prebuiltStore(clock))
  await cluster.start()
  return cluster
}

/**
 * A whole cluster on virtual time: several managers, nodes, a network and disks that fail as they are told, each at a chosen place.
 * Nothing waits for the real world: an hour takes seconds. The same seed gives the same history, to the byte.
 */
export class SimulatedCluster {
  readonly seed: string
  readonly clock: VirtualClock
  readonly random: RandomSource
  readonly store: Store
  /** The administrator, past the network: no delay and no faults. */
  readonly client: Client
  readonly objects: Objects
  readonly network: Network
  readonly history: History
  /** Undefined without the option of this name. */
  readonly cloud: InMemoryCloud | undefined
  readonly #options: SimulationOptions
  readonly #identities: Identities
  readonly #processes = new Map<string, SimulatedProcess>()
  readonly #observers: ClusterObserver[] = []
  readonly #revisions = new RecentRevisions()
  readonly #logger: Logger
  #injector: FaultInjector
  readonly #server: SimulatedServer
  #readyNodes = 0
  /** Some manager has started to work: its controllers watch. */
  #isLed = false
  #jumpedMs = 0
  #faults = 0
  #hasStorage = false
  /** Of the processes of the nodes. */
  readonly #kubelets: ProgramWorld['kubelets'] = new Map()
  readonly #loads = new SharedLoads()
  readonly #volumeData = new VolumeData()

  constructor(options: SimulationOptions, clock: VirtualClock, store: Store) {
    this.seed = String(options.seed)
    this.#options = options
    this.clock = clock
    this.store = store
    this.random = new SeededRandom(this.seed)
    this.objects = new Objects(store)
    this.cloud = options.cloud === true ? cloudOfNodes(clock) : undefined
    this.history = new History(clock, options.keepHistory)
    this.#injector = options.injector ?? noFaults
    this.#logger = options.logger ?? silentLogger
    this.#identities = new Identities(this.random.fork('identities'))
    this.#server = new SimulatedServer({
      clock,
      random: this.random,
      store,
      identities: this.#identities,
      history: this.history,
      kubelets: this.#kubelets,
      options,
    })
    store.onCommit((event) => {
      this.#revisions.committed(event)
      this.history.committed(event)
      this.#loaded(event)
      for (const observer of this.#observers) observer.committed?.(event)
    })
    this.network = new Network({
      clock,
      identities: this.#identities,
      server: () => this.#server.current,
      injector: () => this.#injector,
      revisions: this.#revisions,
      latency: options.latency ?? DEFAULT_LATENCY,
      observer: {
        sent: (facts, life) => this.#tell('sent', facts, life),
        answered: (facts, status) => this.#answered(facts, status),
        answeredStale: (facts) => this.#tell('answeredStale', facts),
        answerLost: (facts, body) => this.#tell('answerLost', facts, body),
        delivered: (facts, event) => this.#tell('delivered', facts, event),
        fault: (text) => this.noteFault(text),
      },
    })
    this.client = this.#directClient()
  }

  /** Called by `createCluster`. */
  async start(): Promise<void> {
    await this.#server.start()
    for (const object of this.#options.installed ?? []) await this.create(object)
    await this.#server.takeInDefinitions()
    const { managers = 1, nodes = 3, storage = true } = this.#options
    const cloud = this.#options.cloudProvider?.(this.clock) ?? this.cloud
    const programs = firstPrograms(this.#programWorld(), this.#options, {
      cloud,
      onNodesReady: (count) => (this.#readyNodes += count),
      onStorageReady: () => (this.#hasStorage = true),
    })
    for (const [name, program] of programs) this.run(name, program)
    const hasStorage = nodes > 0 && storage
    const isUp = () =>
      this.#readyNodes >= nodes &&
      this.#hasStorage === hasStorage &&
      (managers === 0 || this.#isLed)
    if (!(await this.clock.advanceUntil(isUp, START_LIMIT_MS)))
      throw new Error(`seed ${this.seed}: the cluster did not start within a minute`)
  }

  /** Runs a program as a process of this cluster: under its faults, and again after it ended. */
  run(name: string, program: Program): SimulatedProcess {
    const process = new SimulatedProcess({
      name,
      clock: this.clock,
      random: this.random.fork(`process/${name}`),
      restartDelayMs: this.#options.restartDelayMs ?? RESTART_DELAY_MS,
      program,
      onEnded: (life, error) => {
        this.history.line(`ended ${life.id} ${error === undefined ? '' : String(error)}`)
        this.#tell('processEnded', life, error)
      },
    })
    this.#processes.set(name, process)
    process.start()
    return process
  }

  process(name: string): SimulatedProcess {
    const process = this.#processes.get(name)
    if (process === undefined)
      throw new Error(
        `no process ${JSON.stringify(name)}: there are ${[...this.#processes.keys()].join(', ')}`,
      )
    return process
  }

  get processes(): readonly SimulatedProcess[] {
    return [...this.#processes.values()]
  }

  /** A client over the network of this life of a process, as a part of the cluster has it. */
  clientOf(life: Incarnation, userAgent: string): Client {
    const transport = connectionOf(this.network, life).transportAs({ kind: 'administrator' })
    return this.#clientOver(transport, life.clock, userAgent)
  }

  observe(observer: ClusterObserver): void {
    this.#observers.push(observer)
  }

  set injector(injector: FaultInjector) {
    this.#injector = injector
  }

  noteFault(text: string): void {
    this.#faults++
    this.history.line(`fault ${text}`)
    this.#tell('fault', text)
  }

  // Objects

  /** Answers the object as stored. Needs apiVersion and kind of a built-in type. */
  async create<T extends KubernetesObject>(object: T): Promise<T> {
    const type = resourceOf(object)
    if (type === undefined)
      throw new Error(`${object.apiVersion} ${object.kind} is not built in: use client`)
    return this.client.resource(type as ResourceType<T>, object.metadata?.namespace).create(object)
  }

  get<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    name: string,
  ): Promise<T> {
    return this.client.resource(type, namespace).get(name)
  }

  async list<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace?: string,
  ): Promise<readonly T[]> {
    return (await this.client.resource(type, namespace).list()).items
  }

  patch<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    name: string,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<T> {
    return this.client.resource(type, namespace).patch(name, patch, options)
  }

  delete(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
    options?: DeleteOptions,
  ): Promise<KubernetesObject> {
    return this.client.resource(type, namespace).delete(name, options)
  }

  // Time

  /** Lets this much virtual time pass. */
  advance(byMs: number): Promise<void> {
    return this.clock.advance(byMs)
  }

  /** Lets what can happen now happen, and no time pass. */
  settle(): Promise<void> {
    return this.clock.advance(0)
  }

  /** Lets time pass until `predicate` holds, at most `limitMs` (default a minute); answers whether it does. */
  until(predicate: () => boolean, limitMs = 60_000): Promise<boolean> {
    return this.clock.advanceUntil(predicate, limitMs)
  }

  /** Lets time pass while `work` goes on, because some requests wait for something: a restarting server, a service account. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let isDone = false
    const result = work().finally(() => (isDone = true))
    result.catch(() => {})
    await this.clock.advanceUntil(() => isDone, USER_PATIENCE_MS)
    if (!isDone) throw new Error(`seed ${this.seed}: nothing came of it within 10 virtual minutes`)
    return result
  }

  // The world goes wrong

  /** Every connection breaks; for `downMs` none is accepted. The new server knows what was stored. */
  async restartServer(downMs: number): Promise<void> {
    if (!this.isServerUp) return
    this.noteFault(`restart of the server, down for ${downMs} ms`)
    await this.#server.kill(() => this.network.resetAll())
    this.clock.after(downMs, () => void this.#server.start())
  }

  get isServerUp(): boolean {
    return this.#server.current !== undefined
  }

  /** What watches and lists could go back to is forgotten: who asks for it is told 410. */
  compact(): void {
    this.noteFault('compaction')
    this.store.forget(this.store.revision)
  }

  /** The wall clock of one process is set; its timers feel nothing. */
  jumpWallTime(process: string, byMs: number): void {
    this.noteFault(`jump of the wall clock of ${process} by ${byMs} ms`)
    this.process(process).life?.clock.jumpWallTime(byMs)
    this.#jumpedMs += Math.abs(byMs)
  }

  /** How many things went wrong so far. */
  get faultCount(): number {
    return this.#faults
  }

  /** By how much wall clocks were set in all: what one process wrote is never further from another's time. */
  get jumpedMs(): number {
    return this.#jumpedMs
  }

  // Results

  /** Of everything that happened so far. */
  get historyHash(): string {
    return this.history.hash
  }

  get virtualMs(): number {
    return this.clock.monotonicMs()
  }

  /** Stops everything in order. Only a cluster whose end matters needs it: an abandoned one holds nothing real. */
  async stop(): Promise<void> {
    const stopped = Promise.all([...this.#processes.values()].map((process) => process.stop()))
    let done = false
    void stopped.then(() => (done = true))
    await this.clock.advanceUntil(() => done, 120_000)
    await this.#server.stop()
  }

  #programWorld(): ProgramWorld {
    const trace: ReconcileTrace = {
      started() {},
      effect() {},
      finished: (controller, key, verdict) => this.#tell('reconciled', controller, key, verdict),
    }
    const featureGates = gateValues(new Map(Object.entries(this.#options.featureGates ?? {})))
    const configuration = { featureGates, ...this.#options.configuration }
    return {
      network: this.network,
      logger: this.#logger,
      metrics: silentMetrics,
      trace,
      kubelets: this.#kubelets,
      loads: this.#loads,
      volumeData: this.#volumeData,
      configuration,
    }
  }

  #loaded({ collection, type, object }: StoreEvent): void {
    if (collection !== 'pods') return
    if (type === 'deleted') this.#loads.gone(object as Pod)
    else this.#loads.seen(object as Pod)
  }

  #answered(facts: RequestFacts, status: number): void {
    const { process, user, method, path, verb, link } = facts
    if (verb === 'watch' && process.startsWith('controller-manager') && link !== 'leader-election')
      this.#isLed = true
    this.history.line(`${process} ${user} ${method} ${path} ${status}`)
    this.#tell('answered', facts, status)
  }

  #tell<E extends keyof ClusterObserver>(
    event: E,
    ...values: Parameters<Required<ClusterObserver>[E]>
  ): void {
    for (const observer of this.#observers) {
      const hear = observer[event] as ((...values: unknown[]) => void) | undefined
      hear?.apply(observer, values)
    }
  }

  #directClient(): Client {
    const authorization = `Bearer ${this.#identities.tokenOf(ADMINISTRATOR)}`
    const transport = memoryTransport((request) =>
      this.during(async () => {
        // The user waits until there is a server.
        while (this.#server.current === undefined) await sleep(this.clock, USER_RETRY_MS)
        const headers = { ...request.headers, authorization }
        const answer = await this.#server.current.handle({ ...request, headers })
        this.history.line(`user ${request.method} ${request.path} ${answer.status}`)
        // A client that is told when to ask again would wait for a clock that nobody turns.
        const { 'retry-after': _, ...told } = answer.headers
        return { ...answer, headers: told }
      }),
    )
    return this.#clientOver(transport, this.clock, 'user')
  }

  #clientOver(transport: Transport, clock: Clock, userAgent: string): Client {
    const logger = this.#logger
    const metrics = silentMetrics
    return partClient({ transport, clock, logger, metrics, host: 'simulated', userAgent })
  }
}

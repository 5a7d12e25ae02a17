/**
 * The network of a simulated cluster: every request and every event takes a seeded time, and goes wrong where the injector
 * says so. One link is one connection of one life of a process.
 */
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import type { ApiServer, UserInfo } from '@gyropilot/api-server'
import { TransportError } from '@gyropilot/client'
import type { Transport, TransportRequest, TransportResponse } from '@gyropilot/client'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { EventFault, FaultInjector, RequestFault } from '../faults/injector.ts'
import { refusal } from '../faults/refusals.ts'
import { staleAnswer } from '../faults/stale-read.ts'
import type { RecentRevisions } from '../faults/stale-read.ts'
import type { Identities } from '../identities.ts'
import type { Incarnation } from './process.ts'
import { isWrite, requestFacts } from './request-facts.ts'
import type { RequestFacts } from './request-facts.ts'
import { WatchRelay } from './watch-relay.ts'
import type { EventFate } from './watch-relay.ts'

export interface Latency {
  readonly minimumMs: number
  readonly maximumMs: number
}

/** Told of what passes; nothing here changes it. */
interface NetworkObserver {
  /** A request leaves its process. */
  sent(facts: RequestFacts, life: Incarnation): void
  answered(facts: RequestFacts, status: number): void
  /** A read was answered from an older state. */
  answeredStale(facts: RequestFacts): void
  /** The server did what was asked and its sender will not hear of it, or not in time. `body` is what was sent. */
  answerLost(facts: RequestFacts, body: KubernetesObject | undefined): void
  delivered(facts: RequestFacts, event: WatchEvent<KubernetesObject>): void
  fault(text: string): void
}

interface NetworkOptions {
  readonly clock: Clock
  readonly identities: Identities
  /** The server of this moment; undefined while it is down. */
  server(): ApiServer | undefined
  readonly injector: () => FaultInjector
  readonly observer: NetworkObserver
  readonly revisions: RecentRevisions
  readonly latency: Latency
}

/** How long a caller waits for a server that does not answer at all. */
const UNREACHABLE_MS = 10_000

interface Link {
  readonly life: Incarnation
  /** `leader-election`, or the user name. */
  readonly name: string
  readonly user: UserInfo
}

interface Exchange {
  readonly link: Link
  reset(): void
}

export class Network {
  readonly #options: NetworkOptions
  readonly #open = new Set<Exchange>()
  /** Until when nothing passes, by `process` or `process/link`. */
  readonly #partitions = new Map<string, number>()
  /** Lists of a collection by a process that wait, so that a gap is a gap. */
  readonly #holds = new Map<string, number>()

  constructor(options: NetworkOptions) {
    this.#options = options
  }

  transport(link: Link): Transport {
    let closed = false
    // Of its own, so that one request more on this link delays nothing on another.
    const random = link.life.random.fork(`network/${link.name}`)
    return {
      send: (request) => {
        if (!closed) return new Exchanging(this, this.#options, link, random, request).run()
        return Promise.reject(new TransportError('CLOSED', 'the transport is closed'))
      },
      async close() {
        closed = true
      },
    }
  }

  /** Cuts a process, or one of its links, off the server for a while. Streams fall silent and break afterwards. */
  partition(process: string, link: string | undefined, forMs: number): void {
    const key = link === undefined ? process : `${process}/${link}`
    const { clock } = this.#options
    const untilMs = clock.monotonicMs() + forMs
    this.#partitions.set(key, Math.max(untilMs, this.#partitions.get(key) ?? 0))
    clock.after(forMs, () => {
      for (const exchange of this.#open) {
        const { life, name } = exchange.link
        if (life.process === process && (link === undefined || link === name)) exchange.reset()
      }
    })
  }

  /** Breaks all connections, or those of one process. */
  resetAll(process?: string): void {
    for (const exchange of this.#open) {
      if (process === undefined || exchange.link.life.process === process) exchange.reset()
    }
  }

  /** 0 when the link is whole. */
  cutForMs({ life, name }: Link): number {
    const untilMs = Math.max(
      this.#partitions.get(life.process) ?? 0,
      this.#partitions.get(`${life.process}/${name}`) ?? 0,
    )
    return Math.max(0, untilMs - this.#options.clock.monotonicMs())
  }

  /** Names of the connections that a process has open. */
  linksOf(process: string): ReadonlySet<string> {
    const links = new Set<string>()
    for (const { link } of this.#open) if (link.life.process === process) links.add(link.name)
    return links
  }

  hold(process: string, collection: string, forMs: number): void {
    this.#holds.set(`${process}/${collection}`, this.#options.clock.monotonicMs() + forMs)
  }

  heldForMs({ process, collection, verb }: RequestFacts): number {
    if (verb !== 'list' && verb !== 'watch') return 0
    const untilMs = this.#holds.get(`${process}/${collection}`) ?? 0
    return Math.max(0, untilMs - this.#options.clock.monotonicMs())
  }

  opened(exchange: Exchange): void {
    this.#open.add(exchange)
  }

  ended(exchange: Exchange): void {
    this.#open.delete(exchange)
  }

  get unreachableMs(): number {
    return UNREACHABLE_MS
  }
}

/** One request on its way. */
class Exchanging implements Exchange {
  readonly link: Link
  readonly #network: Network
  readonly #options: NetworkOptions
  readonly #random: RandomSource
  readonly #request: TransportRequest
  readonly #facts: RequestFacts
  readonly #onServer = new AbortController()
  readonly #answer = Promise.withResolvers<TransportResponse>()
  #relay: WatchRelay | undefined
  /** Takes back what it told its life and its caller's signal to call: both outlive it. */
  #unhook: () => void = () => {}
  /** The server did what was asked. */
  #isDone = false
  /** The sender has an answer, or was told that there is none. */
  #isTold = false

  constructor(
    network: Network,
    options: NetworkOptions,
    link: Link,
    random: RandomSource,
    request: TransportRequest,
  ) {
    this.#network = network
    this.#options = options
    this.#random = random
    this.link = link
    this.#request = request
    const { life, name, user } = link
    this.#facts = requestFacts({ process: life.process, link: name, user: user.name }, request)
  }

  run(): Promise<TransportResponse> {
    const { signal } = this.#request
    const { life } = this.link
    // The dead send nothing and hear nothing.
    if (life.isGone) return new Promise(() => {})
    if (signal?.aborted) return Promise.reject(this.#error('ABORTED', 'given up by its caller'))
    this.#options.observer.sent(this.#facts, life)
    this.#network.opened(this)
    const onAbort = (): void => {
      if (this.#isDone && !this.#isTold) this.#noteLost()
      this.#isTold = true
      this.#answer.reject(this.#error('ABORTED', 'given up by its caller'))
      // What is on its way still arrives; only streams end.
      if (this.#facts.verb === 'watch') this.#close()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const unhookLife = life.onGone(() => this.#close())
    this.#unhook = () => {
      unhookLife()
      signal?.removeEventListener('abort', onAbort)
    }
    this.#travel(this.#options.injector().onRequest(this.#facts))
    return this.#answer.promise.finally(() => {
      if (this.#relay === undefined) this.#leave()
    })
  }

  /** The connection breaks under the request. */
  reset(): void {
    this.#leave()
    this.#onServer.abort()
    this.#relay?.reset()
    this.#fail('ECONNRESET', 'read ECONNRESET')
  }

  #close(): void {
    this.#onServer.abort()
    this.#leave()
  }

  #leave(): void {
    this.#network.ended(this)
    this.#unhook()
  }

  #travel(fault: RequestFault | undefined): void {
    const { clock, observer } = this.#options
    if (fault !== undefined) observer.fault(`${describe(fault, 'slow')}: ${this.#describe()}`)
    if (fault?.kind === 'crash' && fault.when === 'before') return this.link.life.kill()
    const lost = (fault?.kind === 'reset' || fault?.kind === 'timeout') && !fault.applied
    if (lost) return this.#lose(fault)
    const cutMs = this.#network.cutForMs(this.link)
    if (cutMs > this.#network.unreachableMs) {
      clock.after(this.#network.unreachableMs, () => this.#fail('ETIMEDOUT', 'i/o timeout'))
      return
    }
    const extraMs = fault?.kind === 'delay' ? fault.byMs : 0
    const delayMs =
      Math.max(cutMs, this.#network.heldForMs(this.#facts)) + extraMs + this.#latencyMs()
    clock.after(delayMs, () => void this.#arrive(fault))
  }

  async #arrive(fault: RequestFault | undefined): Promise<void> {
    const { observer, clock } = this.#options
    if (this.#onServer.signal.aborted && this.#facts.verb === 'watch') return
    const server = this.#options.server()
    if (server === undefined) return this.#fail('ECONNREFUSED', 'connect ECONNREFUSED')
    // Its sender has given up on it, and it arrives all the same.
    if (this.#isTold) this.#noteLost()
    let answer: TransportResponse
    if (fault?.kind === 'refusal') answer = refusal(fault.code, this.#facts)
    else answer = await this.#handle(server, fault)
    observer.answered(this.#facts, answer.status)
    this.#isDone = answer.status < 300
    if (fault?.kind === 'crash') return this.link.life.kill()
    if (fault?.kind === 'reset' || fault?.kind === 'timeout') {
      if (answer.body.kind === 'events') this.#onServer.abort()
      return this.#lose(fault)
    }
    if (answer.body.kind === 'events') answer = this.#relayed(answer, answer.body.events)
    clock.after(this.#latencyMs(), () =>
      this.link.life.pass('network', () => {
        this.#isTold = true
        this.#answer.resolve(answer)
      }),
    )
  }

  async #handle(server: ApiServer, fault: RequestFault | undefined): Promise<TransportResponse> {
    const authorization = `Bearer ${this.#options.identities.tokenOf(this.link.user)}`
    const headers = { ...this.#request.headers, authorization }
    const { longRunning, body, method } = this.#request
    const send = (path: string) =>
      server.handle({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(longRunning ? { longRunning, signal: this.#onServer.signal } : {}),
      })
    if (fault?.kind === 'stale') {
      const revision =
        'revision' in fault
          ? fault.revision
          : this.#options.revisions.before(this.#facts.collection, fault.behind)
      const stale = await staleAnswer(this.#facts, this.#request, revision, server, send)
      if (stale !== undefined && stale.status < 500) {
        this.#options.observer.answeredStale(this.#facts)
        return stale
      }
    }
    return send(this.#request.path)
  }

  #relayed(
    answer: TransportResponse,
    events: AsyncIterable<WatchEvent<KubernetesObject>>,
  ): TransportResponse {
    const { clock, observer } = this.#options
    const relay = new WatchRelay({
      clock,
      gate: this.link.life,
      fateOf: (event) => this.#fateOf(event),
      onDelivered: (event) => observer.delivered(this.#facts, event),
      onEnd: () => this.#close(),
    })
    this.#relay = relay
    void relay.pump(events)
    return { ...answer, body: { kind: 'events', events: relay } }
  }

  #fateOf(event: WatchEvent<KubernetesObject>): EventFate {
    const { clock, observer, injector } = this.#options
    const travelMs = Math.max(this.#network.cutForMs(this.link), this.#latencyMs())
    const dueMs = clock.monotonicMs() + travelMs
    if (event.type === 'BOOKMARK' || event.type === 'ERROR') return { fate: 'deliver', dueMs }
    const object = event.object as KubernetesObject
    const fault = injector().onEvent({
      process: this.#facts.process,
      link: this.#facts.link,
      collection: this.#facts.collection,
      type: event.type,
      key: keyOf(object),
      resourceVersion: object.metadata?.resourceVersion ?? '',
    })
    if (fault === undefined) return { fate: 'deliver', dueMs }
    observer.fault(
      `${describe(fault, 'lag')}: ${this.#facts.process} ${this.#facts.collection} ${event.type} ${keyOf(object)}`,
    )
    return this.#disturbed(fault, dueMs)
  }

  #disturbed(fault: EventFault, dueMs: number): EventFate {
    switch (fault.kind) {
      case 'delay':
        return { fate: 'deliver', dueMs: dueMs + fault.byMs }
      case 'break':
        return { fate: 'break' }
      case 'gap':
        this.#network.hold(this.#facts.process, this.#facts.collection, fault.forMs)
        return { fate: 'gap' }
      case 'repeat':
        return { fate: 'gap' }
    }
  }

  #lose(fault: Extract<RequestFault, { kind: 'reset' | 'timeout' }>): void {
    const { clock } = this.#options
    if (fault.kind === 'timeout')
      clock.after(fault.afterMs, () => this.#fail('ETIMEDOUT', 'i/o timeout'))
    else clock.after(this.#latencyMs(), () => this.#fail('ECONNRESET', 'read ECONNRESET'))
  }

  #fail(code: string, message: string): void {
    if (this.#isTold) return
    this.#isTold = true
    if (this.#isDone) this.#noteLost()
    this.link.life.pass('network', () => this.#answer.reject(this.#error(code, message)))
  }

  #noteLost(): void {
    if (!isWrite(this.#facts)) return
    const { body } = this.#request
    const sent = body !== undefined && 'json' in body ? (body.json as KubernetesObject) : undefined
    this.#options.observer.answerLost(this.#facts, sent)
  }

  #error(code: string, message: string): TransportError {
    const { method, path } = this.#request
    return new TransportError(code, `${method} ${path}: ${message}`)
  }

  #latencyMs(): number {
    const { latency } = this.#options
    return latency.minimumMs + this.#random.next() * (latency.maximumMs - latency.minimumMs)
  }

  #describe(): string {
    const { process, method, path } = this.#facts
    return `${process} ${method} ${path}`
  }
}

/** A delay goes by the name that its rate has. */
function describe(fault: RequestFault | EventFault, delay: 'slow' | 'lag'): string {
  const { kind, ...details } = fault
  return `${kind === 'delay' ? delay : kind} ${JSON.stringify(details)}`
}

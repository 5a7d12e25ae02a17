/**
 * Looks at all nodes every few seconds: who is silent, who may keep its pods, and how much of each zone is down.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, B, D and E.
 */
import { resources } from '@gyropilot/api'
import type { Lease, Node, Pod } from '@gyropilot/api'
import type { Logger } from '@gyropilot/foundation'
import { InterruptedByShutdown, interpret, parallelize, yieldIfLong } from '@gyropilot/runtime'
import type { ControllerContext, EventRecorder, Lister, Reconcile } from '@gyropilot/runtime'
import { podsOnNode } from '../node-support/pods-on-node.ts'
import { NOT_READY, UNREACHABLE, hasTaint } from './condition-taints.ts'
import { EVENT_COMPONENT, LEASE_NAMESPACE, MONITORED_AT_ONCE } from './config.ts'
import type { NodeLifecycleConfiguration } from './config.ts'
import { recordNotReady, registered, removing } from './events.ts'
import { evaluateHealth } from './heartbeat.ts'
import type { Health, HealthRecord } from './heartbeat.ts'
import { markPodsNotReady } from './mark-pods.ts'
import { NodeLifecycleMetrics } from './metrics.ts'
import { removeLiveTaints, removeTaints, swapTaints } from './node-writes.ts'
import { ZoneTainter, noExecuteTaintOf } from './zone-tainter.ts'
import { EXCLUDED, disruptionOf, rateOf, zoneHealth, zoneOf } from './zones.ts'
import type { Vote, ZoneHealth, ZoneState } from './zones.ts'

const NO_EXECUTE = [UNREACHABLE, NOT_READY]

export class HealthMonitor {
  readonly tainter: ZoneTainter
  readonly #context: ControllerContext
  readonly #configuration: NodeLifecycleConfiguration
  readonly #signal: AbortSignal
  readonly #logger: Logger
  readonly #nodes: Lister<Node>
  readonly #leases: Lister<Lease>
  readonly #podsOn: (nodeName: string) => readonly Pod[]
  readonly #recorder: EventRecorder
  readonly #metrics: NodeLifecycleMetrics
  /** Nodes as they were last seen. */
  readonly #known = new Map<string, Node>()
  readonly #records = new Map<string, HealthRecord>()
  readonly #zoneStates = new Map<string, ZoneState>()
  /** Nodes whose pods could not be marked. */
  readonly #unmarked = new Set<string>()

  constructor(
    context: ControllerContext,
    configuration: NodeLifecycleConfiguration,
    signal: AbortSignal,
  ) {
    const { informers, clock, metrics } = context
    this.#context = context
    this.#configuration = configuration
    this.#signal = signal
    this.#logger = context.logger
    this.#nodes = informers.informer(resources.nodes).lister
    this.#leases = informers.informer(resources.leases).lister
    this.#podsOn = podsOnNode(informers)
    this.#recorder = context.recorder(EVENT_COMPONENT)
    this.#metrics = new NodeLifecycleMetrics(metrics)
    this.tainter = new ZoneTainter({
      clock,
      perSecond: configuration.nodeEvictionRate,
      nodeNamed: (name) => this.#nodes.get(undefined, name),
      perform: (rules) => this.#perform(rules),
      onTainted: (zone) => this.#metrics.tainted(zone),
    })
  }

  recordOf(nodeName: string): HealthRecord | undefined {
    return this.#records.get(nodeName)
  }

  /** The node is gone: nothing of it is left to mark. */
  nodeDeleted(nodeName: string): void {
    this.#unmarked.delete(nodeName)
  }

  async pass(): Promise<void> {
    const { clock } = this.#context
    const startMs = clock.monotonicMs()
    // Looking at a healthy node waits for nothing: thousands of them would be one long turn.
    // 1.
    const nodes = this.#nodes.list().toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    for (const node of nodes) this.#addZone(zoneOf(node))
    // 2.
    for (const node of nodes) {
      if (this.#known.has(nameOf(node))) continue
      await this.#register(node)
      await yieldIfLong(clock)
    }
    // 3.
    this.#forgetAllBut(new Set(nodes.map(nameOf)))
    // 4.-7.
    const votes = new Map<string, Vote[]>()
    await parallelize(
      MONITORED_AT_ONCE,
      nodes.length,
      async (index) => {
        const node = nodes[index]!
        const beginMs = clock.monotonicMs()
        await this.#look(node, votes)
        this.#metrics.nodeTook(clock.monotonicMs() - beginMs)
        await yieldIfLong(clock)
      },
      { signal: this.#signal },
    )
    // 8.
    if (!this.#signal.aborted) await this.#judgeZones(nodes, votes)
    this.#metrics.passTook(clock.monotonicMs() - startMs)
  }

  async #register(node: Node): Promise<void> {
    this.#known.set(nameOf(node), node)
    this.#recorder.record(registered(node))
    await this.#markReachable(node)
  }

  #addZone(zone: string): void {
    if (!this.#zoneStates.has(zone)) this.#zoneStates.set(zone, 'Initial')
    if (this.tainter.addZone(zone)) this.#metrics.tainted(zone, 0)
  }

  #forgetAllBut(names: ReadonlySet<string>): void {
    for (const [name, node] of this.#known) {
      if (names.has(name)) continue
      this.#recorder.record(removing(node))
      this.#known.delete(name)
      this.#records.delete(name)
      this.tainter.remove(zoneOf(node), name)
    }
  }

  async #look(cached: Node, votes: Map<string, Vote[]>): Promise<void> {
    const name = nameOf(cached)
    this.#known.set(name, cached)
    const lease = this.#leases.get(LEASE_NAMESPACE, name)
    const known = this.#records.get(name)
    const { clock } = this.#context
    const health = await this.#perform(
      evaluateHealth(cached, lease, known, this.#configuration, () => clock.monotonicMs()),
    )
    this.#records.set(name, health.record)
    if ('error' in health) {
      this.#logger.error(health.error, 'The health of the node could not be written', {
        node: name,
      })
      return
    }
    const { current, node } = health
    // 4. The rest.
    if (node.metadata?.labels?.[EXCLUDED] === undefined) {
      const zone = votes.get(zoneOf(node))
      if (zone === undefined) votes.set(zoneOf(node), [current])
      else zone.push(current)
    }
    if (current === undefined) return
    // 6.
    await this.#decideTaint(node, current.status)
    // 7.
    await this.#markPods(health)
  }

  async #markPods({ node, observed, current }: Health): Promise<void> {
    const name = nameOf(node)
    const isLost = observed.status === 'True' && current?.status !== 'True'
    if (isLost) await this.#perform(recordNotReady(node))
    else if (!this.#unmarked.has(name) || observed.status === 'True') {
      this.#unmarked.delete(name)
      return
    }
    const error = await this.#perform(markPodsNotReady(this.#podsOn(name), name))
    if (error === undefined) {
      this.#unmarked.delete(name)
      return
    }
    this.#logger.error(error, 'The pods of the node could not be marked', { node: name })
    this.#unmarked.add(name)
  }

  /** D. */
  async #decideTaint(node: Node, ready: string): Promise<void> {
    const wanted = noExecuteTaintOf(ready)
    if (wanted === undefined) {
      await this.#markReachable(node)
      return
    }
    const { add, remove } = wanted
    if (!hasTaint(node, remove, 'NoExecute')) {
      this.tainter.queue(zoneOf(node), node, add)
      return
    }
    this.#complain(node, await this.#perform(swapTaints(node, 'NoExecute', [add], [remove])))
  }

  async #markReachable(node: Node): Promise<void> {
    // The cache may be behind the tainter.
    const remove = this.tainter.hasTainted(zoneOf(node), nameOf(node))
      ? removeLiveTaints
      : removeTaints
    this.#complain(node, await this.#perform(remove(node, 'NoExecute', NO_EXECUTE)))
    this.tainter.remove(zoneOf(node), nameOf(node))
  }

  #complain(node: Node, error: unknown): void {
    if (error === undefined) return
    this.#logger.error(error, 'The taints of the node could not be changed', { node: nameOf(node) })
  }

  /** E. */
  async #judgeZones(nodes: readonly Node[], votes: ReadonlyMap<string, Vote[]>): Promise<void> {
    const zones = new Map<string, ZoneHealth>()
    for (const [zone, ready] of votes) {
      const health = zoneHealth(ready, this.#configuration.unhealthyZoneThreshold)
      zones.set(zone, health)
      this.#metrics.zone(zone, health)
    }
    for (const zone of this.#zoneStates.keys()) {
      if (zones.has(zone)) continue
      this.#zoneStates.delete(zone)
      this.#metrics.zone(zone)
    }
    const disruption = disruptionOf(this.#zoneStates, zones)
    if (disruption.kind === 'entering') {
      this.#logger.info('All zones are down: nothing is evicted')
      for (const zone of zones.keys()) this.tainter.setRate(zone, 0)
      await this.tainter.settled()
      for (const node of nodes) await this.#markReachable(node)
    }
    if (disruption.kind === 'leaving') {
      this.#logger.info('Some zone is up again: all nodes have their grace period anew')
      this.#startAnew()
    }
    if (disruption.kind !== 'entering') {
      const changed = disruption.kind === 'usual' ? disruption.changed : [...zones.keys()]
      for (const zone of changed)
        this.tainter.setRate(zone, rateOf(zones.get(zone)!, this.#configuration))
    }
    for (const [zone, { state }] of zones) this.#zoneStates.set(zone, state)
  }

  #startAnew(): void {
    const nowMs = this.#context.clock.monotonicMs()
    for (const [name, record] of this.#records)
      this.#records.set(name, { ...record, probeMs: nowMs })
  }

  async #perform<R>(rules: Reconcile<R>): Promise<R> {
    const { client, clock, trace, name } = this.#context
    return await interpret(rules, {
      client,
      clock,
      recordEvent: (event) => this.#recorder.record(event),
      signal: this.#signal,
      onEffect: trace && ((effect, outcome) => trace.effect(name, '', effect, outcome)),
    })
  }
}

/** What a stopping process leaves undone is no error. */
export function unlessStopping(error: unknown, signal: AbortSignal): void {
  if (!(error instanceof InterruptedByShutdown) && !signal.aborted) throw error
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}

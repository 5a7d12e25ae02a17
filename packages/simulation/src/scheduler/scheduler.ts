/**
 * The default profile of kube-scheduler, reduced to what others can observe: which node a pod gets, when it is tried again,
 * and what is written. Contract: docs/behaviour/simulation/scheduler.md. Left out so far: volumes that wait for their first
 * consumer, limits of volumes per node.
 */
import { resources } from '@gyropilot/api'
import type { Node, Pod, PodDisruptionBudget } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { integerBetween } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { EventRecorder, InformerFactory, Lister } from '@gyropilot/runtime'
import { claimProblem, volumeReasons } from './claims.ts'
import type { ClaimListers } from './claims.ts'
import { filtersWith } from './filters/index.ts'
import type { NamedFilter } from './filters/index.ts'
import { NOT_HELPFUL, NO_VICTIMS, preFilterMessage, unschedulableMessage } from './message.ts'
import type { NodeVerdict, PreemptionOutcome } from './message.ts'
import { NodeInfo } from './node-info.ts'
import { Nominations } from './nominations.ts'
import { PodWrites, SCHEDULER_NAME } from './pod-writes.ts'
import { bestCandidate, priorityOf, victimsOn, whyNotEligible } from './preemption.ts'
import type { PreemptionCandidate } from './preemption.ts'
import { scoreNodes } from './scores.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { spreadGroupOf } from './spread-group.ts'
import type { GroupListers } from './spread-group.ts'

export { SCHEDULER_NAME } from './pod-writes.ts'

export interface SchedulerOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly recorder: EventRecorder
}

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #queue: SchedulingQueue
  readonly #nodes = new Map<string, NodeInfo>()
  /** Where each counted pod counts: by uid. */
  readonly #placed = new Map<string, string>()
  readonly #groups: GroupListers
  readonly #budgets: Lister<PodDisruptionBudget>
  readonly #claims: ClaimListers
  readonly #filters: readonly NamedFilter[]
  readonly #nominations = new Nominations()
  readonly #writes: PodWrites
  #running = false
  #woken = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#writes = new PodWrites(options)
    this.#queue = new SchedulingQueue(options.clock, () => this.#wake())
    const { informers } = options
    this.#groups = {
      services: informers.informer(resources.services).lister,
      replicaSets: informers.informer(resources.replicasets).lister,
      statefulSets: informers.informer(resources.statefulsets).lister,
      replicationControllers: informers.informer(resources.replicationcontrollers).lister,
    }
    this.#claims = this.#watchVolumes(informers)
    this.#filters = filtersWith((pod, info) => volumeReasons(pod, info, this.#claims))
    this.#budgets = informers.informer(resources.poddisruptionbudgets).lister
    informers.informer(resources.nodes).addHandler({
      onAdd: (node) => this.#nodeChanged(node),
      onUpdate: (_, node) => this.#nodeChanged(node),
      onDelete: (gone) =>
        this.#nodeRemoved(
          gone instanceof DeletedFinalStateUnknown ? gone.key : (gone.metadata?.name ?? ''),
        ),
    })
    informers.informer(resources.pods).addHandler({
      onAdd: (pod) => this.#podChanged(pod),
      onUpdate: (before, pod) => {
        if (before.metadata?.uid !== pod.metadata?.uid) this.#podRemoved(before)
        this.#podChanged(pod, before)
      },
      onDelete: (gone) => {
        const pod = gone instanceof DeletedFinalStateUnknown ? gone.object : gone
        if (pod !== undefined) this.#podRemoved(pod)
      },
    })
  }

  /** Whatever happens to claims, volumes or classes may help a pod that waits for its volumes. */
  #watchVolumes(informers: InformerFactory): ClaimListers {
    const claims = informers.informer(resources.persistentvolumeclaims)
    const volumes = informers.informer(resources.persistentvolumes)
    const classes = informers.informer(resources.storageclasses)
    const moveAll = (): void => this.#queue.moveAll()
    for (const informer of [claims, volumes, classes])
      informer.addHandler({ onAdd: moveAll, onUpdate: moveAll, onDelete: moveAll })
    return { claims: claims.lister, volumes: volumes.lister, classes: classes.lister }
  }

  /** Schedules until `signal` aborts. The informers must be started and in sync. */
  start(signal: AbortSignal): void {
    this.#running = true
    signal.addEventListener(
      'abort',
      () => {
        this.#running = false
        this.#queue.stop()
      },
      { once: true },
    )
    this.#wake()
  }

  #nodeChanged(node: Node): void {
    this.#info(node.metadata?.name ?? '').setNode(node)
    this.#queue.moveAll()
  }

  #nodeRemoved(name: string): void {
    const info = this.#nodes.get(name)
    info?.setNode(undefined)
    if (info?.pods.size === 0) this.#nodes.delete(name)
  }

  #podChanged(pod: Pod, before?: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') return this.#podRemoved(pod)
    this.#nominations.observe(pod, before)
    if (pod.spec?.nodeName) {
      this.#queue.remove(uid)
      this.#place(pod, pod.spec.nodeName)
    } else if (pod.metadata?.deletionTimestamp !== undefined || !isOurs(pod)) {
      this.#queue.remove(uid)
    } else if (!this.#placed.has(uid)) {
      this.#queue.offer(pod)
    }
  }

  #podRemoved(pod: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    this.#nominations.drop(pod)
    this.#queue.remove(uid)
    if (this.#unplace(uid)) this.#queue.moveAll()
  }

  #info(name: string): NodeInfo {
    let info = this.#nodes.get(name)
    if (info === undefined) {
      info = new NodeInfo(name)
      this.#nodes.set(name, info)
    }
    return info
  }

  #place(pod: Pod, nodeName: string): void {
    const uid = pod.metadata?.uid ?? ''
    const before = this.#placed.get(uid)
    if (before !== undefined && before !== nodeName) this.#unplace(uid)
    this.#placed.set(uid, nodeName)
    this.#info(nodeName).addPod(pod)
  }

  #unplace(uid: string): boolean {
    const nodeName = this.#placed.get(uid)
    if (nodeName === undefined) return false
    this.#placed.delete(uid)
    return this.#nodes.get(nodeName)?.removePod(uid) ?? false
  }

  /** One pass over the active queue per turn, however many events woke it. */
  #wake(): void {
    if (this.#woken || !this.#running) return
    this.#woken = true
    this.#options.clock.after(0, () => {
      this.#woken = false
      for (let pod = this.#queue.take(); pod !== undefined; pod = this.#queue.take()) this.#try(pod)
    })
  }

  #try(pod: Pod): void {
    const all = [...this.#nodes.values()].filter((info) => info.node !== undefined)
    const problem = claimProblem(pod, this.#claims)
    if (problem !== undefined && all.length > 0)
      return this.#fail(pod, 'Unschedulable', preFilterMessage(problem, all.length), '')
    const feasible: NodeInfo[] = []
    const verdicts: NodeVerdict[] = []
    for (const info of all) {
      const verdict = this.#verdictOf(pod, info, all)
      if (verdict === undefined) feasible.push(info)
      else verdicts.push(verdict)
    }
    if (feasible.length === 0) {
      const { outcome, nomination } = this.#preempt(pod, verdicts, all)
      this.#fail(pod, 'Unschedulable', unschedulableMessage(verdicts, outcome), nomination)
      return
    }
    const nominated = feasible.find(({ name }) => name === pod.status?.nominatedNodeName)
    const chosen = nominated ?? this.#choose(pod, feasible)
    this.#place(pod, chosen.name)
    void this.#bind(pod, chosen.name)
  }

  /** Pods as important that were promised room on the node count there, though they are not there yet. */
  #verdictOf(pod: Pod, info: NodeInfo, all: readonly NodeInfo[]): NodeVerdict | undefined {
    const verdict = this.#filtered(pod, info, all)
    if (verdict !== undefined || this.#nominations.isEmpty) return verdict
    const promised = this.#nominations
      .on(info.name)
      .filter(
        (other) =>
          other.metadata?.uid !== pod.metadata?.uid && priorityOf(other) >= priorityOf(pod),
      )
    if (promised.length === 0) return undefined
    const full = info.with(promised)
    return this.#filtered(
      pod,
      full,
      all.map((other) => (other === info ? full : other)),
    )
  }

  /** The first filter that fails gives the node's reasons. */
  #filtered(pod: Pod, info: NodeInfo, all: readonly NodeInfo[]): NodeVerdict | undefined {
    for (const { filter, curable } of this.#filters) {
      const reasons = filter(pod, info, all)
      if (reasons.length > 0) return { node: info.name, reasons, curable }
    }
    return undefined
  }

  /** Makes room by taking less important pods away. `nomination` as of PodWrites. */
  #preempt(
    pod: Pod,
    verdicts: readonly NodeVerdict[],
    all: readonly NodeInfo[],
  ): { readonly outcome: PreemptionOutcome; readonly nomination?: string } {
    const text = whyNotEligible(pod, this.#nodes.get(pod.status?.nominatedNodeName ?? ''))
    if (text !== undefined) return { outcome: { kind: 'not eligible', text } }
    const rules = {
      verdictOf: (candidate: Pod, info: NodeInfo, others: readonly NodeInfo[]) =>
        this.#verdictOf(candidate, info, others),
      budgets: this.#budgets.list(),
    }
    const candidates: PreemptionCandidate[] = []
    const reasons: string[] = []
    for (const { node, curable, reasons: own } of verdicts) {
      const info = this.#nodes.get(node)!
      const candidate = curable ? victimsOn(pod, info, all, rules) : undefined
      if (candidate !== undefined) candidates.push(candidate)
      else if (!curable) reasons.push(NOT_HELPFUL)
      else if (hasLower(pod, info)) reasons.push(...own)
      else reasons.push(NO_VICTIMS)
    }
    const best = bestCandidate(candidates)
    if (best === undefined) return { outcome: { kind: 'none', reasons }, nomination: '' }
    for (const victim of best.victims) void this.#writes.evict(victim, pod, best.node)
    this.#takeBack(best.node, pod)
    return { outcome: { kind: 'victims' }, nomination: best.node }
  }

  /** Less important pods that were promised room on the node look for another one. */
  #takeBack(nodeName: string, preemptor: Pod): void {
    for (const other of this.#nominations.on(nodeName)) {
      if (priorityOf(other) >= priorityOf(preemptor)) continue
      this.#nominations.drop(other)
      void this.#writes.nominationLost(other)
    }
  }

  #choose(pod: Pod, feasible: readonly NodeInfo[]): NodeInfo {
    if (feasible.length === 1) return feasible[0]!
    const scores = scoreNodes(pod, feasible, spreadGroupOf(pod, this.#groups))
    const best = Math.max(...scores.values())
    const ties = feasible
      .filter((info) => scores.get(info.name) === best)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return ties[integerBetween(this.#options.random, 0, ties.length)]!
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { client, recorder } = this.#options
    const { namespace, name = '', uid = '' } = pod.metadata ?? {}
    try {
      await client.resource(resources.pods, namespace).createSubresource(name, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { kind: 'Node', name: nodeName },
      } as Pod)
      this.#queue.remove(uid)
      const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`
      recorder.record({ regarding: pod, type: 'Normal', reason: 'Scheduled', message })
    } catch (error) {
      this.#unplace(uid)
      if (isNotFound(error)) this.#queue.remove(uid)
      else this.#fail(pod, 'SchedulerError', error instanceof Error ? error.message : String(error))
      if (isConflict(error))
        this.#options.logger.info('Pod was bound by somebody else', { pod: name })
    }
  }

  #fail(
    pod: Pod,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    nomination?: string,
  ): void {
    const uid = pod.metadata?.uid ?? ''
    if (reason === 'SchedulerError') this.#queue.errored(uid)
    else this.#queue.failed(uid)
    this.#options.recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: message.slice(0, 1024),
    })
    if (nomination === '') this.#nominations.drop(pod)
    else if (nomination !== undefined) this.#nominations.promise(pod, nomination)
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const isSaid =
      before?.status === 'False' && before.reason === reason && before.message === message
    const isPromised =
      nomination === undefined || nomination === (pod.status?.nominatedNodeName ?? '')
    if (isSaid && isPromised) return
    void this.#writes.failed(pod, reason, message, isPromised ? undefined : nomination)
  }
}

function isOurs(pod: Pod): boolean {
  const gated = (pod.spec?.schedulingGates ?? []).length > 0
  return !gated && (pod.spec?.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME
}

function hasLower(pod: Pod, { pods }: NodeInfo): boolean {
  for (const other of pods.values()) if (priorityOf(other) < priorityOf(pod)) return true
  return false
}

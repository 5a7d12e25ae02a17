/**
 * The default profile of kube-scheduler, reduced to what others can observe: which node a pod gets, when it is tried again,
 * and what is written. Contract: docs/behaviour/simulation/scheduler.md. Left out so far: preemption and volume binding.
 */
import { resources } from '@gyropilot/api'
import type {
  Node,
  Pod,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { formatTime, integerBetween } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { EventRecorder, InformerFactory, Lister } from '@gyropilot/runtime'
import { filters } from './filters/index.ts'
import { podLabelsMatch } from './label-terms.ts'
import { unschedulableMessage } from './message.ts'
import type { NodeVerdict } from './message.ts'
import { NodeInfo } from './node-info.ts'
import { scoreNodes } from './scores.ts'
import type { SpreadGroup } from './scores.ts'
import { SchedulingQueue } from './scheduling-queue.ts'

export const SCHEDULER_NAME = 'default-scheduler'

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
  #running = false
  #woken = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#queue = new SchedulingQueue(options.clock, () => this.#wake())
    const { informers } = options
    this.#groups = {
      services: informers.informer(resources.services).lister,
      replicaSets: informers.informer(resources.replicasets).lister,
      statefulSets: informers.informer(resources.statefulsets).lister,
      replicationControllers: informers.informer(resources.replicationcontrollers).lister,
    }
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
        this.#podChanged(pod)
      },
      onDelete: (gone) => {
        const pod = gone instanceof DeletedFinalStateUnknown ? gone.object : gone
        if (pod !== undefined) this.#podRemoved(pod)
      },
    })
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

  #podChanged(pod: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') return this.#podRemoved(pod)
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
    const feasible: NodeInfo[] = []
    const verdicts: NodeVerdict[] = []
    for (const info of all) {
      const verdict = verdictOf(pod, info, all)
      if (verdict === undefined) feasible.push(info)
      else verdicts.push(verdict)
    }
    if (feasible.length === 0) {
      const message = unschedulableMessage(pod, verdicts)
      this.#fail(pod, 'Unschedulable', message)
      return
    }
    const chosen = this.#choose(pod, feasible)
    this.#place(pod, chosen.name)
    void this.#bind(pod, chosen.name)
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

  #fail(pod: Pod, reason: 'Unschedulable' | 'SchedulerError', message: string): void {
    this.#queue.failed(pod.metadata?.uid ?? '')
    this.#options.recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message: message.slice(0, 1024),
    })
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (before?.status === 'False' && before.reason === reason && before.message === message) return
    void this.#writeCondition(pod, reason, message)
  }

  async #writeCondition(pod: Pod, reason: string, message: string): Promise<void> {
    const { client, clock, logger } = this.#options
    const { namespace, name = '', generation } = pod.metadata ?? {}
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      observedGeneration: generation,
      lastProbeTime: null,
      lastTransitionTime: formatTime(clock.nowMs()),
    }
    try {
      await client
        .resource(resources.pods, namespace)
        .patch(
          name,
          { type: 'strategic', value: { status: { conditions: [condition] } } },
          { subresource: 'status' },
        )
    } catch (error) {
      if (!isNotFound(error))
        logger.error(error, 'Error updating pod', { pod: `${namespace}/${name}` })
    }
  }
}

function isOurs(pod: Pod): boolean {
  const gated = (pod.spec?.schedulingGates ?? []).length > 0
  return !gated && (pod.spec?.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME
}

/** The first filter that fails gives the node's reasons. */
function verdictOf(pod: Pod, info: NodeInfo, all: readonly NodeInfo[]): NodeVerdict | undefined {
  for (const { filter, curable } of filters) {
    const reasons = filter(pod, info, all)
    if (reasons.length > 0) return { node: info.name, reasons, curable }
  }
  return undefined
}

interface GroupListers {
  readonly services: Lister<Service>
  readonly replicaSets: Lister<ReplicaSet>
  readonly statefulSets: Lister<StatefulSet>
  readonly replicationControllers: Lister<ReplicationController>
}

/** Pods that belong together for default spreading: what a Service or the pod's own controller selects. */
function spreadGroupOf(pod: Pod, listers: GroupListers): SpreadGroup | undefined {
  const labels = pod.metadata?.labels ?? {}
  const namespace = pod.metadata?.namespace
  const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller)
  const owners = { ReplicaSet: listers.replicaSets, StatefulSet: listers.statefulSets }
  const lister = owners[owner?.kind as keyof typeof owners] as Lister<ReplicaSet> | undefined
  const selector = lister?.get(namespace, owner?.name ?? '')?.spec?.selector
  const sets = [
    ...listers.services.list(namespace).map((service) => service.spec?.selector),
    owner?.kind === 'ReplicationController'
      ? listers.replicationControllers.get(namespace, owner.name)?.spec?.selector
      : undefined,
  ].filter((set) => selects(set, labels))
  if (selector === undefined && sets.length === 0) return undefined
  return (candidate) => {
    const own = candidate.metadata?.labels ?? {}
    const inSets = sets.every((set) => selects(set, own))
    return inSets && (selector === undefined || podLabelsMatch(selector, own))
  }
}

/** A set of labels as Services have it; none and an empty one select nothing. */
function selects(
  set: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  const wanted = Object.entries(set ?? {})
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value)
}

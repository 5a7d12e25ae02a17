/**
 * The default profile of kube-scheduler, reduced to what others can observe: which node a pod gets, when it is tried again,
 * and what is written. Contract: docs/behaviour/simulation/scheduler.md.
 */
import { deepEqual, resources } from '@gyropilot/api'
import type { Node, Pod, ResourceClaim } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { keyOfDeleted, lastStateOf, yieldIfLong } from '@gyropilot/runtime'
import type { InformerFactory, SeriesEventRecorder } from '@gyropilot/runtime'
import { DeviceClaims, PreBindError } from './devices/device-claims.ts'
import { eventNote } from './event-note.ts'
import { filtersWith } from './filters/index.ts'
import { isAwaited } from './filters/pod-affinity.ts'
import { isCountedFor } from './filters/topology-spread.ts'
import { NodeIndex } from './node-index.ts'
import { NodeSearch } from './node-search.ts'
import { Nominations } from './nominations.ts'
import { Placer } from './placer.ts'
import type { Attempt, Placement, Refusal } from './placer.ts'
import { decideGroup } from './pod-groups/decide-group.ts'
import { PodGroups } from './pod-groups/pod-groups.ts'
import type { TriedGroup } from './pod-groups/pod-groups.ts'
import { PodWrites, SCHEDULER_NAME } from './pod-writes.ts'
import { priorityOf } from './preemption.ts'
import { Preemptor } from './preemptor.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { VolumeBinder } from './volumes/volume-binder.ts'
import type { AssumedVolumes } from './volumes/volume-binder.ts'
import { volumeFilters } from './volumes/volume-filters.ts'

export { SCHEDULER_NAME } from './pod-writes.ts'

/** Of one scheduler under way at a time. */
const MOST_BINDINGS = 8

export interface SchedulerOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly recorder: SeriesEventRecorder
  /** Those that are not named are off. */
  readonly featureGates?: Readonly<Record<string, boolean>>
}

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #queue: SchedulingQueue
  readonly #nodes: NodeIndex
  readonly #volumes: VolumeBinder
  readonly #devices: DeviceClaims
  readonly #preemptor: Preemptor
  readonly #placer: Placer
  readonly #podGroups: PodGroups
  readonly #nominations = new Nominations((pod) => this.#podGroups.isWaiting(pod))
  readonly #writes: PodWrites
  /** Pods with a node that wait for their volumes or devices, by uid. */
  readonly #preparing = new Map<string, AbortController>()
  /** Under way at the server. */
  #bindings = 0
  #bound = Promise.withResolvers<void>()
  #running = false
  #woken = false

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#writes = new PodWrites(options)
    this.#queue = new SchedulingQueue(
      options.clock,
      () => this.#wake(),
      (pod) => this.#devices.isWaiting(pod) || this.#podGroups.isWaiting(pod),
    )
    const { informers, featureGates = {} } = options
    const namespaces = informers.informer(resources.namespaces).lister
    this.#nodes = new NodeIndex((name) => namespaces.get(undefined, name)?.metadata?.labels, {
      comparisonOperators: featureGates['TaintTolerationComparisonOperators'] === true,
    })
    this.#volumes = new VolumeBinder({
      ...options,
      // Whatever happens to claims, volumes or classes may help a pod that waits for its volumes.
      onChange: () => this.#queue.moveAll(),
      nodeNamed: (name) => this.#nodes.get(name)?.node,
    })
    this.#devices = new DeviceClaims(options, () => this.#queue.moveAll())
    const own = filtersWith(volumeFilters(this.#volumes.listers), this.#devices.isServed)
    const search = new NodeSearch([...own, this.#devices.filter], this.#nodes, this.#nominations)
    this.#preemptor = new Preemptor({
      nodes: this.#nodes,
      search,
      nominations: this.#nominations,
      budgets: informers.informer(resources.poddisruptionbudgets).lister,
      writes: this.#writes,
      random: options.random,
      putBack: (uid) => this.#putBack(uid),
    })
    this.#placer = new Placer({
      ...options,
      search,
      nodes: this.#nodes,
      volumes: this.#volumes,
      devices: this.#devices,
      preemptor: this.#preemptor,
      nominations: this.#nominations,
      groups: {
        services: informers.informer(resources.services).lister,
        replicaSets: informers.informer(resources.replicasets).lister,
        statefulSets: informers.informer(resources.statefulsets).lister,
        replicationControllers: informers.informer(resources.replicationcontrollers).lister,
      },
    })
    this.#podGroups = new PodGroups({
      ...options,
      isPlaced: (uid) => this.#nodes.has(uid),
      onChange: (uids) => this.#queue.moveThese(uids),
    })
    informers.informer(resources.nodes).addHandler({
      onAdd: (node) => this.#nodeChanged(node),
      onUpdate: (_, node) => this.#nodeChanged(node),
      onDelete: (gone) => {
        this.#nodes.removeNode(keyOfDeleted(gone))
        // The emptiest domain may have been there.
        this.#queue.moveAll()
      },
    })
    informers.informer(resources.pods).addHandler({
      onAdd: (pod) => this.#podChanged(pod),
      onUpdate: (before, pod) => {
        if (before.metadata?.uid !== pod.metadata?.uid) this.#podRemoved(before)
        this.#podChanged(pod, before)
      },
      onDelete: (gone) => {
        const pod = lastStateOf(gone)
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
        for (const uid of this.#preparing.keys()) this.#giveUp(uid, 'the scheduler stops')
        this.#queue.stop()
        this.#podGroups.stop()
      },
      { once: true },
    )
    this.#wake()
  }

  #nodeChanged(node: Node): void {
    if (this.#nodes.setNode(node)) this.#queue.moveAll()
  }

  #podChanged(pod: Pod, before?: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') {
      this.#podRemoved(pod)
      if (phase === 'Succeeded') this.#podGroups.observe(pod)
      return
    }
    // What others promise their pods holds no room here.
    if (isOurs(pod) && this.#nominations.observe(pod, before)) this.#promiseEnds(before ?? pod)
    const isLeaving = pod.metadata?.deletionTimestamp !== undefined || !isOurs(pod)
    if (pod.spec?.nodeName) {
      this.#queue.remove(uid)
      const takesLess = this.#nodes.place(pod, pod.spec.nodeName)
      this.#tellOfPlaced(pod, before, takesLess)
    } else if (isLeaving || isGated(pod)) {
      this.#queue.remove(uid)
      this.#giveUp(uid)
    } else if (!this.#nodes.has(uid) || this.#queue.has(uid)) {
      // While it is bound too: should that fail, it is tried as it is then. Once it is bound, old news of it is none.
      this.#queue.offer(pod)
    }
    if (isLeaving && !pod.spec?.nodeName) this.#podGroups.drop(uid)
    else this.#podGroups.observe(pod)
  }

  /** Others may have to be where it is, may not be where it is no more the same, or have room where it takes less. */
  #tellOfPlaced(pod: Pod, before: Pod | undefined, takesLess: boolean): void {
    if (!before?.spec?.nodeName)
      this.#queue.moveThose(
        (other) => isAwaited(other, pod, this.#nodes.namespaceLabels) || isCountedFor(other, pod),
      )
    else if (takesLess || !deepEqual(before.metadata?.labels, pod.metadata?.labels))
      this.#queue.moveAll()
  }

  #podRemoved(pod: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    const wasPromised = this.#nominations.drop(pod)
    this.#podGroups.drop(uid)
    this.#queue.remove(uid)
    this.#giveUp(uid)
    if (this.#nodes.unplace(uid)) this.#queue.moveAll()
    else if (wasPromised) this.#promiseEnds(pod)
  }

  /** It kept those away that are not more important, as if it had been there already. */
  #promiseEnds(pod: Pod): void {
    this.#queue.moveThose((other) => priorityOf(other) <= priorityOf(pod))
  }

  #wake(): void {
    if (this.#woken || !this.#running) return
    this.#woken = true
    this.#options.clock.after(0, () => void this.#work())
  }

  /** Tries pods until none is left, however many events woke it; gives others a turn in between. */
  async #work(): Promise<void> {
    for (;;) {
      const pod = this.#running ? this.#queue.take() : undefined
      if (pod === undefined) break
      const group = this.#podGroups.of(pod)
      if (group === undefined) this.#settle(this.#placer.attempt(pod))
      else this.#tryGroup(pod, group)
      // Bindings are work of the server, often in this process: what has begun is done before there is more.
      while (this.#bindings >= MOST_BINDINGS) await this.#bound.promise
      const pause = yieldIfLong(this.#options.clock)
      if (pause !== undefined) await pause
    }
    this.#woken = false
  }

  /** All of the group that wait for a node, in one piece: no other pod comes in between. */
  #tryGroup(first: Pod, group: TriedGroup): void {
    const pods = this.#queue.takeWith(first, group.members)
    const attempts = this.#placer.attemptTogether(pods)
    const { bound, refused, condition } = decideGroup(attempts, group)
    for (const attempt of bound.length > 0 ? [] : attempts)
      if (attempt.kind === 'placed') this.#placer.takeBack(attempt)
    for (const attempt of [...bound, ...refused]) this.#settle(attempt)
    this.#podGroups.say(group, condition)
  }

  #settle(attempt: Attempt): void {
    if (attempt.kind === 'placed') this.#startBinding(attempt)
    else this.#refuse(attempt)
  }

  #startBinding({ pod, node, volumes }: Placement): void {
    if (volumes === undefined) void this.#bind(pod, node)
    else void this.#bindWithVolumes(pod, node, volumes)
  }

  #refuse(refusal: Refusal): void {
    const { pod, reason, message, nomination, room, isDueAnyway } = refusal
    const preemption = room && this.#preemptor.carryOut(pod, room)
    this.#fail(pod, reason, message, nomination, isDueAnyway)
    // Of a victim that stays no event comes.
    void preemption?.then((isDone) => isDone || this.#queue.moveThese([pod.metadata?.uid ?? '']))
  }

  /** A pod that is to go needs neither volumes nor devices any more. */
  #giveUp(uid: string, why = 'the pod is gone'): void {
    this.#preparing.get(uid)?.abort(new GivenUp(why))
  }

  /** A pod that waits for its volumes or devices is tried again instead. False: it does not wait for them. */
  #putBack(uid: string): boolean {
    const preparing = this.#preparing.get(uid)
    preparing?.abort(new PutBack('context canceled'))
    return preparing !== undefined
  }

  /** Others are tried and bound meanwhile, however long it takes. */
  async #bindWithVolumes(pod: Pod, nodeName: string, assumed: AssumedVolumes): Promise<void> {
    const uid = pod.metadata?.uid ?? ''
    const giveUp = new AbortController()
    this.#preparing.set(uid, giveUp)
    let current = pod
    try {
      current = (await this.#writes.nominated(pod, nodeName)) ?? pod
      await this.#volumes.bind(assumed, nodeName, giveUp.signal)
      giveUp.signal.throwIfAborted()
    } catch (error) {
      this.#volumes.forget(assumed)
      this.#devices.release(pod)
      const isBound = this.#forget(uid)
      if (giveUp.signal.reason instanceof GivenUp || isBound) return
      const message = `running PreBind plugin "VolumeBinding": binding volumes: ${errorText(error)}`
      this.#fail(current, 'SchedulerError', message, '')
      return
    } finally {
      this.#preparing.delete(uid)
    }
    await this.#bind(pod, nodeName, current)
  }

  /** `nominated`: the pod with the node in its status already. */
  async #bind(pod: Pod, nodeName: string, nominated?: Pod): Promise<void> {
    const { client, recorder } = this.#options
    const { namespace, name = '', uid = '' } = pod.metadata ?? {}
    this.#bindings++
    let current = nominated
    try {
      if (this.#devices.isNominating(pod))
        current ??= (await this.#writes.nominated(pod, nodeName)) ?? pod
      await this.#untilReady(uid, await this.#devices.bind(pod))
      await client.resource(resources.pods, namespace).createSubresource(name, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { kind: 'Node', name: nodeName },
      } as Pod)
      this.#queue.remove(uid)
      recorder.record({
        regarding: pod,
        type: 'Normal',
        reason: 'Scheduled',
        action: 'Binding',
        note: `Successfully assigned ${namespace}/${name} to ${nodeName}`,
      })
    } catch (error) {
      this.#devices.release(pod)
      const isBound = this.#forget(uid)
      if (isConflict(error))
        this.#options.logger.info('Pod was bound by somebody else', { pod: name })
      if (error instanceof GivenUp || isBound) return
      // What a claim is not found for says nothing of the pod.
      if (isNotFound(error) && !(error instanceof PreBindError)) this.#queue.remove(uid)
      else this.#fail(current ?? pod, 'SchedulerError', bindingFailure(error), current && '')
    } finally {
      this.#bindingEnds()
    }
  }

  /** The pod is not bound where it was put; true: it was seen on a node, by whomever it was bound, and counts there. */
  #forget(uid: string): boolean {
    if (this.#nodes.isSeen(uid)) return true
    if (this.#nodes.unplace(uid)) this.#queue.moveAll()
    return false
  }

  #bindingEnds(): void {
    this.#bindings--
    this.#bound.resolve()
    this.#bound = Promise.withResolvers()
  }

  /** Devices that are made ready are no work of the server: others are bound meanwhile, however long it takes. */
  async #untilReady(uid: string, claims: readonly ResourceClaim[]): Promise<void> {
    const giveUp = new AbortController()
    const ready = this.#devices.whenReady(claims, giveUp.signal)
    if (ready === undefined) return
    this.#preparing.set(uid, giveUp)
    // It went while its claims were written.
    if (!this.#queue.has(uid)) this.#giveUp(uid)
    this.#bindingEnds()
    try {
      await ready
      giveUp.signal.throwIfAborted()
    } finally {
      this.#bindings++
      this.#preparing.delete(uid)
    }
  }

  #fail(
    pod: Pod,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    nomination?: string,
    isDueAnyway: boolean = reason === 'SchedulerError',
  ): void {
    const uid = pod.metadata?.uid ?? ''
    if (isDueAnyway) this.#queue.errored(uid)
    else this.#queue.failed(uid)
    this.#options.recorder.record({
      regarding: pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: eventNote(message),
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

/** Nobody has use for the pod's node any more: nothing is said of it. */
class GivenUp extends Error {}

/** A more important pod has the pod's node. */
class PutBack extends Error {}

function bindingFailure(error: unknown): string {
  if (error instanceof PreBindError) return error.message
  // It was not asked for its volumes any more.
  if (error instanceof PutBack) return `running PreBind plugin "DynamicResources": ${error.message}`
  return `running Bind plugin "DefaultBinder": ${errorText(error)}`
}

function isGated(pod: Pod): boolean {
  return (pod.spec?.schedulingGates ?? []).length > 0
}

function isOurs(pod: Pod): boolean {
  return (pod.spec?.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME
}

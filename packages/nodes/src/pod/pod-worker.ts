/** The life of one pod on one node, from being seen to being gone. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod. */
import { hostPortsOf, podRequests } from '@gyropilot/api'
import type { Container, HostPort, Pod, ResourceAmounts } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { PodBehavior } from '../behavior/behavior.ts'
import { configurationProblem } from './configuration-problem.ts'
import { ContainerRunner } from '../running/container-runner.ts'
import type { Place } from '../container/container-commands.ts'
import { PodStorage } from '../container/pod-storage.ts'
import { GraceTime, graceMsOf } from '../running/grace-time.ts'
import {
  endWaits,
  localContainer,
  localPod,
  rebootedPod,
  restoredPod,
} from '../running/local-pod.ts'
import type { LocalPod } from '../running/local-pod.ts'
import { deletePod } from './pod-deletion.ts'
import { makeSandbox } from './pod-sandbox.ts'
import { PodLimits, hasLimits } from './pod-limits.ts'
import type { LimitPassed } from './pod-limits.ts'
import { PodMounts } from './pod-mounts.ts'
import { placeOf } from './pod-place.ts'
import { PodResizer } from './pod-resizer.ts'
import { grantedPod, resizesOf } from '../running/pod-resize.ts'
import { PodPrograms } from '../running/pod-programs.ts'
import type { NodeServices } from './node-services.ts'
import { podStatusOf } from './pod-status.ts'
import { StatusWriter } from './status-writer.ts'

/** Changes within this time go out in one write, as a kubelet's do between two looks at its runtime. */
const COALESCE_MS = 20
/** How long an address may wait for company before it is written by itself. */
const SANDBOX_WRITE_MS = 1_000

export class PodWorker {
  #requests: ResourceAmounts
  readonly hostPorts: readonly HostPort[]
  readonly #node: NodeServices
  readonly #behavior: PodBehavior
  readonly #local: LocalPod
  readonly #writer: StatusWriter
  readonly #runner: ContainerRunner
  #resizer: PodResizer | undefined
  #storage: PodStorage | undefined
  /** Ends everything at once: the pod object is gone, or the node stops. */
  readonly #life = new AbortController()
  /** Ends the containers' own courses, when termination takes over and with the life. */
  readonly #course = new AbortController()
  readonly #onDone: () => void
  readonly #listeners = new Set<() => void>()
  /** Of the spec that was seen last. */
  #generation: number | undefined
  /** Of its node, until it is done. */
  #addresses: readonly string[] = []
  #terminating = false
  #grace: GraceTime | undefined
  #stopping: Promise<void> | undefined
  #limits: PodLimits | undefined
  #done = false

  constructor(pod: Pod, behavior: PodBehavior, node: NodeServices, onDone: () => void) {
    this.hostPorts = hostPortsOf(pod)
    this.#node = node
    this.#behavior = behavior
    this.#onDone = onDone
    const nowMs = node.clock.nowMs()
    const seenBefore = pod.status?.startTime !== undefined
    const takenUp = node.wasOff ? rebootedPod : restoredPod
    this.#local = seenBefore ? takenUp(pod, nowMs) : localPod(pod, nowMs)
    this.#requests = podRequests(grantedPod(pod, this.#local))
    this.#writer = new StatusWriter(pod, {
      client: node.client,
      clock: node.clock,
      logger: node.logger,
      status: (stored) => podStatusOf(stored, this.#local, node, node.clock.nowMs()),
      onGone: () => this.gone(),
    })
    const { clock } = node
    this.#runner = new ContainerRunner(this.#local, behavior, {
      ...node,
      pod: () => this.#writer.stored,
      programs: new PodPrograms({
        clock,
        logger: node.logger,
        behavior,
        place: (container, containerId) => this.place(container, containerId),
      }),
      configurationProblem: (container) => this.#configurationProblem(container),
      signal: this.#course.signal,
      life: this.#life.signal,
      changed: () => {
        this.#changed()
      },
    })
  }

  /** For as long as it takes: who holds on to nothing afterwards weighs less, and there are many pods. */
  #mounts(): PodMounts {
    const { clock, recorder, references, volumes, lifetime } = this.#node
    return new PodMounts({
      clock,
      recorder,
      references,
      volumes,
      storage: () => this.#files(),
      signal: this.#life.signal,
      lifetime,
      pod: () => this.#writer.stored,
      isEnding: () => this.#terminating || this.#done,
      isDone: () => this.#done,
    })
  }

  /** Made for the first resize: few pods see one. */
  #considerResize(): void {
    if (this.#resizer === undefined && resizesOf(this.#writer.stored, this.#local).size === 0)
      return
    this.#resizer ??= this.#newResizer()
    this.#resizer.consider()
  }

  #newResizer(): PodResizer {
    const { clock, recorder, room } = this.#node
    return new PodResizer(this.#local, {
      clock,
      recorder,
      signal: this.#course.signal,
      pod: () => this.#writer.stored,
      noRoom: (wanted) => room.refusal(wanted),
      restart: (container) =>
        this.#runner.restart(container, `Container ${container.spec.name} resize requires restart`),
      granted: () => {
        this.#requests = podRequests(grantedPod(this.#writer.stored, this.#local))
        room.changed()
      },
      changed: () => this.#changed(),
    })
  }

  #changed(): void {
    this.#writer.schedule(COALESCE_MS)
    this.#notify()
  }

  /** What the pod takes of its node until it is done. */
  get requests(): ResourceAmounts {
    return this.#requests
  }

  /** What runs here, for logs and commands. */
  get local(): LocalPod {
    return this.#local
  }

  get behavior(): PodBehavior {
    return this.#behavior
  }

  /** The pod as stored now. */
  get pod(): Pod {
    return this.#writer.stored
  }

  /** Where commands of a container run. */
  place(container: Container, containerId: string): Place {
    return placeOf(this.#node, this.pod, this.#local, this.#files(), { container, containerId })
  }

  /** Calls back whenever a container changes its state, and when the pod goes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Requests of the pod count on the node until it is done. */
  get done(): boolean {
    return this.#done
  }

  start(): void {
    const pod = this.#writer.stored
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') {
      // What address it had it gave back when it ended: another pod may have it by now.
      this.#finish()
      if (pod.metadata?.deletionTimestamp !== undefined) this.#begin(() => this.#deleteObject())
      return
    }
    this.#hold(this.#local.ips)
    if (pod.metadata?.deletionTimestamp !== undefined) {
      this.update(pod)
    } else {
      this.#begin(() => this.#live())
    }
  }

  /** Refused by the node: Failed, and never started. */
  reject(reason: string, message: string): void {
    const failure = { reason, message: `Pod was rejected: ${message}` }
    Object.assign(this.#local, { failure, isRejected: true })
    this.#node.recorder.record({ regarding: this.#writer.stored, type: 'Warning', reason, message })
    this.#begin(async () => {
      await this.#writer.flush()
      this.#finish()
    })
  }

  update(pod: Pod): void {
    this.#writer.observe(pod)
    if (this.#terminating) this.#grace?.shorten(deletionGraceMs(pod))
    if (pod.metadata?.deletionTimestamp !== undefined && !this.#terminating) {
      this.#terminating = true
      this.#begin(() => this.#terminate(deletionGraceMs(pod)))
    } else if (!this.#done) {
      this.#writer.schedule(COALESCE_MS)
      this.#watchLimits()
      this.#debug(pod)
      if (pod.metadata?.generation !== this.#generation) {
        this.#generation = pod.metadata?.generation
        this.#runner.redefine(pod)
        this.#considerResize()
      }
    }
  }

  /** Since when it has waited for room to be as large as is asked for; undefined: it does not. */
  get deferredSince(): string | undefined {
    if (this.#local.resize.pending === undefined) return undefined
    const { conditions = [] } = this.pod.status ?? {}
    const written = conditions.find(({ type }) => type === 'PodResizePending')
    return written?.lastTransitionTime ?? ''
  }

  /** There may be room now. */
  reconsider(): void {
    if (!this.#terminating && !this.#done) this.#considerResize()
  }

  /** Starts containers that were added for debugging, once the pod runs. */
  #debug(pod: Pod): void {
    const { ephemeral, ips } = this.#local
    if (ips.length === 0 || this.#terminating) return
    for (const spec of pod.spec?.ephemeralContainers ?? []) {
      if (ephemeral.some((known) => known.spec.name === spec.name)) continue
      const container = localContainer(spec as Container, 'ephemeral')
      ephemeral.push(container)
      this.#begin(() => this.#runner.runEphemeral(container))
    }
  }

  /** The pod object is gone: what still runs here is stopped without further writes. */
  gone(): void {
    this.#endLife('pod is gone')
    this.#writer.stop()
    this.#finish()
    this.#onDone()
    this.#notify()
  }

  /** The node stops; containers are taken up again when it comes back. */
  stop(): void {
    this.#endLife('node stops')
    this.#writer.stop()
    this.#notify()
  }

  #endLife(why: string): void {
    const reason = new Error(why)
    this.#life.abort(reason)
    this.#course.abort(reason)
  }

  /** Made for the first who asks: most pods never have a file looked at. */
  #files(): PodStorage {
    this.#storage ??= new PodStorage((volume) => this.#node.volumes.shared(volume))
    return this.#storage
  }

  /** True when the pod is not here any more. */
  get left(): boolean {
    return this.#life.signal.aborted
  }

  #configurationProblem(container: Container): Promise<string | undefined> {
    return configurationProblem(this.#node, this.#writer.stored, container, () => this.#files())
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  #begin(part: () => Promise<void>): void {
    part().catch((error: unknown) => {
      const { signal } = this.#course
      if (this.#life.signal.aborted || (signal.aborted && error === signal.reason)) return
      this.#node.logger.error(error, 'Pod worker failed', { pod: this.#local.uid })
    })
  }

  async #live(): Promise<void> {
    if (!(await this.#prepare())) return
    await this.#runner.runAll()
    if (this.#terminating) return
    if (this.#hasCompany()) await this.#stopContainers(graceMsOf(this.pod))
    await this.#writer.flush()
    this.#finish()
  }

  /** Containers that do not end by themselves when its main ones have. */
  #hasCompany(): boolean {
    const { containers, ephemeral } = this.#local
    return ephemeral.length > 0 || containers.some(({ role }) => role === 'sidecar')
  }

  /** Until its containers may run. False: it is to end first. */
  async #prepare(): Promise<boolean> {
    const { clock } = this.#node
    this.#watchLimits()
    if (this.#local.ips.length === 0) {
      if (this.#local.hasRun) this.#sandboxChanged()
      await this.#writer.flush()
      await this.#mounts().mountAll()
      if (this.#terminating) return false
      await sleep(clock, this.#behavior.sandboxMs, this.#life.signal)
      if (this.#terminating) return false
      if (!(await this.#takeAddresses())) return false
      this.#writer.schedule(SANDBOX_WRITE_MS)
    } else {
      this.#begin(() => this.#mounts().remountAll())
      for (const container of this.#local.ephemeral) {
        this.#begin(() => this.#runner.runEphemeral(container))
      }
    }
    this.#debug(this.#writer.stored)
    this.#considerResize()
    return true
  }

  #sandboxChanged(): void {
    const regarding = this.#writer.stored
    const message = 'Pod sandbox changed, it will be killed and re-created.'
    this.#node.recorder.record({ regarding, type: 'Normal', reason: 'SandboxChanged', message })
  }

  /** False: the pod ended before its node had addresses to give. */
  async #takeAddresses(): Promise<boolean> {
    const isOver = (): boolean => this.#terminating || this.#done
    const addresses = await makeSandbox(this.#node, this.#writer.stored, this.#life.signal, isOver)
    if (addresses === undefined) return false
    this.#local.ips = addresses
    this.#hold(addresses)
    return true
  }

  /** Nobody else gets them, until it is done. */
  #hold(addresses: readonly string[]): void {
    this.#addresses = addresses
    this.#node.addresses.claim(addresses)
  }

  #watchLimits(): void {
    if (!hasLimits(this.pod)) return
    this.#limits ??= new PodLimits({
      local: this.#local,
      clock: this.#node.clock,
      life: this.#life.signal,
      pod: () => this.pod,
      stored: () => this.#storage,
      passed: (limit) => this.#limitPassed(limit),
    })
    this.#limits.watch(this.pod)
  }

  #limitPassed({ type, reason, message, graceMs, isEviction }: LimitPassed): void {
    if (this.#stopping !== undefined || this.#terminating || this.#done) return
    Object.assign(this.#local, { failure: { reason, message }, isEvicted: isEviction })
    this.#node.recorder.record({ regarding: this.pod, type, reason, message })
    this.#begin(async () => {
      await this.#stopContainers(graceMs)
      await this.#writer.flush()
      this.#finish()
    })
  }

  async #terminate(graceMs: number): Promise<void> {
    if (!this.#done) {
      this.#writer.schedule(0)
      await this.#stopContainers(graceMs)
      await this.#writer.flush()
      this.#finish()
    }
    await this.#deleteObject()
  }

  /** Once, whatever ends the pod first: who comes later shortens the grace time at most. */
  #stopContainers(graceMs: number): Promise<void> {
    this.#grace?.shorten(graceMs)
    this.#stopping ??= this.#stopAll(graceMs)
    return this.#stopping
  }

  async #stopAll(graceMs: number): Promise<void> {
    this.#local.ending = true
    this.#course.abort(new Error('pod ends'))
    endWaits(this.#local)
    this.#grace = new GraceTime(this.#node.clock, graceMs)
    await this.#runner.stopAll(this.#grace, this.#life.signal)
  }

  #deleteObject(): Promise<void> {
    const { client, clock, logger } = this.#node
    return deletePod({
      client,
      clock,
      logger,
      signal: this.#life.signal,
      pod: () => this.#writer.stored,
      store: () => this.#writer.flush(),
      gone: () => this.gone(),
    })
  }

  #finish(): void {
    if (this.#done) return
    this.#done = true
    this.#node.volumes.release(this.#local.uid, this.#node.lifetime)
    this.#node.addresses.release(this.#addresses)
    this.#node.room.changed()
  }
}

function deletionGraceMs({ metadata }: Pod): number {
  return Number(metadata?.deletionGracePeriodSeconds ?? 30) * 1000
}

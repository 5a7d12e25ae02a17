/**
 * Brings the actual world to the desired one: a pass looks at the volumes that something happened to, detaches first, then attaches.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Reconcile loop, Verify.
 */
import { compareStrings, sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { Node } from '@gyropilot/api'
import { DelayingQueue, InterruptedByShutdown, parallelize, yieldIfLong } from '@gyropilot/runtime'
import type { EventRecord, Reconcile } from '@gyropilot/runtime'
import {
  allowsMultiAttach,
  isAttachable,
  qualifiedPluginName,
} from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import { ActualWorld } from './actual-world.ts'
import type { Attachment } from './actual-world.ts'
import { GATHERING_MS, PASS_PERIOD_MS, STATUSES_AT_ONCE } from './config.ts'
import type { AttachDetachConfiguration } from './config.ts'
import { detachableOf } from './csi-attachment.ts'
import { DesiredWorld } from './desired-world.ts'
import type { DesiredAttachment } from './desired-world.ts'
import { attachFailedEvents, attachedEvents, refusedEvents } from './events.ts'
import { NO_PLUGIN } from './metrics.ts'
import type { AttachDetachMetrics } from './metrics.ts'
import { attachStep, detachStep } from './next-step.ts'
import type { ForceReason } from './next-step.ts'
import { NodeStatuses } from './node-status.ts'
import { attachVolume, detachVolume, missingAttachments } from './operations.ts'
import type { Surroundings } from './operations.ts'
import { PendingOperations } from './pending-operations.ts'
import type { OperationKey, OperationName } from './pending-operations.ts'
import type { Populator } from './populator.ts'

interface ReconcilerOptions extends Surroundings {
  readonly clock: Clock
  readonly logger: Logger
  readonly configuration: AttachDetachConfiguration
  nodeNamed(name: string): Node | undefined
  /** Runs rules against the world; `subject` says in traces what they are about. */
  perform<R>(subject: string, rules: Reconcile<R>): Promise<R>
  recordEvent(event: EventRecord): void
}

/** A volume that is to leave a node. */
interface Leaving {
  readonly volumeName: string
  readonly nodeName: string
  readonly force: ForceReason | undefined
}

/** Wakes a pass that has no volume to look at, but statuses to write. */
const STATUSES = ''

export class Reconciler {
  readonly desired: DesiredWorld
  readonly actual: ActualWorld
  readonly #options: ReconcilerOptions
  readonly #pending = new PendingOperations()
  /** Unique names of volumes that are to be looked at, some of them later. */
  readonly #queue: DelayingQueue
  readonly #statuses: NodeStatuses
  readonly #running = new Set<Promise<void>>()
  #metrics: AttachDetachMetrics | undefined

  constructor(options: ReconcilerOptions) {
    const { clock, logger, nodeNamed, perform } = options
    this.#options = options
    this.#queue = new DelayingQueue({ clock })
    const touch = (volumeName: string): void => this.#queue.add(volumeName)
    this.desired = new DesiredWorld(touch)
    this.actual = new ActualWorld(touch)
    this.#statuses = new NodeStatuses({
      actual: this.actual,
      clock,
      nodeNamed,
      perform: (rules) => perform('', rules),
      onError: (error, node) => logger.error(error, 'Could not update node status', { node }),
    })
  }

  /** Before anything runs. */
  countIn(metrics: AttachDetachMetrics): void {
    this.#metrics = metrics
  }

  /** What nodes were told is to be told anew. */
  nodeStatusNeeded(nodeName: string): void {
    this.actual.statusNeeded(nodeName)
    if (this.actual.isChanged(nodeName)) this.#queue.add(STATUSES)
  }

  /** The node is gone: what is still attached to it will be detached. */
  nodeGone(nodeName: string): void {
    this.desired.forget(nodeName)
    this.#statuses.forget(nodeName)
  }

  /** Resolves when `signal` aborted and every operation has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.shutDown()
    signal.addEventListener('abort', stop, { once: true })
    const pause = (forMs: number): Promise<void> =>
      sleep(this.#options.clock, forMs, signal).catch(() => {})
    while (!signal.aborted) {
      const first = await this.#queue.get()
      if (first === undefined) break
      await pause(GATHERING_MS)
      if (signal.aborted) break
      await this.#passOver(this.#touched(first.key))
      await pause(PASS_PERIOD_MS - GATHERING_MS)
    }
    await Promise.all(this.#running)
  }

  /** Sorted. */
  #touched(first: string): readonly string[] {
    const volumeNames = [first]
    this.#queue.done(first)
    for (let item = this.#queue.take(); item !== undefined; item = this.#queue.take()) {
      volumeNames.push(item.key)
      this.#queue.done(item.key)
    }
    return [...new Set(volumeNames)].toSorted(compareStrings)
  }

  async #passOver(volumeNames: readonly string[]): Promise<void> {
    try {
      await this.#pass(volumeNames)
    } catch (error) {
      if (error instanceof InterruptedByShutdown) return
      this.#options.logger.error(error, 'The volumes could not be looked at')
      for (const volumeName of volumeNames) this.#queue.addAfter(volumeName, PASS_PERIOD_MS)
    }
  }

  async #pass(volumeNames: readonly string[]): Promise<void> {
    const leaving: Leaving[] = []
    for (const volumeName of volumeNames) {
      for (const attachment of this.actual.attachmentsOf(volumeName)) {
        if (this.desired.get(volumeName, attachment.nodeName) !== undefined) continue
        const step = this.#detachStep(attachment)
        if (step !== undefined) leaving.push(step)
      }
      await yieldIfLong(this.#options.clock)
    }
    if (leaving.length > 0) await this.#detach(leaving)
    for (const volumeName of volumeNames) {
      for (const wanted of this.desired.attachmentsOf(volumeName)) this.#attach(volumeName, wanted)
      await yieldIfLong(this.#options.clock)
    }
    // One after the other: what is attached meanwhile needs no write of its own.
    await this.#writeStatuses(this.actual.changedNodes(), 1)
    if (this.actual.changedNodes().length > 0) this.#queue.addAfter(STATUSES, PASS_PERIOD_MS)
  }

  /** Detach, 1. to 4.; undefined: not now. */
  #detachStep(attachment: Attachment): Leaving | undefined {
    const { volumeName, nodeName } = attachment
    const { clock, configuration, nodeNamed } = this.#options
    const key = this.#lockOf(volumeName, nodeName, this.actual.specOf(volumeName))
    if (this.#isHeldUp(key, 'volume_detach')) return undefined
    const nowMs = clock.monotonicMs()
    const step = detachStep(attachment, {
      nowMs,
      requestedMs: this.actual.requestDetach(volumeName, nodeName, nowMs),
      node: nodeNamed(nodeName),
      isTimeoutForced: !configuration.disableForceDetachOnTimeout,
    })
    if (step.kind === 'wait') {
      if (step.untilMs !== undefined) this.#queue.addAfter(volumeName, step.untilMs - nowMs)
      return undefined
    }
    // 7. Nobody could carry it out: the node goes on being told.
    return detachableOf(volumeName) && { volumeName, nodeName, force: step.force }
  }

  /** Detach, 5. to 7.: a node is told once of all that leave it. */
  async #detach(leaving: readonly Leaving[]): Promise<void> {
    const told = new Set(
      leaving.filter(({ volumeName, nodeName }) => this.actual.unreport(volumeName, nodeName)),
    )
    const nodeNames = [...new Set(leaving.map(({ nodeName }) => nodeName))]
    const failed = await this.#writeStatuses(nodeNames, STATUSES_AT_ONCE)
    for (const each of leaving) {
      const { volumeName, nodeName } = each
      const key = this.#lockOf(volumeName, nodeName, this.actual.specOf(volumeName))
      const isNeeded = this.desired.get(volumeName, nodeName) !== undefined
      if (failed.has(nodeName) || isNeeded || this.#isHeldUp(key, 'volume_detach')) {
        if (told.has(each)) this.actual.report(volumeName, nodeName)
        this.#queue.addAfter(volumeName, PASS_PERIOD_MS)
      } else this.#startDetach(key, each)
    }
  }

  #startDetach(key: OperationKey, { volumeName, nodeName, force }: Leaving): void {
    const { logger } = this.#options
    const spec = this.actual.specOf(volumeName)
    if (force !== undefined) this.#metrics?.forced(force)
    const rules = detachVolume(volumeName, nodeName, force !== undefined, this.#options)
    this.#start(key, 'volume_detach', nodeName, spec, rules, (reason) => {
      if (reason === undefined) {
        this.actual.detached(volumeName, nodeName)
        return
      }
      logger.error(new Error(reason), 'DetachVolume.Detach failed', {
        volume: volumeName,
        node: nodeName,
      })
      this.actual.uncertain(volumeName, nodeName)
    })
  }

  /** Attach, 1. to 4. */
  #attach(volumeName: string, wanted: DesiredAttachment): void {
    const { nodeName, spec } = wanted
    const key = this.#lockOf(volumeName, nodeName, spec)
    if (this.#pending.isRunning(key)) return
    const attachments = this.actual.attachmentsOf(volumeName)
    const step = attachStep(wanted, attachments, allowsMultiAttach(spec))
    if (step === 'attached') this.actual.withdrawDetach(volumeName, nodeName)
    if (step === 'refused') this.#refuse(volumeName, wanted)
    if (step !== 'attach' || this.#isHeldUp(key, 'volume_attach')) return
    const told = { spec, pods: new Map(wanted.pods) }
    const rules = attachVolume(spec, nodeName, this.#options)
    this.#start(key, 'volume_attach', nodeName, spec, rules, (reason) => {
      if (reason === undefined) {
        this.actual.attached(volumeName, nodeName, spec)
        this.#tell(attachedEvents(told))
        return
      }
      this.actual.uncertain(volumeName, nodeName, spec)
      this.desired.attachFailed(volumeName, nodeName, this.#options.clock.monotonicMs())
      this.#tell(attachFailedEvents(told, reason))
    })
  }

  #refuse(volumeName: string, wanted: DesiredAttachment): void {
    if (wanted.isRefusalTold) return
    const users = this.actual
      .nodesHolding(volumeName)
      .flatMap((nodeName) => [...(this.desired.get(volumeName, nodeName)?.pods.values() ?? [])])
    this.#tell(refusedEvents(wanted, users))
    this.desired.refusalTold(volumeName, wanted.nodeName)
  }

  /** Whether it runs, or waits until it may be tried again: then the volume is looked at again at that time. */
  #isHeldUp(key: OperationKey, name: OperationName): boolean {
    if (this.#pending.isRunning(key)) return true
    const nowMs = this.#options.clock.monotonicMs()
    const atMs = this.#pending.retryAtMs(key, name, nowMs)
    if (atMs === undefined) return false
    this.#queue.addAfter(key.volumeName, atMs - nowMs)
    return true
  }

  /** `onEnd` is told why it failed; undefined: it has not. */
  #start(
    key: OperationKey,
    name: OperationName,
    nodeName: string,
    spec: VolumeSpec | undefined,
    rules: Reconcile<string | undefined>,
    onEnd: (reason: string | undefined) => void,
  ): void {
    const { clock, logger, perform } = this.#options
    const { volumeName } = key
    this.#pending.start(key, name)
    const startMs = clock.monotonicMs()
    const run = async (): Promise<void> => {
      let reason: string | undefined
      try {
        reason = await perform(`${volumeName} ${nodeName}`, rules)
      } catch (error) {
        if (error instanceof InterruptedByShutdown) return
        logger.error(error, 'The rules failed', { volume: volumeName, node: nodeName })
        reason = String(error)
      }
      const endMs = clock.monotonicMs()
      if (reason === undefined) this.#pending.succeeded(key)
      else this.#pending.failed(key, endMs)
      const plugin = spec === undefined ? pluginOf(volumeName) : qualifiedPluginName(spec)
      const isMigrated = spec?.isMigrated === true
      const isDone = reason === undefined
      this.#metrics?.operationEnded({ plugin, name, isMigrated }, isDone, endMs - startMs)
      onEnd(reason)
      this.#queue.add(volumeName)
    }
    const running = run().finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Looks whether what counts as attached is: what is not counts as detached, and is attached again where it is needed. */
  async verify({ driverNamed }: Pick<Populator, 'driverNamed'>): Promise<void> {
    const { clock, perform } = this.#options
    const hasDriver = (spec: VolumeSpec): boolean => isAttachable(spec, driverNamed)
    for (const nodeName of this.actual.nodeNames()) {
      const specs = this.#verifiable(nodeName)
      if (specs.length === 0) continue
      const startMs = clock.monotonicMs()
      const rules = missingAttachments(nodeName, specs, hasDriver, this.#options)
      const missing = await perform(nodeName, rules)
      const operation = { plugin: NO_PLUGIN, name: 'verify_volumes_are_attached_per_node' }
      const tookMs = clock.monotonicMs() - startMs
      this.#metrics?.operationEnded({ ...operation, isMigrated: false }, true, tookMs)
      for (const { uniqueName } of missing)
        if (this.#isVerifiable(uniqueName, nodeName)) this.actual.detached(uniqueName, nodeName)
      await yieldIfLong(this.#options.clock)
    }
  }

  #verifiable(nodeName: string): readonly VolumeSpec[] {
    return [...this.actual.volumesOf(nodeName)]
      .filter((volumeName) => this.#isVerifiable(volumeName, nodeName))
      .flatMap((volumeName) => this.actual.specOf(volumeName) ?? [])
  }

  /** What an operation is at work at says nothing. */
  #isVerifiable(volumeName: string, nodeName: string): boolean {
    const key = this.#lockOf(volumeName, nodeName, this.actual.specOf(volumeName))
    return (
      this.actual.get(volumeName, nodeName)?.isConfirmed === true && !this.#pending.isRunning(key)
    )
  }

  /** Answers those that could not be written. */
  async #writeStatuses(nodeNames: readonly string[], atOnce: number): Promise<ReadonlySet<string>> {
    const failed = new Set<string>()
    await parallelize(atOnce, nodeNames.length, async (index) => {
      const nodeName = nodeNames[index]!
      if (!(await this.#statuses.write(nodeName))) failed.add(nodeName)
    })
    return failed
  }

  #lockOf(volumeName: string, nodeName: string, spec: VolumeSpec | undefined): OperationKey {
    return allowsMultiAttach(spec) ? { volumeName, nodeName } : { volumeName }
  }

  #tell(events: readonly EventRecord[]): void {
    for (const event of events) this.#options.recordEvent(event)
  }
}

function pluginOf(volumeName: string): string {
  const found = detachableOf(volumeName)
  const plugin = volumeName.split('/').slice(0, 2).join('/')
  return found?.kind === 'csi' ? `${plugin}:${found.csi.driver}` : plugin
}

import { resources } from '@gyropilot/api'
import type { Node, Pod, Taint, TolerationOptions } from '@gyropilot/api'
import {
  InterruptedByShutdown,
  WorkQueue,
  interpret,
  runWorkers,
  yieldIfLong,
} from '@gyropilot/runtime'
import type { ControllerContext, EventRecorder, Informer } from '@gyropilot/runtime'
import type { HandlerRegistration, RunnableController } from '@gyropilot/runtime'
import { podsOnNode } from '../node-support/pods-on-node.ts'
import { NODE_QUEUE, POD_QUEUE } from './config.ts'
import { cancelling } from './events.ts'
import { evictPod } from './evict-pod.ts'
import type { PodIdentity } from './evict-pod.ts'
import { EvictionTimers } from './eviction-timers.ts'
import { evictionMetrics } from './metrics.ts'
import type { EvictionMetrics } from './metrics.ts'
import { noExecuteTaints, stayingTimeSeconds } from './toleration-time.ts'
import { itemOfKey, nodeHandler, podHandler } from './watches.ts'
import type { PodConcerns } from './watches.ts'

/**
 * Judges pods when their tolerations or their node's taints change, and keeps a timer for each pod that may stay for a while.
 * Judging waits for nothing, so that one worker for each queue is enough; deletions run beside it.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md.
 */
export class TaintEviction implements RunnableController {
  readonly #context: ControllerContext
  readonly #options: TolerationOptions
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #podsOnNode: (nodeName: string) => readonly Pod[]
  readonly #nodeQueue: WorkQueue
  readonly #podQueue: WorkQueue
  readonly #registrations: readonly HandlerRegistration[]
  readonly #recorder: EventRecorder
  readonly #metrics: EvictionMetrics
  readonly #timers: EvictionTimers
  /** Of nodes that have any, as they were last judged. */
  readonly #taints = new Map<string, readonly Taint[]>()

  constructor(context: ControllerContext, options: TolerationOptions) {
    const { informers, clock, metrics } = context
    this.#context = context
    this.#options = options
    this.#pods = informers.informer(resources.pods)
    this.#nodes = informers.informer(resources.nodes)
    this.#podsOnNode = podsOnNode(informers)
    this.#nodeQueue = new WorkQueue({ clock, metrics, name: NODE_QUEUE })
    this.#podQueue = new WorkQueue({ clock, metrics, name: POD_QUEUE })
    this.#recorder = context.recorder(context.name)
    this.#metrics = evictionMetrics(metrics)
    this.#timers = new EvictionTimers(clock)
    this.#registrations = [
      this.#pods.addHandler(podHandler(this.#concerns(), (key) => this.#podQueue.add(key))),
      this.#nodes.addHandler(nodeHandler((key) => this.#nodeQueue.add(key))),
    ]
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      this.#nodeQueue.shutDown()
      this.#podQueue.shutDown()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      const synced = await Promise.all(
        this.#registrations.map((registration) => registration.whenSynced(signal)),
      )
      if (synced.every((done) => done)) await this.#work(signal)
    } finally {
      stop()
      for (const registration of this.#registrations) registration.remove()
      await this.#timers.shutDown()
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#context
    const workers = { count: 1, clock, logger, signal }
    await Promise.all([
      runWorkers({
        ...workers,
        queue: this.#nodeQueue,
        work: ({ key }) => this.#syncNode(key, signal),
      }),
      runWorkers({
        ...workers,
        queue: this.#podQueue,
        work: ({ key }) =>
          this.#nodeQueue.length === 0
            ? this.#syncPod(key, signal)
            : this.#syncPodAfterNodes(key, signal),
      }),
    ])
  }

  #concerns(): PodConcerns {
    return {
      hasNoExecuteTaints: (nodeName) => {
        const node = this.#nodes.lister.get(undefined, nodeName)
        return node !== undefined && noExecuteTaints(node).length > 0
      },
      isWaiting: (namespace, name) =>
        !this.#timers.isEmpty && this.#timers.pendingUid(`${namespace}/${name}`) !== undefined,
    }
  }

  /** A pod is judged by what is known of nodes by now. Of a large cluster that comes up, these are all nodes with all their pods. */
  async #syncPodAfterNodes(key: string, signal: AbortSignal): Promise<void> {
    for (let item = this.#nodeQueue.take(); item !== undefined; item = this.#nodeQueue.take()) {
      this.#syncNode(item.key, signal)
      this.#nodeQueue.done(item.key)
      await yieldIfLong(this.#context.clock)
    }
    this.#syncPod(key, signal)
  }

  #syncNode(nodeName: string, signal: AbortSignal): void {
    if (signal.aborted) return
    const node = this.#nodes.lister.get(undefined, nodeName)
    // 1.
    if (node === undefined) {
      this.#taints.delete(nodeName)
      return
    }
    // 2.
    const taints = noExecuteTaints(node)
    if (taints.length === 0) this.#taints.delete(nodeName)
    else this.#taints.set(nodeName, taints)
    // 3. Most nodes of most clusters: there is nothing to be cancelled.
    if (taints.length === 0 && this.#timers.isEmpty) return
    // 3.-5.
    for (const pod of this.#podsOnNode(nodeName)) {
      const { namespace = '', name = '' } = pod.metadata ?? {}
      if (taints.length === 0) this.#cancel(namespace, name)
      else this.#evaluate(pod, taints, signal)
    }
  }

  #syncPod(key: string, signal: AbortSignal): void {
    if (signal.aborted) return
    const { namespace, name, nodeName } = itemOfKey(key)
    const pod = this.#pods.lister.get(namespace, name)
    // 1.
    if (pod === undefined) {
      this.#cancel(namespace, name)
      return
    }
    this.#cancelFormer(namespace, name, pod.metadata?.uid)
    // 2. The pod of another node has an item of its own.
    if (!pod.spec?.nodeName || pod.spec.nodeName !== nodeName) return
    // 3.
    const taints = this.#taints.get(nodeName)
    // 4.
    if (taints !== undefined) this.#evaluate(pod, taints, signal)
  }

  #evaluate(pod: Pod, taints: readonly Taint[], signal: AbortSignal): void {
    const { namespace = '', name = '', uid = '' } = pod.metadata ?? {}
    this.#cancelFormer(namespace, name, uid)
    // 1., 3.
    const seconds = stayingTimeSeconds(taints, pod.spec?.tolerations, this.#options)
    // 2., 4.
    if (seconds === undefined || seconds === Infinity) this.#cancel(namespace, name)
    if (seconds === Infinity) return
    // 5.-6. A timer that waits is left as it is.
    this.#startEviction({ namespace, name, uid }, (seconds ?? 0) * 1000, signal)
  }

  #startEviction(pod: PodIdentity, delayMs: number, signal: AbortSignal): void {
    const { clock } = this.#context
    const dueMs = clock.monotonicMs() + delayMs
    this.#timers.start(`${pod.namespace}/${pod.name}`, pod.uid, delayMs, () =>
      this.#evict(pod, dueMs, signal),
    )
  }

  async #evict(identity: PodIdentity, dueMs: number, signal: AbortSignal): Promise<void> {
    const { client, clock, logger, trace, name: controller } = this.#context
    const pod = `${identity.namespace}/${identity.name}`
    logger.info('Deleting the pod because of a taint', { pod })
    try {
      const error = await interpret(evictPod(identity), {
        client,
        clock,
        recordEvent: (event) => this.#recorder.record(event),
        signal,
        onEffect: trace && ((effect, outcome) => trace.effect(controller, pod, effect, outcome)),
      })
      if (error === undefined) this.#metrics.deleted(clock.monotonicMs() - dueMs)
      else logger.error(error, 'The pod could not be deleted', { pod })
    } catch (error) {
      if (!(error instanceof InterruptedByShutdown))
        logger.error(error, 'The rules failed', { pod })
    }
  }

  /** What waits for a pod that had this name before: its end is over. */
  #cancelFormer(namespace: string, name: string, uid: string | undefined): void {
    const waiting = this.#timers.pendingUid(`${namespace}/${name}`)
    if (waiting !== undefined && waiting !== uid) this.#cancel(namespace, name)
  }

  #cancel(namespace: string, name: string): void {
    if (!this.#timers.cancel(`${namespace}/${name}`)) return
    this.#context.logger.info('Cancelling the deletion of the pod', { pod: `${namespace}/${name}` })
    this.#recorder.record(cancelling(namespace, name))
  }
}

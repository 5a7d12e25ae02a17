import { keyOf, resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { InterruptedByShutdown, inTurns, interpret } from '@gyropilot/runtime'
import type { ControllerContext, Informer, Reconcile, RunnableController } from '@gyropilot/runtime'
import { Candidates, beyondThreshold, inDeletionOrder } from './candidates.ts'
import { SCAN_PERIOD_MS } from './config.ts'
import { deletePod } from './delete-pod.ts'
import { deletedNodes } from './deleted-nodes.ts'
import { deletionMetrics } from './metrics.ts'
import type { DeletionMetrics, DeletionReason } from './metrics.ts'
import { NodeQuarantine } from './node-quarantine.ts'

/**
 * Looks at all pods every 20 s and deletes those that nothing else will remove. It has no key per
 * pod: an error waits for the next scan.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md.
 */
export class PodGarbageCollector implements RunnableController {
  readonly #context: ControllerContext
  readonly #threshold: number
  readonly #logger: Logger
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #quarantine: NodeQuarantine
  readonly #metrics: DeletionMetrics

  constructor(context: ControllerContext, terminatedPodThreshold: number) {
    this.#context = context
    this.#threshold = terminatedPodThreshold
    this.#logger = context.logger
    this.#pods = context.informers.informer(resources.pods)
    this.#nodes = context.informers.informer(resources.nodes)
    this.#quarantine = new NodeQuarantine(context.clock, context.metrics)
    this.#metrics = deletionMetrics(context.metrics)
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      const synced = await Promise.all([
        this.#pods.whenSynced(signal),
        this.#nodes.whenSynced(signal),
      ])
      if (!synced.every((done) => done)) return
      for (;;) {
        await this.#scan(signal)
        await sleep(this.#context.clock, SCAN_PERIOD_MS, signal)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.#quarantine.shutDown()
    }
  }

  async #scan(signal: AbortSignal): Promise<void> {
    const nodes = new Map(
      this.#nodes.lister.list().map((node) => [node.metadata?.name ?? '', node] as const),
    )
    const candidates = new Candidates(nodes)
    const { finished, outOfService, orphans, unscheduled } = candidates
    await inTurns(this.#context.clock, this.#pods.lister.list(), (pod) => candidates.look(pod))
    // 1.
    await this.#deleteAtOnce(beyondThreshold(finished, this.#threshold), 'terminated', signal)
    // 2.
    await this.#deleteAtOnce(inDeletionOrder(outOfService), 'out-of-service', signal)
    // 3.
    for (const nodeName of orphans.keys()) this.#quarantine.enter(nodeName)
    const deleted = await this.#interpret(
      'nodes',
      deletedNodes(this.#quarantine.leave(), nodes),
      signal,
    )
    for (const nodeName of deleted)
      for (const pod of orphans.get(nodeName) ?? []) await this.#delete(pod, 'orphaned', signal)
    // 4.
    for (const pod of unscheduled) await this.#delete(pod, 'unscheduled', signal)
  }

  async #deleteAtOnce(
    pods: readonly Pod[],
    reason: DeletionReason,
    signal: AbortSignal,
  ): Promise<void> {
    // Also when the process stops: what was started is waited for.
    await Promise.allSettled(pods.map((pod) => this.#delete(pod, reason, signal)))
    signal.throwIfAborted()
  }

  async #delete(pod: Pod, reason: DeletionReason, signal: AbortSignal): Promise<void> {
    const namespace = pod.metadata?.namespace ?? ''
    const details = { pod: keyOf(pod), reason }
    this.#logger.verbosity(2).info('Deleting the pod by force', details)
    this.#metrics.attempted(namespace, reason)
    const rules = deletePod(pod, { isOrphan: reason === 'orphaned' })
    const error = await this.#interpret(keyOf(pod), rules, signal).catch((thrown: unknown) => {
      if (thrown instanceof InterruptedByShutdown) throw thrown
      return thrown
    })
    if (error === undefined) return
    this.#metrics.failed(namespace, reason)
    this.#logger.error(error, 'The pod could not be deleted by force', details)
  }

  async #interpret<R>(key: string, rules: Reconcile<R>, signal: AbortSignal): Promise<R> {
    const { client, clock, trace, name } = this.#context
    return interpret(rules, {
      client,
      clock,
      recordEvent() {},
      signal,
      onEffect: trace && ((effect, outcome) => trace.effect(name, key, effect, outcome)),
    })
  }
}

import { defaultBackoff, isConflict, isInvalid, retryOnError } from '@gyropilot/client'
import { withDeadline } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { InterruptedByShutdown, SharedReads, interpret, runWorkers } from '@gyropilot/runtime'
import type {
  ControllerContext,
  DebugPage,
  EventRecorder,
  QueueItem,
  Reason,
  Reconcile,
  RunnableController,
  WorkQueue,
} from '@gyropilot/runtime'
import { EventQueue } from '../monitor-support/event-queue.ts'
import { AbsentOwners } from './graph/absent-owners.ts'
import { attemptToDelete } from './attempt-to-delete.ts'
import type { Checked, Collector } from './attempt-to-delete.ts'
import { attemptToOrphan } from './attempt-to-orphan.ts'
import {
  ABSENT_OWNERS_MAX,
  DELETE_QUEUE,
  EVENT_COMPONENT,
  FOREGROUND_FINALIZER,
  GRAPH_CHANGES_QUEUE,
  MONITOR_SYNC_TIMEOUT_MS,
  ORPHANED_OWNERS_MAX,
  ORPHAN_FINALIZER,
  ORPHAN_QUEUE,
} from './config.ts'
import { DependencyGraph } from './graph/dependency-graph.ts'
import type { GraphEvent } from './graph/dependency-graph.ts'
import { DiscoverySync } from './kinds/discovery-sync.ts'
import { foreignOwnerEvent } from './graph/events.ts'
import type { GraphNode } from './graph/graph-node.ts'
import { graphvizOf } from './graph/graphviz.ts'
import { identityText } from './graph/identity.ts'
import { UnknownKindError } from './live-metadata.ts'
import { resourcesSyncErrors } from './metrics.ts'
import { GraphMonitors } from './kinds/monitors.ts'
import { NodeQueue } from './graph/node-queue.ts'
import { OrphanedOwners } from './orphaned-owners.ts'
import { removeFinalizer } from './remove-finalizer.ts'
import type { RemovalOptions } from './remove-finalizer.ts'
import { Looks } from './unseen-dependents.ts'

/** What came of one run over a node. */
interface Worked {
  /** To be looked at again, with the rate limit of the queue. */
  readonly again: boolean
  readonly error?: unknown
}

/**
 * Three queues around one graph: informers fill the first, one worker takes it into the graph, and what the graph asks for
 * goes to the other two, whose workers write. Nothing but that one worker changes the graph.
 * Contract: docs/behaviour/controllers/garbage-collector-controller.md.
 */
export class GarbageCollector implements RunnableController {
  readonly graph: DependencyGraph
  readonly #context: ControllerContext
  readonly #workers: number
  readonly #logger: Logger
  readonly #recorder: EventRecorder
  readonly #changes: EventQueue<GraphEvent>
  readonly #toDelete: NodeQueue
  readonly #toOrphan: NodeQueue
  readonly #monitors: GraphMonitors
  readonly #discovery: DiscoverySync
  readonly #collector: Collector
  readonly #sharedReads = new SharedReads()

  constructor(context: ControllerContext, workers: number) {
    const { client, clock, logger, metrics } = context
    this.#context = context
    this.#workers = workers
    this.#logger = logger
    this.#recorder = context.recorder(EVENT_COMPONENT)
    const absentOwners = new AbsentOwners(ABSENT_OWNERS_MAX)
    this.graph = new DependencyGraph(absentOwners)
    this.#changes = new EventQueue({ clock, metrics, name: GRAPH_CHANGES_QUEUE })
    this.#toDelete = new NodeQueue({ clock, metrics, name: DELETE_QUEUE })
    this.#toOrphan = new NodeQueue({ clock, metrics, name: ORPHAN_QUEUE })
    this.#monitors = new GraphMonitors(context.metadataInformers, (event) =>
      this.#changes.add(event),
    )
    const failures = resourcesSyncErrors(metrics)
    this.#discovery = new DiscoverySync({
      client,
      clock,
      logger,
      monitors: this.#monitors,
      failures,
    })
    this.#collector = {
      graph: this.graph,
      absentOwners,
      typeOf: this.#discovery.typeOf,
      cached: (type, namespace, name) => this.#monitors.cached(type, namespace, name),
      cachedIn: (type, namespace) => this.#monitors.cachedIn(type, namespace),
      seenVersion: (type) => this.#monitors.seenVersion(type),
      looks: new Looks(),
      orphanedOwners: new OrphanedOwners(ORPHANED_OWNERS_MAX),
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const queues = [this.#changes, this.#toDelete, this.#toOrphan]
    const stop = (): void => queues.forEach((queue) => queue.shutDown())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    await this.#context.informersStarted
    await Promise.all([
      runWorkers({
        count: 1,
        clock: this.#context.clock,
        signal,
        logger: this.#logger,
        queue: this.#changes,
        work: ({ event }) => this.#takeIn(event),
      }),
      this.#discovery.run(signal),
      this.#collect(signal),
    ])
  }

  /** `/graph`, with `uid=` repeated for parts of it. */
  debug(path: string, query: URLSearchParams): DebugPage | undefined {
    if (path !== '/graph') return undefined
    return { contentType: 'text/vnd.graphviz', body: this.graphviz(query.getAll('uid')) }
  }

  /** The part of the graph around these uids, or all of it, as Graphviz text (media type `text/vnd.graphviz`). */
  graphviz(uids: readonly string[] = []): string {
    return graphvizOf(this.graph, uids)
  }

  /** A monitor that never syncs must not keep all others from being collected. */
  async #collect(signal: AbortSignal): Promise<void> {
    const deadline = withDeadline(this.#context.clock, MONITOR_SYNC_TIMEOUT_MS, signal)
    const synced = await this.#monitors.whenFirstSynced(deadline.signal)
    deadline.dispose()
    if (signal.aborted) return
    this.#logger.info(
      synced
        ? 'All resource monitors have synced, proceeding to collect garbage'
        : 'Not all resource monitors could be synced, proceeding anyways',
    )
    await Promise.all([
      this.#runWorkers(this.#workers, signal, this.#toDelete, (item) =>
        this.#workOn(item, this.#toDelete, 'delete', signal, (node, key) =>
          this.#delete(node, key, signal),
        ),
      ),
      this.#runWorkers(this.#workers, signal, this.#toOrphan, (item) =>
        this.#workOn(item, this.#toOrphan, 'orphan', signal, (node, key) =>
          this.#orphan(node, key, signal),
        ),
      ),
    ])
  }

  #runWorkers(
    count: number,
    signal: AbortSignal,
    queue: WorkQueue,
    work: (item: QueueItem) => Promise<void> | void,
  ): Promise<void> {
    const { clock } = this.#context
    return runWorkers({ count, clock, signal, logger: this.#logger, queue, work })
  }

  #takeIn(event: GraphEvent): void {
    const { check, checkLater, orphan, foreignOwners } = this.graph.process(event)
    const reason = this.#reasonOf(event)
    for (const foreign of foreignOwners) this.#recorder.record(foreignOwnerEvent(foreign))
    for (const node of orphan) this.#toOrphan.addNode(node, reason)
    for (const node of check) this.#toDelete.addNode(node, reason)
    for (const node of checkLater) this.#toDelete.addNodeRateLimited(node, reason)
  }

  /** Reasons are kept only where somebody asks for them. */
  #reasonOf({ kind, identity }: GraphEvent): Reason | undefined {
    if (this.#context.trace === undefined) return undefined
    const cause = kind === 'virtual-delete' ? 'delete' : kind
    return { cause, object: identityText(identity) }
  }

  /** Hands a node to `work`. Rules that throw are a defect of theirs: logged, and the node is tried again. */
  async #workOn(
    item: QueueItem,
    queue: NodeQueue,
    verb: 'delete' | 'orphan',
    signal: AbortSignal,
    work: (node: GraphNode, key: string) => Promise<Worked>,
  ): Promise<void> {
    const { trace, name } = this.#context
    if (signal.aborted) return
    const node = queue.node(item.key)
    const key = `${verb} ${identityText(node.identity)}`
    trace?.started(name, key, item.reasons)
    const worked = await work(node, key).catch((error: unknown): Worked | undefined => {
      if (error instanceof InterruptedByShutdown || signal.aborted) return undefined
      return { again: true, error }
    })
    trace?.finished(name, key, worked ?? { interrupted: true })
    if (worked === undefined) return
    if (worked.error !== undefined) this.#report(key, worked.error)
    if (worked.again) queue.addNodeRateLimited(node)
    else queue.forget(node.id)
  }

  async #delete(node: GraphNode, key: string, signal: AbortSignal): Promise<Worked> {
    const rules = attemptToDelete(node, this.#collector)
    const checked: Checked = await this.#interpret(key, rules, signal)
    switch (checked.next) {
      case 'forget':
        return { again: false }
      case 'absent':
        this.#changes.add({ kind: 'virtual-delete', identity: node.identity })
        return { again: false }
      case 'later':
        return { again: true }
      case 'retry':
        return { again: true, error: checked.error }
      case 'remove-finalizer': {
        const error = await this.#removeFinalizer(node, FOREGROUND_FINALIZER, key, signal, {
          live: checked.live,
        })
        return { again: error !== undefined, error }
      }
      case 'check-dependents':
        for (const dependent of checked.dependents) this.#toDelete.addNode(dependent)
        return { again: node.isVirtual }
      case 'done':
        // Until an informer shows it, or it is found absent, a virtual node is polled: no event may ever come.
        return { again: node.isVirtual }
    }
  }

  async #orphan(node: GraphNode, key: string, signal: AbortSignal): Promise<Worked> {
    const orphaned = await this.#interpret(key, attemptToOrphan(node, this.#collector), signal)
    if (orphaned.next === 'later') return { again: true }
    if (orphaned.next === 'retry') return { again: true, error: orphaned.error }
    const error = await this.#removeFinalizer(node, ORPHAN_FINALIZER, key, signal, {
      beforeRelease: (live) => this.#collector.orphanedOwners.add(live),
    })
    return { again: error !== undefined, error }
  }

  #interpret<R>(key: string, rules: Reconcile<R>, signal: AbortSignal): Promise<R> {
    const { client, clock, trace, name } = this.#context
    return interpret(rules, {
      client,
      clock,
      recordEvent: (event) => this.#recorder.record(event),
      signal,
      sharedReads: this.#sharedReads,
      onEffect: trace && ((effect, outcome) => trace.effect(name, key, effect, outcome)),
    })
  }

  /** The error, or undefined when the finalizer is gone. */
  async #removeFinalizer(
    { identity }: GraphNode,
    finalizer: string,
    key: string,
    signal: AbortSignal,
    options: RemovalOptions,
  ): Promise<unknown> {
    const { clock, random } = this.#context
    let { live } = options
    const attempt = async (): Promise<undefined> => {
      const rules = removeFinalizer(identity, finalizer, this.#collector, { ...options, live })
      // What a refused patch was made from is not what the server has.
      live = undefined
      const removal = await this.#interpret(key, rules, signal)
      if (!removal.ok) throw removal.error
    }
    const isChanged = (error: unknown): boolean => isConflict(error) || isInvalid(error)
    try {
      return await retryOnError({ clock, random, signal }, defaultBackoff, isChanged, attempt)
    } catch (error) {
      if (error instanceof InterruptedByShutdown || signal.aborted) throw error
      return error
    }
  }

  /** Kinds that are not served may be so in a while: no reason for alarm. */
  #report(key: string, error: unknown): void {
    if (error instanceof UnknownKindError) {
      this.#logger.verbosity(5).info('Will retry', { item: key, reason: error.message })
    } else {
      this.#logger.error(error, 'Failed, will retry', { item: key })
    }
  }
}

/** Clears up behind definitions that are deleted. Contract: docs/behaviour/api-server/custom-resources.md, "Deletion". */
import type { Clock, Logger } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { ServerInternals } from '../../contracts.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { StoreWatch } from '../../storage/store.ts'
import {
  NEVER_ESTABLISHED,
  TERMINATION_COMPLETED,
  TERMINATION_IN_PROGRESS,
  TERMINATION_PENDING,
  findCondition,
  isTrue,
  terminationFailed,
} from './conditions.ts'
import { CLEANUP_FINALIZER } from './definition-rules.ts'
import { KeyedQueue } from './keyed-queue.ts'
import type { StoredDefinitions } from './stored-definitions.ts'

interface TerminationsParts {
  readonly server: ServerInternals
  readonly definitions: StoredDefinitions
  readonly clock: Clock
  readonly logger: Logger
  /** In what its instances are kept; undefined: there cannot be any. */
  storedResource(definition: Stored): ServedResource | undefined
  /** In the background, without asking admission: policies and webhooks may be those of an operator that has gone before its definitions. */
  deleteInstance(resource: ServedResource, namespace: string, name: string): Promise<void>
}

/** Each definition by itself: what one waits for keeps no other waiting. */
export class Terminations {
  readonly #parts: TerminationsParts
  readonly #queue: KeyedQueue
  /** Instances of definitions that wait for their last finalizer. */
  readonly #watches = new Map<string, StoreWatch>()

  constructor(parts: TerminationsParts) {
    this.#parts = parts
    this.#queue = new KeyedQueue({
      clock: parts.clock,
      work: (name) => this.#advance(name),
      onFailure: (name, error) =>
        parts.logger.error(error, 'definition of a custom resource could not be terminated', {
          name,
        }),
    })
  }

  add(name: string): void {
    this.#queue.add(name)
  }

  /** The definition is gone. */
  forget(name: string): void {
    this.#watches.get(name)?.stop()
    this.#watches.delete(name)
  }

  stop(): void {
    this.#queue.stop()
    for (const watch of this.#watches.values()) watch.stop()
    this.#watches.clear()
  }

  /** Deletes the instances, and lets the definition go when none is left. */
  async #advance(name: string): Promise<void> {
    const { definitions } = this.#parts
    const definition = definitions.get(name)
    if (definition?.['metadata'].deletionTimestamp === undefined) return
    const finalizers: readonly string[] = definition['metadata'].finalizers ?? []
    if (!finalizers.includes(CLEANUP_FINALIZER)) return
    const isEstablished = isTrue(definition, 'Established')
    const resource = isEstablished ? this.#parts.storedResource(definition) : undefined
    if (isEstablished && isTrue(definition, 'Terminating')) {
      const reason: unknown = findCondition(definition, 'Terminating')?.['reason']
      if (reason === TERMINATION_PENDING.reason)
        await definitions.setConditions(definition, [TERMINATION_IN_PROGRESS])
      const problem = resource && (await this.#deleteInstances(resource))
      if (problem !== undefined) {
        await definitions.setConditions(definition, [terminationFailed(problem)])
        this.#queue.addLater(name)
        return
      }
      if (reason !== TERMINATION_IN_PROGRESS.reason)
        await definitions.setConditions(definition, [TERMINATION_IN_PROGRESS])
    }
    if (resource !== undefined && this.#instances(resource).length > 0)
      return this.#awaitInstances(name, resource)
    this.forget(name)
    const done = isEstablished ? TERMINATION_COMPLETED : NEVER_ESTABLISHED
    await definitions.setConditions(definition, [done], removeCleanupFinalizer)
  }

  #instances({ storage }: ServedResource): readonly Stored[] {
    const snapshot = this.#parts.server.store.list(storage.collection, '')
    return snapshot === 'expired' ? [] : snapshot.entries.map(({ object }) => object)
  }

  /** Answers why there are some that cannot be deleted. */
  async #deleteInstances(resource: ServedResource): Promise<string | undefined> {
    for (const instance of this.#instances(resource)) {
      const { namespace = '', name, deletionTimestamp } = instance['metadata']
      if (deletionTimestamp !== undefined) continue
      try {
        await this.#parts.deleteInstance(resource, namespace, name)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code !== 404) return error.message
      }
    }
    return undefined
  }

  #awaitInstances(name: string, { storage }: ServedResource): void {
    if (this.#watches.has(name)) return
    const { store } = this.#parts.server
    const watch = store.watch(storage.collection, '', store.revision, ({ type }) => {
      if (type === 'deleted') this.#queue.add(name)
    })
    if (watch !== 'expired') this.#watches.set(name, watch)
  }
}

function removeCleanupFinalizer(draft: Draft): void {
  const rest = (draft['metadata'].finalizers ?? []).filter(
    (name: string) => name !== CLEANUP_FINALIZER,
  )
  if (rest.length === 0) delete draft['metadata'].finalizers
  else draft['metadata'].finalizers = rest
}

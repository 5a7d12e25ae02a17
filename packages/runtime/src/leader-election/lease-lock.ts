/** Contract: docs/behaviour/runtime/leader-election.md, Lease object. */
import type { Lease } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type { Client, ResourceClient } from '@gyropilot/client'
import { untilAborted, withDeadline } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { EventRecorder } from '../events/event-recorder.ts'
import { recordOf, specOf } from './lease-record.ts'
import type { LeaseRecord } from './lease-record.ts'

/** Which Lease, and as whom. */
export interface LeaseLockOptions {
  /** A client of its own: it must not wait for the rate limits of controllers. */
  readonly client: Client
  readonly namespace: string
  readonly name: string
  /** Who we are: unique among the contenders. */
  readonly identity: string
  /** Put on the Lease at creation and each update. */
  readonly labels?: Readonly<Record<string, string>>
  /** Without it no events are recorded. */
  readonly recorder?: EventRecorder
  /**
   * How long each request may take, for a client that sets no bound itself: one whose answer is lost would cost the whole
   * renew deadline, and a contender all of its tries.
   */
  readonly requestTimeout?: { readonly clock: Clock; readonly ms: number }
}

/**
 * The Lease object (coordination.k8s.io/v1) as a lock: every write is conditional on the object last read or written. Requests
 * reject as those of the client do: NotFound for a Lease that is not there, Conflict for one that somebody else wrote.
 */
export class LeaseLock {
  readonly identity: string
  readonly #options: LeaseLockOptions
  readonly #leases: ResourceClient<Lease>
  #lease: Lease | undefined

  constructor(options: LeaseLockOptions) {
    this.identity = options.identity
    this.#options = options
    this.#leases = options.client.resource(resources.leases, options.namespace)
  }

  /** `namespace/name` of the Lease. */
  get description(): string {
    return `${this.#options.namespace}/${this.#options.name}`
  }

  /** Live. Remembers the object for `update` and the version for `changes`. */
  async read(signal?: AbortSignal): Promise<LeaseRecord> {
    this.#lease = await this.#answered(signal, (bounded) =>
      this.#leases.get(this.#options.name, { signal: bounded }),
    )
    return recordOf(this.#lease.spec)
  }

  /**
   * The record after each change since the last read or write, undefined when the Lease was deleted. Ends when the server
   * ends the watch or `signal` aborts; reads and writes do not take notice of it. Rejects with StatusError for what the server
   * answers instead, 410 for a version that it has forgotten included.
   */
  async *changes(signal: AbortSignal): AsyncGenerator<LeaseRecord | undefined> {
    const { name } = this.#options
    const events = await this.#leases.watch({
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: this.#lease?.metadata?.resourceVersion,
      signal,
    })
    for await (const event of events) {
      if (event.type === 'ERROR') throw new StatusError(event.object)
      yield event.type === 'DELETED' ? undefined : recordOf(event.object.spec)
    }
  }

  /** AlreadyExists when another contender was first. */
  async create(record: LeaseRecord, signal?: AbortSignal): Promise<void> {
    const { namespace, name, labels } = this.#options
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name, ...(labels ? { labels } : {}) },
      spec: specOf(record),
    }
    this.#lease = await this.#answered(signal, (bounded) =>
      this.#leases.create(lease, { signal: bounded }),
    )
  }

  /** Replaces the whole spec. A change by somebody else since the last read or write is a Conflict; an Error before any of them. */
  async update(record: LeaseRecord, signal?: AbortSignal): Promise<void> {
    if (this.#lease === undefined)
      throw new Error('lease not initialized, call get or create first')
    const { metadata } = this.#lease
    const labels = this.#options.labels && {
      labels: { ...metadata?.labels, ...this.#options.labels },
    }
    const lease: Lease = {
      ...this.#lease,
      metadata: { ...metadata, ...labels },
      spec: specOf(record),
    }
    this.#lease = await this.#answered(signal, (bounded) =>
      this.#leases.update(lease, { signal: bounded }),
    )
  }

  /** `became leader`, `stopped leading`: a Normal event LeaderElection about the Lease, `<identity> <what>`. */
  recordEvent(what: string): void {
    const { recorder, namespace, name, identity } = this.#options
    const { uid, resourceVersion } = this.#lease?.metadata ?? {}
    recorder?.record({
      regarding: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace, name, uid, resourceVersion },
      },
      type: 'Normal',
      reason: 'LeaderElection',
      message: `${identity} ${what}`,
    })
  }

  async #answered<R>(
    signal: AbortSignal | undefined,
    ask: (signal: AbortSignal | undefined) => Promise<R>,
  ): Promise<R> {
    const { requestTimeout } = this.#options
    if (requestTimeout === undefined) return ask(signal)
    using deadline = withDeadline(requestTimeout.clock, requestTimeout.ms, signal)
    return await untilAborted(ask(deadline.signal), deadline.signal)
  }
}

/** Throws for every `--leader-elect-resource-lock` but `leases`, with upstream's words. */
export function checkLockType(lockType: string): void {
  switch (lockType) {
    case 'leases':
      return
    case 'endpoints':
    case 'configmaps':
    case 'endpointsleases':
      throw new Error(`${lockType} lock is removed, migrate to leases`)
    case 'configmapsleases':
      throw new Error('configmapsleases lock is removed, migrated to leases')
    default:
      throw new Error(`Invalid lock-type ${lockType}`)
  }
}

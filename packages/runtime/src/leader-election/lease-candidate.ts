/** Contract: docs/behaviour/runtime/leader-election.md, Client: candidate. */
import { resourcesOnRequest } from '@gyropilot/api'
import type { LeaseCandidate as LeaseCandidateObject } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { formatMicroTime } from '@gyropilot/foundation'
import { SharedInformer } from '../cache/shared-informer.ts'
import { runWorkers } from '../workers.ts'
import type { QueueItem } from '../workqueue/queue.ts'
import { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts'

/** Who stands for which Lease. Versions are those that the server compares: the lowest emulation version is preferred. */
export interface LeaseCandidateOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics?: MetricsRegistry
  /** Of the lease. */
  readonly namespace: string
  readonly leaseName: string
  /** The elector's: the name of the candidate object. */
  readonly identity: string
  /** `x.y.z`. */
  readonly binaryVersion: string
  readonly emulationVersion: string
}

const RENEW_EVERY_MS = 5 * 60_000
const STRATEGY = 'OldestEmulationVersion'

/**
 * Announces this process to the server that chooses the leader, on standbys and on the leader, for the whole of its life: a
 * LeaseCandidate (coordination.k8s.io/v1beta1, served on request) that is renewed every 5 minutes and at each ping. Strategy
 * OldestEmulationVersion. Source: KEP-4355; docs/behaviour/runtime/leader-election.md.
 */
export class LeaseCandidate {
  readonly #options: LeaseCandidateOptions
  readonly #informer: SharedInformer<LeaseCandidateObject>
  readonly #queue: RateLimitingQueue
  readonly #key: string

  constructor(options: LeaseCandidateOptions) {
    this.#options = options
    const { client, clock, random, logger, metrics, namespace, identity } = options
    this.#key = `${namespace}/${identity}`
    this.#queue = new RateLimitingQueue({ clock, metrics, name: 'leasecandidate' })
    this.#informer = new SharedInformer({
      client,
      type: resourcesOnRequest.leasecandidates,
      clock,
      random,
      logger,
      namespace,
      fieldSelector: `metadata.name=${identity}`,
    })
    this.#informer.addHandler({
      onUpdate: (_, candidate) => {
        const { pingTime, renewTime } = candidate.spec ?? {}
        if (pingTime && (!renewTime || Date.parse(pingTime) > Date.parse(renewTime)))
          this.#queue.add(this.#key)
      },
    })
  }

  /** Whether its own object has been read once. */
  get hasSynced(): boolean {
    return this.#informer.hasSynced()
  }

  /** Resolves after `signal` aborted. Failed writes are logged and tried again with backoff. The object is not deleted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    const watching = this.#informer.run(signal)
    const queue = this.#queue
    signal.addEventListener('abort', () => queue.shutDown(), { once: true })
    if (await this.#informer.whenSynced(signal)) {
      queue.add(this.#key)
      const work = ({ key }: QueueItem): Promise<void> => this.#renew(key, signal)
      await runWorkers({ count: 1, clock, logger, signal, queue, work })
    }
    await watching
  }

  async #renew(key: string, signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await this.#announce()
      this.#queue.forget(key)
      this.#queue.addAfter(key, RENEW_EVERY_MS)
    } catch (error) {
      const text = 'The lease candidate could not be written, will retry'
      this.#options.logger.error(error, text, { key })
      this.#queue.addRateLimited(key)
    }
  }

  async #announce(): Promise<void> {
    const { client, clock, namespace, identity, leaseName, binaryVersion, emulationVersion } =
      this.#options
    const candidates = client.resource(resourcesOnRequest.leasecandidates, namespace)
    const renewTime = formatMicroTime(clock.nowMs())
    const known = this.#informer.lister.getByKey(this.#key)
    if (known?.spec !== undefined) {
      await candidates.update({ ...known, spec: { ...known.spec, renewTime } })
      return
    }
    await candidates.create({
      apiVersion: 'coordination.k8s.io/v1beta1',
      kind: 'LeaseCandidate',
      metadata: { namespace, name: identity },
      spec: { leaseName, binaryVersion, emulationVersion, strategy: STRATEGY, renewTime },
    })
  }
}

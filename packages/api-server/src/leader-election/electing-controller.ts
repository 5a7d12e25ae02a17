/**
 * Elects holders of leases among their candidates, as kube-apiserver does with coordinated leader election.
 * Contract: docs/behaviour/runtime/leader-election.md, Server controller.
 */
import type { Lease, LeaseCandidate } from '@gyropilot/api'
import { splitKey } from '@gyropilot/api'
import { every, formatMicroTime } from '@gyropilot/foundation'
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'
import type { ServerInternals, UserInfo } from '../contracts.ts'
import type { StoreEvent, StoreWatch } from '../storage/store.ts'
import { CANDIDATE_LIFETIME_MS, isExpired } from './candidates.ts'
import { electedSpec, isSameSpec, nextStep } from './election.ts'
import type { Elected } from './election.ts'

const GROUP = 'coordination.k8s.io'
const LEASES = `leases.${GROUP}`
const CANDIDATES = `leasecandidates.${GROUP}`
/** A lease with candidates is looked at this often when nothing happens: it may have expired. */
const REPEAT_MS = 5_000

interface ElectingControllerOptions {
  readonly server: ServerInternals
  readonly clock: Clock
  readonly logger: Logger
  /** In whose name it writes. */
  readonly user: UserInfo
}

interface Look {
  readonly dueMs: number
  readonly timer: Timer
}

export class ElectingController {
  readonly #options: ElectingControllerOptions
  /** `namespace/name` of leases that somebody is a candidate for. */
  readonly #contended = new Set<string>()
  readonly #looks = new Map<string, Look>()
  /** One lease after the other. */
  #work: Promise<void> = Promise.resolve()
  #watch: StoreWatch | undefined
  #sweeps: Timer | undefined
  #stopped = false

  constructor(options: ElectingControllerOptions) {
    this.#options = options
  }

  start(): void {
    const { server, clock } = this.#options
    this.#watch = server.store.onCommit((event) => this.#committed(event))
    for (const candidate of this.#candidates()) this.#contend(leaseKeyOf(candidate))
    this.#sweeps = every(clock, CANDIDATE_LIFETIME_MS, () => this.#sweep())
    this.#sweep()
  }

  stop(): void {
    this.#stopped = true
    this.#watch?.stop()
    this.#sweeps?.cancel()
    for (const { timer } of this.#looks.values()) timer.cancel()
  }

  #committed({ collection, key, object }: StoreEvent): void {
    if (collection === LEASES && this.#contended.has(key)) this.#lookIn(0, key)
    if (collection === CANDIDATES) this.#contend(leaseKeyOf(object as LeaseCandidate))
  }

  #contend(key: string): void {
    this.#contended.add(key)
    this.#lookIn(0, key)
  }

  /** Of two looks that are due, the earlier one stays. */
  #lookIn(delayMs: number, key: string): void {
    const { clock } = this.#options
    const dueMs = clock.monotonicMs() + delayMs
    const known = this.#looks.get(key)
    if (this.#stopped || (known !== undefined && known.dueMs <= dueMs)) return
    known?.timer.cancel()
    const timer = clock.after(delayMs, () => {
      this.#looks.delete(key)
      this.#work = this.#work.then(() => this.#look(key))
    })
    this.#looks.set(key, { dueMs, timer })
  }

  async #look(key: string): Promise<void> {
    if (this.#stopped) return
    const { server, clock, logger } = this.#options
    const { namespace = '', name } = splitKey(key)
    const candidates = this.#candidates(namespace).filter(({ spec }) => spec?.leaseName === name)
    if (candidates.length === 0) {
      this.#contended.delete(key)
      return
    }
    this.#lookIn(REPEAT_MS, key)
    const lease = server.get(GROUP, 'leases', namespace, name) as Lease | undefined
    const step = nextStep(lease, candidates, clock.nowMs())
    try {
      if (step.kind === 'ping') await this.#ping(namespace, step.names)
      else if (step.kind === 'elect') await this.#elect(namespace, name, step.elected)
      else if (step.kind === 'conflict')
        logger.error(undefined, 'No leader can be elected', { lease: key, reason: step.message })
    } catch (error) {
      // Somebody else wrote or deleted at the same time: what is there now is looked at again.
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return
      logger.error(error, 'The election failed, will retry', { lease: key })
    }
  }

  async #ping(namespace: string, names: readonly string[]): Promise<void> {
    const { server, clock } = this.#options
    for (const name of names) {
      await server.update(GROUP, 'leasecandidates', namespace, name, (candidate) => {
        candidate['spec'].pingTime = formatMicroTime(clock.nowMs())
      })
    }
  }

  async #elect(namespace: string, name: string, elected: Elected): Promise<void> {
    const { server, clock, logger, user } = this.#options
    const known = server.get(GROUP, 'leases', namespace, name) as Lease | undefined
    const wanted = electedSpec(known?.spec, elected, clock.nowMs())
    if (isSameSpec(known?.spec, wanted)) return
    if (known === undefined) {
      const metadata = { namespace, name }
      const lease = { apiVersion: `${GROUP}/v1`, kind: 'Lease', metadata, spec: wanted }
      await server.create(GROUP, 'leases', lease, user)
    } else {
      // The holder may have renewed meanwhile: what is written follows from what is stored then.
      await server.update(GROUP, 'leases', namespace, name, (lease) => {
        lease['spec'] = electedSpec(lease['spec'], elected, clock.nowMs())
      })
    }
    logger.info('Elected a leader', { lease: `${namespace}/${name}`, ...elected })
  }

  /** Deletes who has not been heard of for so long that it does not count. */
  #sweep(): void {
    const { clock } = this.#options
    const expired = this.#candidates().filter((candidate) => isExpired(candidate, clock.nowMs()))
    for (const { metadata } of expired) {
      const { namespace = '', name = '', resourceVersion } = metadata ?? {}
      this.#work = this.#work.then(() => this.#delete(namespace, name, resourceVersion))
    }
  }

  async #delete(namespace: string, name: string, resourceVersion?: string): Promise<void> {
    const { server, logger, user } = this.#options
    if (this.#stopped) return
    const preconditions = { resourceVersion }
    try {
      await server.delete(GROUP, 'leasecandidates', namespace, name, { preconditions }, user)
    } catch (error) {
      if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return
      logger.error(error, 'An expired lease candidate could not be deleted', { namespace, name })
    }
  }

  #candidates(namespace?: string): readonly LeaseCandidate[] {
    return this.#options.server.list(GROUP, 'leasecandidates', namespace) as LeaseCandidate[]
  }
}

function leaseKeyOf({ metadata, spec }: LeaseCandidate): string {
  return `${metadata?.namespace}/${spec?.leaseName}`
}

/** Warnings about what was found and mended. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Repair". */
import { formatMicroTime, uuid } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { ApiError } from '../contracts.ts'
import type { ServerInternals, UserInfo } from '../contracts.ts'

export interface RepairEventsOptions {
  readonly server: ServerInternals
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** In whose name they are written. */
  readonly user: UserInfo
  /** Of the machine. Default `localhost`. */
  readonly hostname?: string
}

/** What was found about an object. */
interface Report {
  readonly controller: string
  readonly reason: string
  readonly action: string
  readonly note: string
}

interface Known {
  readonly event: Draft
  count: number
  lastSeenMs: number
}

const GROUP = 'events.k8s.io'
const SERIES_IDLE_MS = 6 * 60_000

/** Events of events.k8s.io/v1. What is found again within 6 min is counted in the series of one event. */
export class RepairEvents {
  readonly #options: RepairEventsOptions
  readonly #known = new Map<string, Known>()
  /** One write after the other, in the background. */
  #work: Promise<void> = Promise.resolve()
  #lastNanoseconds = 0n
  #stopped = false

  constructor(options: RepairEventsOptions) {
    this.#options = options
  }

  /** Never throws: what cannot be written is logged. */
  report(about: Stored, report: Report): void {
    const { clock, logger } = this.#options
    const { name, namespace, resourceVersion, uid } = about['metadata']
    logger.error(undefined, 'Service allocation was found in disorder', { ...report })
    this.#forgetIdle()
    const key = JSON.stringify([report.controller, report.reason, uid, resourceVersion])
    const known = this.#known.get(key)
    const nowMs = clock.nowMs()
    if (known === undefined) {
      const event = this.#eventOf(about, report, namespace ?? 'default', this.#nameFor(name))
      this.#known.set(key, { event, count: 1, lastSeenMs: clock.monotonicMs() })
      this.#write(() => this.#create(event))
      return
    }
    known.count++
    known.lastSeenMs = clock.monotonicMs()
    const series = { count: known.count, lastObservedTime: formatMicroTime(nowMs) }
    this.#write(() => this.#extend(known.event, series))
  }

  stop(): void {
    this.#stopped = true
  }

  #forgetIdle(): void {
    const beforeMs = this.#options.clock.monotonicMs() - SERIES_IDLE_MS
    for (const [key, { lastSeenMs }] of this.#known)
      if (lastSeenMs < beforeMs) this.#known.delete(key)
  }

  #eventOf(about: Stored, report: Report, namespace: string, name: string): Draft {
    const { clock, hostname = 'localhost' } = this.#options
    const { controller, ...told } = report
    const { metadata, apiVersion, kind } = about
    return {
      apiVersion: `${GROUP}/v1`,
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: formatMicroTime(clock.nowMs()),
      reportingController: controller,
      reportingInstance: `${controller}-${hostname}`,
      ...told,
      type: 'Warning',
      regarding: {
        kind,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        name: metadata.name,
        uid: metadata.uid,
        apiVersion,
        resourceVersion: metadata.resourceVersion,
      },
    }
  }

  #write(write: () => Promise<unknown>): void {
    this.#work = this.#work.then(async () => {
      if (this.#stopped) return
      try {
        await write()
      } catch (error) {
        this.#options.logger.error(error, 'An event of the repair could not be written')
      }
    })
  }

  async #create(event: Draft): Promise<void> {
    const { server, user } = this.#options
    await server.create(GROUP, 'events', event, user)
  }

  /** An event that has expired meanwhile begins anew, as the series that it is. */
  async #extend(event: Draft, series: Draft): Promise<void> {
    const { namespace, name } = event['metadata']
    try {
      await this.#options.server.update(GROUP, 'events', namespace, name, (draft) => {
        draft['series'] = series
      })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
      await this.#create({ ...event, metadata: { namespace, name }, series })
    }
  }

  /** The object's name and the nanoseconds since 1970 in hexadecimal digits, of which no two are alike; a UUID where that is no name. */
  #nameFor(objectName: string): string {
    const now = BigInt(Math.floor(this.#options.clock.nowMs())) * 1_000_000n
    this.#lastNanoseconds = now > this.#lastNanoseconds ? now : this.#lastNanoseconds + 1n
    const name = `${objectName}.${this.#lastNanoseconds.toString(16)}`
    return dnsSubdomain(name).length === 0 ? name : uuid(this.#options.random)
  }
}

import type { Clock } from '@gyropilot/foundation'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { EventFacts, EventFault, FaultInjector, RequestFault } from './injector.ts'
import { Ordinals, eventPlace, placeKey, requestPlace } from './schedule.ts'
import type { ScheduledFault } from './schedule.ts'
import type { WorldFault } from './world-fault.ts'

/** Passes on what another injector decides, and keeps it as a schedule. */
export class FaultRecorder implements FaultInjector {
  readonly entries: ScheduledFault[] = []
  readonly #injector: FaultInjector
  readonly #clock: Clock
  readonly #ordinals = new Ordinals()

  constructor(injector: FaultInjector, clock: Clock) {
    this.#injector = injector
    this.#clock = clock
  }

  onRequest(facts: RequestFacts): RequestFault | undefined {
    const request = requestPlace(facts)
    const atMs = this.#clock.monotonicMs()
    const ordinal = this.#ordinals.next(placeKey(request), atMs)
    const fault = this.#injector.onRequest(facts)
    if (fault !== undefined) this.entries.push({ atMs, request, ordinal, fault })
    return fault
  }

  onEvent(facts: EventFacts): EventFault | undefined {
    const event = eventPlace(facts)
    const atMs = this.#clock.monotonicMs()
    const ordinal = this.#ordinals.next(placeKey(event), atMs)
    const fault = this.#injector.onEvent(facts)
    if (fault !== undefined) this.entries.push({ atMs, event, ordinal, fault })
    return fault
  }

  world(world: WorldFault): void {
    this.entries.push({ atMs: this.#clock.monotonicMs(), world })
  }
}

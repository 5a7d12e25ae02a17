/** The time between the deletion of a namespace and the first look at all of it. Contract: the page's Watches and keys. */
import type { Namespace } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { DELETION_GRACE_MS } from './config.ts'

/** A timer may be early by as much; what is left then is no reason for another look. */
const TIMER_SLACK_MS = 5

/** Counted from the moment that the deletion was seen here, whatever the server's clock says. */
export class DeletionPauses {
  readonly #clock: Clock
  readonly #byName = new Map<string, { readonly uid: string; readonly sinceMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True when the deletion of this namespace had not been seen before. */
  begin({ metadata: { name = '', uid = '' } = {} }: Namespace): boolean {
    if (this.#byName.get(name)?.uid === uid) return false
    this.#byName.set(name, { uid, sinceMs: this.#clock.monotonicMs() })
    return true
  }

  /** 0 once the pause is over. */
  leftMs({ metadata: { name = '', uid = '' } = {} }: Namespace): number {
    const pause = this.#byName.get(name)
    if (pause?.uid !== uid) return 0
    const leftMs = pause.sinceMs + DELETION_GRACE_MS - this.#clock.monotonicMs()
    return leftMs > TIMER_SLACK_MS ? leftMs : 0
  }

  forget(name: string): void {
    this.#byName.delete(name)
  }
}

/**
 * One time for a cluster and the players in other processes: faster than the machine's, as long as all of them follow. On a busy
 * machine it goes more slowly, so that what happens within a second or two, a back-off or a rest, is the same there.
 */
import type { ChildProcess } from 'node:child_process'
import { VirtualClock, settle } from '@gyropilot/foundation'

const TICK_MS = 10
/** Of this time in one of the machine's: most of a play is waiting. The scenarios take 67 s of the machine's at 5, and compute for 60; they passed at 6 too. */
const PACE = 5
/** Time never goes farther at once, however long the machine has been away. */
const LONGEST_STEP_MS = 50
/**
 * Within the month of the recordings, whenever they are played: a CronJob of the first of a month or of a year names its Job by the
 * minute of it.
 */
const START_MS = Date.UTC(2026, 10, 15, 12)

/** What a player is sent: its time. It answers each with `{ at }`, when it gets to it. */
interface Beat {
  readonly nowMs: number
}

export class SharedTime {
  /**
   * Also a turn of the event loop is none of the machine's: what follows from a write is done before time goes on. Work that gave
   * its turn up because the machine was slow would go on a beat later, behind writes made from caches that were late by as much.
   */
  readonly clock = new VirtualClock({ settle, startMs: START_MS })
  readonly #players = new Set<ChildProcess>()
  #stopped = false

  constructor() {
    void this.#go()
  }

  /** Until it exits, no time passes before this player has answered. It must have a channel. */
  join(player: ChildProcess): void {
    this.#players.add(player)
    player.once('exit', () => this.#players.delete(player))
  }

  stop(): void {
    this.#stopped = true
  }

  async #go(): Promise<void> {
    let lastMs = performance.now()
    while (!this.#stopped) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS))
      await Promise.all([...this.#players].map((player) => this.#answered(player)))
      const nowMs = performance.now()
      await this.clock.advance(Math.min(PACE * (nowMs - lastMs), LONGEST_STEP_MS))
      lastMs = nowMs
    }
  }

  #answered(player: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        player.off('message', hear)
        player.off('exit', done)
        resolve()
      }
      const hear = (said: unknown): void => {
        if ((said as { at?: number }).at !== undefined) done()
      }
      player.on('message', hear)
      player.once('exit', done)
      const beat: Beat = { nowMs: this.clock.nowMs() }
      player.send(beat, (error) => {
        if (error !== null) done()
      })
    })
  }
}

import type { VirtualClock } from '@gyropilot/foundation'
import type { RunnableController } from '../controller.ts'

/** A controller's loop at work in a test. */
export interface RunningLoop {
  /** Settles when the loop has; fails when it does. */
  readonly ended: Promise<void>
  /** Stops it and waits until it has ended; again is as once. */
  stop(): Promise<void>
}

/** What a loop may take to end once it is told to: workers look at the signal between two keys. */
const MAX_STOP_MS = 1_000

/**
 * Begins a loop on virtual time: its first steps are made when the clock is next advanced. `informers` that are real, and not
 * filled by the test, begin with it and end with it.
 */
export function startLoop(
  loop: RunnableController | undefined,
  clock: VirtualClock,
  informers?: { start(signal: AbortSignal): void },
): RunningLoop {
  if (loop === undefined) throw new Error('the controller was not built')
  const stopping = new AbortController()
  const ended = loop.run(stopping.signal)
  informers?.start(stopping.signal)
  return {
    ended,
    async stop() {
      stopping.abort()
      await clock.advance(MAX_STOP_MS)
      await ended
    },
  }
}

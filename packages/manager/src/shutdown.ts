import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import { managerErrors } from './errors.ts'

/**
 * Ends as `loops` does, or rejects with SHUTDOWN_TIMEOUT when they run on for so long after `signal` aborted; 0: they may run
 * for ever. Every third of the time is logged.
 */
export async function withinShutdownTimeout(
  loops: Promise<void>,
  signal: AbortSignal,
  { timeoutMs, clock, logger }: { timeoutMs: number; clock: Clock; logger: Logger },
): Promise<void> {
  const overdue = Promise.withResolvers<never>()
  const timers: Timer[] = []
  const begin = (): void => {
    if (timeoutMs === 0) return
    for (const third of [1, 2]) {
      timers.push(
        clock.after((timeoutMs * third) / 3, () =>
          logger.info('Still waiting for some controllers to terminate...'),
        ),
      )
    }
    timers.push(
      clock.after(timeoutMs, () =>
        overdue.reject(
          managerErrors.make('SHUTDOWN_TIMEOUT', 'controller shutdown timeout reached'),
        ),
      ),
    )
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  try {
    await Promise.race([loops, overdue.promise])
  } finally {
    signal.removeEventListener('abort', begin)
    for (const timer of timers) timer.cancel()
  }
}

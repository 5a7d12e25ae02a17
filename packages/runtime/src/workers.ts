import type { Clock, Logger } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'

const RESTART_DELAY_MS = 1_000

export interface WorkersOptions {
  readonly count: number
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  /** One worker's loop; it ends when there is nothing left to do after `signal` aborted. */
  readonly work: () => Promise<void>
}

/** Runs `count` loops; one that ends or fails before `signal` aborts is restarted after a second. Resolves when all ended. */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  await Promise.all(Array.from({ length: options.count }, () => runUntilStopped(options)))
}

async function runUntilStopped({ clock, signal, logger, work }: WorkersOptions): Promise<void> {
  for (;;) {
    try {
      await work()
    } catch (error) {
      logger.error(error, 'A worker failed')
    }
    if (signal.aborted) return
    try {
      await sleep(clock, RESTART_DELAY_MS, signal)
    } catch {
      return
    }
  }
}

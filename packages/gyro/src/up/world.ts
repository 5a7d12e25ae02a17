import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { Terminal } from './terminal.ts'

/** The real world of one `gyro up`. */
export interface World {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly terminal: Terminal
}

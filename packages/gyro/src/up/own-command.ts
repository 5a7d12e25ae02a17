/** How this command is started once more. In a file of its own, because the published commands have it elsewhere. */
import { join } from 'node:path'

export function ownCommand(): readonly [string, ...string[]] {
  return [join(import.meta.dirname, '../../../../bin/gyro')]
}

import type { Clock } from '@gyropilot/foundation'
import { RevisionLog } from './revision-log.ts'
import type { Store } from './store.ts'

/** A store that is gone with the process. */
export function createMemoryStore(clock: Clock): Store {
  return new RevisionLog(clock)
}

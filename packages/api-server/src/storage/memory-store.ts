import type { Clock } from '@gyropilot/foundation'
import { RevisionLog } from './revision-log.ts'
import type { InitialState } from './revision-log.ts'
import type { Store } from './store.ts'

/** A store that is gone with the process. `initial`: what it starts with; of its history nothing is known. */
export function createMemoryStore(clock: Clock, initial?: InitialState): Store {
  return new RevisionLog(clock, undefined, initial)
}

import { every, type Clock, type Timer } from '@gyropilot/foundation'
import type { Store } from './store.ts'

const PERIOD_MS = 300_000

/**
 * Compacts to the revision of five minutes ago, every five minutes: what is read page by page may take five to ten.
 * Contract: docs/behaviour/api-server/storage-and-watch.md, "History".
 */
export function startCompaction(store: Store, clock: Clock): Timer {
  let revision = store.revision
  return every(clock, PERIOD_MS, () => {
    store.compact(revision)
    revision = store.revision
  })
}

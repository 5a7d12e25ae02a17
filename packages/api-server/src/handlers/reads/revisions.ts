import type { Clock } from '@gyropilot/foundation'
import { tooLargeVersion } from '../../http/errors.ts'
import type { Store } from '../../storage/store.ts'

/** How long a read waits for a revision that does not exist yet. */
const FUTURE_WAIT_MS = 3000

/** Resolves when the store has reached the revision; 504 when it has not within three seconds. `asked`: with all its digits. */
export async function reachRevision(
  store: Store,
  clock: Clock,
  revision: number,
  asked = String(revision),
): Promise<void> {
  if (revision <= store.revision) return
  await new Promise<void>((resolve, reject) => {
    const commits = store.onCommit(() => {
      if (store.revision < revision) return
      timer.cancel()
      commits.stop()
      resolve()
    })
    const timer = clock.after(FUTURE_WAIT_MS, () => {
      commits.stop()
      reject(tooLargeVersion(BigInt(asked), store.revision))
    })
  })
}

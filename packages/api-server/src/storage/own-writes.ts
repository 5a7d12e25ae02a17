/** What the server writes of its own accord. Contract: docs/behaviour/api-server/storage-and-watch.md, "Durability". */
import type { Logger } from '@gyropilot/foundation'

/**
 * The same work, of which a failure is logged: behind timers and watches stands nobody who could be told, and a disk that is full ends no
 * server. Whoever calls it tries again at the next occasion.
 */
export function loggingFailures(logger: Logger, failed: string, work: () => void): () => void {
  return () => {
    try {
      work()
    } catch (error) {
      logger.error(error, failed)
    }
  }
}

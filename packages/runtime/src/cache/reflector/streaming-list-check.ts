/** Contract: docs/behaviour/runtime/informers.md, Diagnostics. */
import type { KubernetesObject } from '@gyropilot/api'
import { isExpired } from '@gyropilot/client'
import type { ListOptions, ResourceClient } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'

const RETRY_MS = 1_000

interface StreamingListCheck<T extends KubernetesObject> {
  readonly resource: ResourceClient<T>
  readonly selectors: Pick<ListOptions, 'labelSelector' | 'fieldSelector' | 'metadataOnly'>
  readonly resourceVersion: string
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * The same collection once more by an ordinary list at exactly the version of the stream, tried again every second until
 * there is an answer. Undefined when the server has forgotten that version, or the signal aborted.
 */
export async function listAtVersion<T extends KubernetesObject>({
  resource,
  selectors,
  resourceVersion,
  clock,
  logger,
  signal,
}: StreamingListCheck<T>): Promise<readonly T[] | undefined> {
  while (!signal.aborted) {
    try {
      const options = { ...selectors, resourceVersion, resourceVersionMatch: 'Exact' } as const
      return (await resource.list({ ...options, signal })).items
    } catch (error) {
      if (isExpired(error)) return undefined
      logger.error(error, 'failed to list data from the server, trying again')
      await sleep(clock, RETRY_MS, signal).catch(() => {})
    }
  }
  return undefined
}

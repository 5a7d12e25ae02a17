/** The last act of a pod's life. Contract: docs/behaviour/simulation/kubelet.md, Termination. */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'

const RETRY_MS = 1_000

interface DeletionServices {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  /** As stored now. */
  pod(): Pod
  /** Writes the status of now. False: it could not be written. */
  store(): Promise<boolean>
  gone(): void
}

/** The object goes, unless finalizers hold it. Never before the terminal phase is stored. */
export async function deletePod(services: DeletionServices): Promise<void> {
  const { client, clock, logger, signal, pod, store, gone } = services
  for (;;) {
    const { namespace, name = '', uid } = pod().metadata ?? {}
    const phase = pod().status?.phase
    if (phase !== 'Succeeded' && phase !== 'Failed' && !(await store())) {
      await sleep(clock, RETRY_MS, signal)
      continue
    }
    try {
      await client
        .resource(resources.pods, namespace)
        .delete(name, { gracePeriodSeconds: 0, preconditions: { uid } })
      return
    } catch (error) {
      if (isNotFound(error)) return gone()
      // The precondition failed for a namesake. Any other conflict is worth another try.
      if (isConflict(error) && (await isReplaced(client, pod()))) return gone()
      logger.error(error, 'Failed to delete pod', { pod: `${namespace}/${name}` })
    }
    await sleep(clock, RETRY_MS, signal)
  }
}

async function isReplaced(client: Client, { metadata = {} }: Pod): Promise<boolean> {
  const { namespace, name = '', uid } = metadata
  try {
    const found = await client.resource(resources.pods, namespace).get(name)
    return found.metadata?.uid !== uid
  } catch (error) {
    return isNotFound(error)
  }
}

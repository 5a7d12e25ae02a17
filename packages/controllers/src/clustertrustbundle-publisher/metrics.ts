/** Metrics of the publisher. Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md, Metrics. */
import { StatusError } from '@gyropilot/client'
import { syncCode } from '../publisher-support/sync-metrics.ts'
import type { SyncMetricNames } from '../publisher-support/sync-metrics.ts'

export const SYNC_METRICS: SyncMetricNames = {
  prefix: 'clustertrustbundle_publisher',
  totalHelp: 'Number of syncs that occurred in cluster trust bundle publisher.',
  durationHelp: 'The time it took to sync a cluster trust bundle.',
  codeOf: codeOfCause,
}

/** Here a refusal counts also where it is the cause of another error. */
export function codeOfCause(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof StatusError) return syncCode(at)
  return syncCode(error)
}

/**
 * Metrics of the publisher.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md, Metrics.
 */
import { syncCode } from '../publisher-support/sync-metrics.ts'
import type { SyncMetricNames } from '../publisher-support/sync-metrics.ts'

export const SYNC_METRICS: SyncMetricNames = {
  prefix: 'root_ca_cert_publisher',
  totalHelp: 'Number of namespace syncs happened in root ca cert publisher.',
  durationHelp: 'Number of namespace syncs happened in root ca cert publisher.',
  codeOf: syncCode,
}

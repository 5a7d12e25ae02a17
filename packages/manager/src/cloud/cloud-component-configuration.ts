/** What /configz shows of cloud-controller-manager. Contract: docs/behaviour/controllers/cloud-controller-manager.md, Status and conditions. Pure. */
import { duration, generic, kubeCloudShared } from '../options/component-configuration.ts'
import type { LeaderMigration } from '../election/leader-migration.ts'
import type { Options } from '../options/options.ts'

export function cloudComponentConfiguration(
  options: Options,
  migration?: LeaderMigration,
): unknown {
  return {
    kind: 'CloudControllerManagerConfiguration',
    apiVersion: 'cloudcontrollermanager.config.k8s.io/v1alpha1',
    Generic: generic(options, migration),
    KubeCloudShared: kubeCloudShared(options),
    NodeController: {
      ConcurrentNodeSyncs: options.number('concurrent-node-syncs'),
      ConcurrentNodeStatusUpdates: options.number('concurrent-node-status-updates'),
    },
    ServiceController: { ConcurrentServiceSyncs: options.number('concurrent-service-syncs') },
    NodeStatusUpdateFrequency: duration(options, 'node-status-update-frequency'),
    Webhook: { Webhooks: options.list('webhooks') },
  }
}

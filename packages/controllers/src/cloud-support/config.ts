/** What all loops of a cloud share. Contract: docs/behaviour/controllers/cloud-controller-manager.md, Flags and configuration. */
import type { CloudProvider } from '@gyropilot/cloud-provider'

export interface CloudConfiguration {
  /** Absent in kube-controller-manager: no loop of a cloud is built. */
  readonly provider?: CloudProvider
  /** The provider's name for the cluster: --cluster-name. */
  readonly clusterName: string
}

export const defaultCloudConfiguration: CloudConfiguration = { clusterName: 'kubernetes' }

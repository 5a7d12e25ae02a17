/** The objects that a storage driver brings to its cluster. Contract: docs/behaviour/simulation/storage.md, Objects. Pure. */
import type { CSIDriver, CSINode, Node, StorageClass } from '@gyropilot/api'

/** Of the driver, of the class's provisioner, and before the slash of what scripts it. */
export const DRIVER = 'sim.storage'

export const ZONE = 'topology.kubernetes.io/zone'
export const HOSTNAME = 'kubernetes.io/hostname'

/** As many as a machine of a cloud takes. */
const MOST_VOLUMES = 128

export const csiDriver: CSIDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: DRIVER },
  spec: { attachRequired: true, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] },
}

export const standardClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'standard',
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: DRIVER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
}

/** What of a node's place decides which volumes it reaches. */
export function topologyKeysOf({ metadata }: Node): readonly string[] {
  return metadata?.labels?.[ZONE] === undefined ? [HOSTNAME] : [HOSTNAME, ZONE]
}

/** As the node registers its part of the driver. */
export function csiNode(node: Node, volumeLimit = MOST_VOLUMES): CSINode {
  const { name = '', uid = '' } = node.metadata ?? {}
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: {
      drivers: [
        {
          name: DRIVER,
          nodeID: name,
          topologyKeys: topologyKeysOf(node),
          allocatable: { count: volumeLimit },
        },
      ],
    },
  }
}

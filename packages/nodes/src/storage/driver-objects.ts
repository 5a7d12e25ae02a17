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
function topologyKeysOf({ metadata }: Node): readonly string[] {
  return metadata?.labels?.[ZONE] === undefined ? [HOSTNAME] : [HOSTNAME, ZONE]
}

/**
 * A registration over an earlier one. Topology keys are those of the first: they cannot be changed, and labels that a cloud gave
 * the node since would add to them.
 */
export function registeredAgain(known: CSINode, wanted: CSINode): CSINode {
  const drivers = wanted.spec.drivers.map((driver) => {
    const before = known.spec.drivers.find(({ name }) => name === driver.name)
    return before === undefined ? driver : { ...driver, topologyKeys: before.topologyKeys }
  })
  const { ownerReferences } = wanted.metadata ?? {}
  return { ...known, metadata: { ...known.metadata, ownerReferences }, spec: { drivers } }
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

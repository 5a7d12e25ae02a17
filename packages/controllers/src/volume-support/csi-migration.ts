/** In-tree plugins whose work CSI drivers do. Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, step 0 of claims and of volumes. */

const DRIVERS: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/gce-pd', 'pd.csi.storage.gke.io'],
  ['kubernetes.io/azure-file', 'file.csi.azure.com'],
  ['kubernetes.io/azure-disk', 'disk.csi.azure.com'],
  ['kubernetes.io/cinder', 'cinder.csi.openstack.org'],
  ['kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
])

/** The CSI driver of a plugin that has moved out; undefined: it has not, or is none of ours. */
export function driverOf(plugin: string): string | undefined {
  return DRIVERS.get(plugin)
}

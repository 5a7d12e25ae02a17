import type { PersistentVolume } from '@gyropilot/api'
import { driverOf } from '../volume-support/csi-migration.ts'

/** Who makes a volume larger. */
type Resizer =
  /** The driver to which the work of the plugin has moved. */
  | { readonly kind: 'migrated'; readonly plugin: string; readonly driver: string }
  /** This controller. */
  | { readonly kind: 'flex'; readonly driver: string }
  /** Somebody who needs no mark on the claim. */
  | { readonly kind: 'external' }

const PLUGIN_OF_SOURCE = {
  awsElasticBlockStore: 'kubernetes.io/aws-ebs',
  azureDisk: 'kubernetes.io/azure-disk',
  azureFile: 'kubernetes.io/azure-file',
  cinder: 'kubernetes.io/cinder',
  gcePersistentDisk: 'kubernetes.io/gce-pd',
  portworxVolume: 'kubernetes.io/portworx-volume',
  vsphereVolume: 'kubernetes.io/vsphere-volume',
} as const

export function resizerOf({ spec = {} }: PersistentVolume): Resizer {
  for (const [source, plugin] of Object.entries(PLUGIN_OF_SOURCE)) {
    if (spec[source as keyof typeof PLUGIN_OF_SOURCE] === undefined) continue
    return { kind: 'migrated', plugin, driver: driverOf(plugin)! }
  }
  if (spec.flexVolume !== undefined) return { kind: 'flex', driver: spec.flexVolume.driver }
  return { kind: 'external' }
}

/** The names of cloud-controller-manager 1.36. Contract: docs/behaviour/controllers/cloud-controller-manager.md, Watches and keys. */
import { cloudControllers, controllers } from '@gyropilot/controllers'
import type { KnownController } from '../controller-names.ts'
import type { Descriptors } from '../program.ts'

const NODE_IPAM = 'node-ipam-controller'

export const knownCloudControllers: readonly KnownController[] = [
  { name: 'cloud-node-controller', alias: 'cloud-node', enabledByDefault: true },
  {
    name: 'cloud-node-lifecycle-controller',
    alias: 'cloud-node-lifecycle',
    enabledByDefault: true,
  },
  { name: 'service-lb-controller', alias: 'service', enabledByDefault: true },
  { name: 'node-route-controller', alias: 'route', enabledByDefault: true },
  { name: NODE_IPAM, alias: 'nodeipam', enabledByDefault: true },
]

/** Node IPAM is kube-controller-manager's too: it does its work where its flags ask for it. */
export const cloudDescriptors: Descriptors = [
  ...cloudControllers,
  ...controllers.filter(({ name }) => name === NODE_IPAM),
]

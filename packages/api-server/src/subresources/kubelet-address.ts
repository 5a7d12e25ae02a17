import type { SubresourceCall } from '../contracts.ts'
import { notFound, unclassified } from '../http/errors.ts'

export const KUBELET_PORT = 10250
const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

/** Where the node's kubelet listens. A missing node is reported under pods, as kube-apiserver does. */
export function kubeletAddress(call: SubresourceCall, nodeName: string): string {
  const node = call.server.get('', 'nodes', '', nodeName)
  if (node === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, nodeName)
  const addresses: { type: string; address: string }[] = node['status']?.addresses ?? []
  for (const type of ADDRESS_TYPES) {
    const found = addresses.find((entry) => entry.type === type)
    if (found !== undefined) return found.address
  }
  throw unclassified('no preferred addresses found; known addresses: []')
}

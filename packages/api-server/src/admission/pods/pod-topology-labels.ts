import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import { read } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** A pod learns zone and region of its node when it is bound, or created on it. */
export function podTopologyLabels(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    handles: (request) => request.operation === 'CREATE' && (isBinding(request) || isPod(request)),
    mutate(request) {
      const { object } = request
      const nodeName = isPod(request) ? object!['spec'].nodeName : object!['target']?.name
      const node = read(world, 'nodes', nodeName ?? '')
      const labels: Record<string, string> = {}
      for (const key of TOPOLOGY_LABELS) {
        const value = node?.['metadata'].labels?.[key]
        if (value !== undefined) labels[key] = value
      }
      if (Object.keys(labels).length === 0) return
      const metadata = (object!['metadata'] ??= {})
      metadata.labels = { ...metadata.labels, ...labels }
    },
  }
}

function isPod({ resource, subresource }: AdmissionRequest): boolean {
  return resource.group === '' && resource.resource === 'pods' && !subresource
}

function isBinding({ resource, subresource }: AdmissionRequest): boolean {
  if (resource.group !== '') return false
  return (
    (resource.resource === 'pods' && subresource === 'binding') || resource.resource === 'bindings'
  )
}

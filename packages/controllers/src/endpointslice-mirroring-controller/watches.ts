/**
 * Which Endpoints an event concerns; events of slices are in `../endpoint-support`.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Endpoints, Service } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { hasSelector, isMirrorable } from './mirrorable.ts'

export const endpointsWatch: Watch<Endpoints> = {
  type: resources.endpoints,
  onAdd: (endpoints) => (isMirrorable(endpoints) ? [keyOf(endpoints)] : []),
  onUpdate: (previous, current) =>
    isMirrorable(previous) || isMirrorable(current) ? [keyOf(current)] : [],
  onDelete(endpoints) {
    if (endpoints instanceof DeletedFinalStateUnknown) return [endpoints.key]
    return isMirrorable(endpoints) ? [keyOf(endpoints)] : []
  },
}

export const serviceWatch: Watch<Service> = {
  type: resources.services,
  onAdd: (service) => (hasSelector(service) ? [] : [keyOf(service)]),
  onUpdate: (previous, current) =>
    hasSelector(previous) === hasSelector(current) ? [] : [keyOf(current)],
  onDelete(service) {
    if (service instanceof DeletedFinalStateUnknown) return [service.key]
    return hasSelector(service) ? [] : [keyOf(service)]
  },
}

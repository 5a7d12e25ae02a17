/** Every event of a Service concerns that Service. */
import { keyOf, resources } from '@gyropilot/api'
import type { Service } from '@gyropilot/api'
import { keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'

export const serviceWatch: Watch<Service> = {
  type: resources.services,
  onAdd: (service) => [keyOf(service)],
  onUpdate: (_, current) => [keyOf(current)],
  onDelete: (service) => [keyOfDeleted(service)],
}

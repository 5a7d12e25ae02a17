/** Which devices a rule selects. */
import { resourcesOnRequest } from '@gyropilot/api'
import type { DeviceTaintRule } from '@gyropilot/api'

export const DEVICE_TAINT_RULES = resourcesOnRequest.devicetaintrules

/** One device of one pool. */
export interface DeviceId {
  readonly driver: string
  readonly pool: string
  readonly device: string
}

export function selects({ spec }: DeviceTaintRule, id: DeviceId): boolean {
  const selector = spec.deviceSelector
  if (selector === undefined) return false
  return (
    (selector.driver ?? id.driver) === id.driver &&
    (selector.pool ?? id.pool) === id.pool &&
    (selector.device ?? id.device) === id.device
  )
}

/** DeviceTaintRule. Beta, and served only when asked for: not among the generated types. */
import type { Condition, DeviceTaint, KubernetesObject, ResourceType } from '@gyropilot/api'

export interface DeviceTaintRule extends KubernetesObject {
  readonly spec: DeviceTaintRuleSpec
  readonly status?: { readonly conditions?: readonly Condition[] }
}

export interface DeviceTaintRuleSpec {
  /** Absent: no device. Empty: every device. */
  readonly deviceSelector?: {
    readonly driver?: string
    readonly pool?: string
    readonly device?: string
  }
  readonly taint: Omit<DeviceTaint, 'effect'> & { readonly effect: string }
}

export const DEVICE_TAINT_RULES: ResourceType<DeviceTaintRule> = {
  group: 'resource.k8s.io',
  version: 'v1beta2',
  resource: 'devicetaintrules',
  kind: 'DeviceTaintRule',
  namespaced: false,
}

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

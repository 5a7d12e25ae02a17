/** Taints that an administrator gives to devices of others. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure. */
import type { DeviceTaintRule } from '@gyropilot/api'
import type { PublishedDevice } from './device-pools.ts'

/** The devices with the taints of the rules that select them, beside their own. */
export function withRuleTaints(
  devices: readonly PublishedDevice[],
  rules: readonly DeviceTaintRule[],
): readonly PublishedDevice[] {
  if (rules.length === 0) return devices
  return devices.map((published) => {
    const added = rules.filter((rule) => selects(rule, published))
    if (added.length === 0) return published
    const { device } = published
    const taints = [...(device.taints ?? []), ...added.map(({ spec }) => spec.taint)]
    return { ...published, device: { ...device, taints } }
  })
}

/** No selector selects nothing, an empty one every device. */
function selects({ spec }: DeviceTaintRule, { driver, pool, device }: PublishedDevice): boolean {
  const selector = spec.deviceSelector
  if (selector === undefined) return false
  return (
    (selector.driver ?? driver) === driver &&
    (selector.pool ?? pool) === pool &&
    (selector.device ?? device.name) === device.name
  )
}

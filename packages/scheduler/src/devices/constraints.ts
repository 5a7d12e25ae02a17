/** What the devices of a claim must have in common, or must not. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure. */
import type { DeviceAttribute, DeviceConstraint, ResourceClaim } from '@gyropilot/api'
import type { PublishedDevice } from './device-pools.ts'

/** Whether what is chosen so far can stay together. */
export type Constraint = (devicesOf: (requestName: string) => readonly PublishedDevice[]) => boolean

export function constraintsOf({ spec }: ResourceClaim): readonly Constraint[] {
  const all = (spec.devices?.requests ?? []).map(({ name }) => name)
  return (spec.devices?.constraints ?? []).map((constraint) => constraintOf(constraint, all))
}

function constraintOf(
  { matchAttribute, distinctAttribute, requests = [] }: DeviceConstraint,
  all: readonly string[],
): Constraint {
  // Of an alternative, `request/alternative`, the request stands for it.
  const names = requests.map((name) => name.split('/')[0]!)
  const concerned = names.length === 0 ? all : all.filter((name) => names.includes(name))
  const attribute = matchAttribute ?? distinctAttribute
  if (attribute === undefined) return () => true
  return (devicesOf) => {
    const values = concerned.flatMap(devicesOf).map((device) => valueOf(device, attribute))
    if (values.includes(undefined)) return false
    const { size } = new Set(values)
    return matchAttribute === undefined ? size === values.length : size <= 1
  }
}

/** Type and value as text; undefined: it has no such attribute. */
function valueOf({ driver, device }: PublishedDevice, name: string): string | undefined {
  const slash = name.indexOf('/')
  const short = name.slice(0, slash) === driver ? name.slice(slash + 1) : undefined
  const found: DeviceAttribute | undefined =
    device.attributes?.[name] ?? (short === undefined ? undefined : device.attributes?.[short])
  return found && JSON.stringify(found)
}

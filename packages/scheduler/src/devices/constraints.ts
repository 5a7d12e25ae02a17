/** What the devices of a claim must have in common, or must not. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure. */
import type { DeviceAttribute, DeviceConstraint, ResourceClaim } from '@gyropilot/api'
import type { PublishedDevice } from './device-pools.ts'

interface ChosenDevice {
  readonly device: PublishedDevice
  /** `fullName`: with the alternative that was taken, `request/alternative`. */
  readonly wanted: { readonly requestName: string; readonly fullName: string }
}

/** Whether what is chosen so far can stay together. */
export type Constraint = (chosen: readonly ChosenDevice[]) => boolean

export function constraintsOf({ spec }: ResourceClaim): readonly Constraint[] {
  return (spec.devices?.constraints ?? []).map(constraintOf)
}

/** One that names an alternative says nothing of the others of its request. */
function constraintOf({
  matchAttribute,
  distinctAttribute,
  requests = [],
}: DeviceConstraint): Constraint {
  const concerns = ({ requestName, fullName }: ChosenDevice['wanted']): boolean =>
    requests.length === 0 || requests.includes(requestName) || requests.includes(fullName)
  const attribute = matchAttribute ?? distinctAttribute
  if (attribute === undefined) return () => true
  return (chosen) => {
    const values = chosen
      .filter(({ wanted }) => concerns(wanted))
      .map(({ device }) => valueOf(device, attribute))
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

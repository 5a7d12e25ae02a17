/**
 * What slices say of devices: only those of a pool's newest generation count.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Model.
 */
import { deepEqual } from '@gyropilot/api'
import type { DeviceTaint, ResourceSlice } from '@gyropilot/api'
import type { DeviceId } from './device-taint-rule.ts'

export interface IndexedTaint {
  readonly taint: DeviceTaint
  /** Where it stands in the list of its device. */
  readonly index: number
}

const NO_TAINTS: readonly IndexedTaint[] = []
type TaintsByDevice = ReadonlyMap<string, readonly IndexedTaint[]>

/** Drivers are DNS names: no slash makes two pools one. */
export function poolKey({ driver, pool }: Pick<DeviceId, 'driver' | 'pool'>): string {
  return `${driver}/${pool}`
}

export class DevicePools {
  /** By pool, then by the name of the slice. */
  readonly #slices = new Map<string, Map<string, ResourceSlice>>()
  /** NoExecute taints of devices that have any. */
  readonly #taints = new Map<string, TaintsByDevice>()

  taintsOf(id: DeviceId): readonly IndexedTaint[] {
    return this.#taints.get(poolKey(id))?.get(id.device) ?? NO_TAINTS
  }

  /** Of all pools as they are now. */
  *devices(): Iterable<DeviceId> {
    for (const slices of this.#slices.values())
      for (const { spec } of newest(slices))
        for (const { name } of spec.devices ?? [])
          yield { driver: spec.driver, pool: spec.pool.name, device: name }
  }

  /** Puts `after` in the place of `before`; answers the devices whose taints are others now. */
  replace(
    before: ResourceSlice | undefined,
    after: ResourceSlice | undefined,
  ): readonly DeviceId[] {
    const touched = new Map<string, Pick<DeviceId, 'driver' | 'pool'>>()
    for (const slice of [before, after])
      if (slice !== undefined) touched.set(poolKey(poolOf(slice)), poolOf(slice))
    if (before !== undefined) this.#take(before)
    if (after !== undefined) this.#put(after)
    return [...touched].flatMap(([key, pool]) =>
      this.#refresh(key).map((device) => ({ ...pool, device })),
    )
  }

  #take(slice: ResourceSlice): void {
    const key = poolKey(poolOf(slice))
    const slices = this.#slices.get(key)
    slices?.delete(nameOf(slice))
    if (slices?.size === 0) this.#slices.delete(key)
  }

  #put(slice: ResourceSlice): void {
    const key = poolKey(poolOf(slice))
    const slices = this.#slices.get(key) ?? new Map<string, ResourceSlice>()
    this.#slices.set(key, slices.set(nameOf(slice), slice))
  }

  /** Names of the devices whose taints have changed. */
  #refresh(key: string): readonly string[] {
    const before = this.#taints.get(key)
    const after = taintsByDevice(this.#slices.get(key) ?? new Map())
    if (after.size === 0) this.#taints.delete(key)
    else this.#taints.set(key, after)
    const devices = new Set([...(before?.keys() ?? []), ...after.keys()])
    return [...devices].filter((device) => !deepEqual(before?.get(device), after.get(device)))
  }
}

function newest(slices: ReadonlyMap<string, ResourceSlice>): readonly ResourceSlice[] {
  const all = [...slices.values()]
  const generations = all.map(({ spec }) => spec.pool.generation)
  // Beyond 2^53 they are bigints, which no function of Math takes.
  const newestOf = generations.reduce((newest, each) => (each > newest ? each : newest), 0)
  return all.filter(({ spec }) => spec.pool.generation === newestOf)
}

function taintsByDevice(slices: ReadonlyMap<string, ResourceSlice>): TaintsByDevice {
  const byDevice = new Map<string, readonly IndexedTaint[]>()
  for (const { spec } of newest(slices)) {
    for (const { name, taints = [] } of spec.devices ?? []) {
      const evicting = taints.flatMap((taint, index) =>
        taint.effect === 'NoExecute' ? [{ taint, index }] : [],
      )
      if (evicting.length > 0) byDevice.set(name, evicting)
    }
  }
  return byDevice
}

function poolOf({ spec }: ResourceSlice): Pick<DeviceId, 'driver' | 'pool'> {
  return { driver: spec.driver, pool: spec.pool.name }
}

function nameOf({ metadata }: ResourceSlice): string {
  return metadata?.name ?? ''
}

/** The devices that drivers have published. Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure. */
import { nodeSelectorMatches } from '@gyropilot/api'
import type { CounterSet, Device, Node, NodeSelector, ResourceSlice } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

export interface PublishedDevice {
  readonly driver: string
  readonly pool: string
  readonly device: Device
  /** Where it can be used. */
  readonly place: DevicePlace
  readonly hardware: PoolHardware
}

/** What partitions of the pool share, wherever they can be used. */
interface PoolHardware {
  readonly counterSets: ReadonlyMap<string, CounterSet>
  readonly partitions: readonly Device[]
}

type DevicePlace = Pick<Device, 'nodeName' | 'nodeSelector' | 'allNodes'>

/** Driver, pool and device: names without a slash, so that no two are one. */
export function deviceKey({
  driver,
  pool,
  device,
}: {
  readonly driver: string
  readonly pool: string
  readonly device: string
}): string {
  return `${driver}/${pool}/${device}`
}

export function keyOfPublished({ driver, pool, device }: PublishedDevice): string {
  return deviceKey({ driver, pool, device: device.name })
}

/** Of pools that are whole at their newest generation: a driver that is at work on its slices will be done soon. */
export function publishedDevices(slices: readonly ResourceSlice[]): readonly PublishedDevice[] {
  return poolsOf(slices).flatMap(({ isWhole, newest }) => (isWhole ? devicesOf(newest) : []))
}

interface Pool {
  readonly id: string
  /** Of the newest generation. */
  readonly newest: readonly ResourceSlice[]
  readonly isWhole: boolean
}

/** In the order in which devices are tried. */
export function poolsOf(slices: readonly ResourceSlice[]): readonly Pool[] {
  const ordered = slices.toSorted(
    (a, b) =>
      compareStrings(a.spec.driver, b.spec.driver) ||
      compareStrings(a.spec.pool.name, b.spec.pool.name) ||
      compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? ''),
  )
  const pools = Map.groupBy(ordered, ({ spec: { driver, pool } }) => `${driver}/${pool.name}`)
  return [...pools].map(([id, ofPool]) => {
    const generation = Math.max(...ofPool.map(({ spec }) => Number(spec.pool.generation)))
    const newest = ofPool.filter(({ spec }) => Number(spec.pool.generation) === generation)
    const isWhole = newest.length === Number(newest[0]!.spec.pool.resourceSliceCount)
    return { id, newest, isWhole }
  })
}

function devicesOf(newest: readonly ResourceSlice[]): readonly PublishedDevice[] {
  const sets = newest.flatMap(({ spec }) => spec.sharedCounters ?? [])
  const hardware = {
    counterSets: new Map(sets.map((set) => [set.name, set])),
    partitions: newest
      .flatMap(({ spec }) => spec.devices ?? [])
      .filter(({ consumesCounters = [] }) => consumesCounters.length > 0),
  }
  return newest.flatMap(({ spec }) =>
    (spec.devices ?? []).map((device) => ({
      driver: spec.driver,
      pool: spec.pool.name,
      device,
      place: spec.perDeviceNodeSelection === true ? device : spec,
      hardware,
    })),
  )
}

export function isUsableOn({ place }: Pick<PublishedDevice, 'place'>, node: Node): boolean {
  if (place.allNodes === true) return true
  if (place.nodeName !== undefined) return place.nodeName === node.metadata?.name
  return place.nodeSelector !== undefined && nodeSelectorMatches(place.nodeSelector, node)
}

/** The devices that a node can use, in their order. Those of other nodes are not looked at. */
export function devicesByNode(
  devices: readonly PublishedDevice[],
): (node: Node) => readonly PublishedDevice[] {
  const positions = new Map(devices.map((device, at) => [device, at]))
  const local = Map.groupBy(devices, ({ place }) => place.nodeName)
  const shared = local.get(undefined) ?? []
  return (node) => {
    const own = local.get(node.metadata?.name) ?? []
    const usable = shared.filter((device) => isUsableOn(device, node))
    if (usable.length === 0) return own
    return [...own, ...usable].sort((a, b) => positions.get(a)! - positions.get(b)!)
  }
}

/** The nodes that can use all of these devices; undefined: any node. */
export function nodesOf(devices: readonly PublishedDevice[]): NodeSelector | undefined {
  for (const { place } of devices)
    if (place.nodeName !== undefined)
      return {
        nodeSelectorTerms: [
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: [place.nodeName] }] },
        ],
      }
  // Selectors of slices have one term.
  const terms = devices.flatMap(({ place }) => place.nodeSelector?.nodeSelectorTerms ?? [])
  const matchExpressions = unique(terms.flatMap((term) => term.matchExpressions ?? []))
  const matchFields = unique(terms.flatMap((term) => term.matchFields ?? []))
  if (terms.length === 0) return undefined
  return {
    nodeSelectorTerms: [
      {
        ...(matchExpressions.length > 0 && { matchExpressions }),
        ...(matchFields.length > 0 && { matchFields }),
      },
    ],
  }
}

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
}

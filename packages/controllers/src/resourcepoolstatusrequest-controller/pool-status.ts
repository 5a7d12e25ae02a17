/**
 * What there is in the pools that a request asks about. Step numbers are those of
 * docs/behaviour/controllers/resourcepoolstatusrequest-controller.md, Sync.
 */
import type {
  PoolStatus,
  ResourceClaim,
  ResourcePoolStatusRequest,
  ResourceSlice,
} from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { DEFAULT_LIMIT, VALIDATION_ERROR_BYTES_MAX } from './config.ts'

export interface CalculatedPools {
  /** Of all pools that match, also of those that are not kept. */
  readonly poolCount: number
  readonly pools: readonly PoolStatus[]
}

export function calculatePools(
  { spec }: ResourcePoolStatusRequest,
  slices: readonly ResourceSlice[],
  claims: readonly ResourceClaim[],
): CalculatedPools {
  // 2.
  const asked = slices.filter(
    (slice) =>
      slice.spec.driver === spec?.driver &&
      (!spec?.poolName || slice.spec.pool.name === spec.poolName),
  )
  // 3.
  const byPool = Map.groupBy(asked, ({ spec: { driver, pool } }) => poolId(driver, pool.name))
  // 5.
  const allocated = allocations(claims)
  // 4, 6.
  const pools = [...byPool]
    .map(([id, ofPool]) => poolStatus(ofPool, allocated.get(id) ?? 0))
    .sort((a, b) => compareStrings(a.driver, b.driver) || compareStrings(a.poolName, b.poolName))
  return { poolCount: pools.length, pools: pools.slice(0, spec?.limit ?? DEFAULT_LIMIT) }
}

/** Neither part has a slash that could make two pools one: drivers are DNS names. */
function poolId(driver: string, pool: string): string {
  return `${driver}/${pool}`
}

function allocations(claims: readonly ResourceClaim[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { status } of claims) {
    for (const { driver, pool } of status?.allocation?.devices?.results ?? []) {
      const id = poolId(driver, pool)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  return counts
}

function poolStatus(ofPool: readonly ResourceSlice[], allocated: number): PoolStatus {
  // Beyond 2^53 it is a bigint, which no function of Math takes.
  const generation = ofPool
    .map(({ spec }) => spec.pool.generation)
    .reduce((newest, each) => (each > newest ? each : newest))
  const slices = ofPool.filter(({ spec }) => spec.pool.generation === generation)
  const { driver, pool } = slices[0]!.spec
  const nodeNames = new Set(slices.map(({ spec }) => spec.nodeName))
  const [nodeName] = nodeNames
  const found: PoolStatus = {
    driver,
    poolName: pool.name,
    generation,
    ...(nodeNames.size === 1 && nodeName ? { nodeName } : {}),
  }
  const expected = pool.resourceSliceCount
  if (slices.length < expected) {
    const validationError = `pool ${driver}/${pool.name} is incomplete: observed ${slices.length}/${expected} slices at generation ${generation}`
    return { ...found, validationError: withinBytes(validationError, VALIDATION_ERROR_BYTES_MAX) }
  }
  const total = slices.reduce((sum, { spec }) => sum + (spec.devices?.length ?? 0), 0)
  return {
    ...found,
    resourceSliceCount: slices.length,
    totalDevices: total,
    allocatedDevices: allocated,
    // What cannot be used is not known yet.
    unavailableDevices: 0,
    availableDevices: Math.max(0, total - allocated),
  }
}

/** Names of pools are ASCII: a character is a byte. */
function withinBytes(text: string, bytesMax: number): string {
  return text.slice(0, bytesMax)
}

/** Smallest valid objects of the tests about devices; of driver `d.example.com` and class `c` unless told otherwise. */
import type {
  Device,
  DeviceClaim,
  DeviceClass,
  DeviceRequest,
  ResourceClaim,
  ResourceSlice,
} from '@gyropilot/api'
import { allocate } from './allocate.ts'
import { closedPools } from './closed-pools.ts'
import { publishedDevices } from './device-pools.ts'
import { Selectors } from './selectors.ts'
import type { Consumption } from './shared-capacity.ts'

export function slice(
  name: string,
  devices: readonly Device[],
  spec: Partial<ResourceSlice['spec']> = {},
): ResourceSlice {
  return {
    metadata: { name },
    spec: {
      driver: 'd.example.com',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      nodeName: 'n',
      devices,
      ...spec,
    },
  }
}

export function claim(devices: DeviceClaim, name = 'claim'): ResourceClaim {
  return { metadata: { name, namespace: 'ns', uid: `${name}-uid` }, spec: { devices } }
}

export function request(
  name: string,
  exactly: Partial<NonNullable<DeviceRequest['exactly']>> = {},
): DeviceRequest {
  return {
    name,
    exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1, ...exactly },
  }
}

export const selecting = (expression: string) => ({ cel: { expression } })

/** `request=device` of each result, of each claim; undefined: not served. */
export function served(
  claims: readonly ResourceClaim[],
  slices: readonly ResourceSlice[],
  taken: readonly string[] = [],
  deviceClass: DeviceClass['spec'] = {},
): readonly string[] | undefined {
  return allocations(claims, slices, taken, deviceClass)?.map(({ devices }) =>
    (devices?.results ?? []).map(({ request: of, device }) => `${of}=${device}`).join(' '),
  )
}

export function allocations(
  claims: readonly ResourceClaim[],
  slices: readonly ResourceSlice[],
  taken: readonly string[] = [],
  deviceClass: DeviceClass['spec'] = {},
  shares: ReadonlyMap<string, Consumption> = new Map(),
) {
  return allocate(claims, {
    devices: publishedDevices(slices),
    closedPools: closedPools(slices)({ metadata: { name: 'n' } }),
    taken: new Set(taken.map((device) => `d.example.com/p/${device}`)),
    shares,
    newShareId: () => 'share',
    classes: (name) => (name === 'c' ? { metadata: { name }, spec: deviceClass } : undefined),
    selectors: new Selectors(),
  })
}

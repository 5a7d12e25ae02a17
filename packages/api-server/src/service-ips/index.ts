export { ipAddressObject } from './ip-allocator.ts'
export type { PortRange } from './node-port-allocator.ts'
export { DEFAULT_SERVICE_RANGES, serviceAllocation } from './service-allocation.ts'
export type { ServiceAllocationOptions } from './service-allocation.ts'

export { DEFAULT_SERVICE_RANGES, ServiceAllocation } from './service-allocation.ts'
export { ServiceRepair } from './service-repair.ts'

export { DEFAULT_SERVICE_RANGES, serviceAllocation } from './service-allocation.ts'

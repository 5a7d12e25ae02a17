export { CallFaults } from './call-faults.ts'
export type { CallName, CallRecord } from './call-faults.ts'
export { InMemoryCloud } from './in-memory-cloud.ts'
export type { Balancer, InMemoryCloudOptions, InMemoryPart, Machine } from './in-memory-cloud.ts'

export { createMemoryStore } from '../storage/memory-store.ts'
export { createTestServer, turn } from './test-server.ts'
export type { AnyValue, TestAnswer, TestServer, TestWatch } from './test-server.ts'

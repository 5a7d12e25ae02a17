export { createMemoryStore } from '../storage/memory-store.ts'

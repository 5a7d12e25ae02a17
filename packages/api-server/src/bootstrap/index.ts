export { bootstrap } from './bootstrap.ts'
export type { Bootstrapped } from './bootstrap.ts'

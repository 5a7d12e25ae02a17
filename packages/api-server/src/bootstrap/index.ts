export { bootstrap } from './bootstrap.ts'
export type { Bootstrapped, BootstrapOptions } from './bootstrap.ts'

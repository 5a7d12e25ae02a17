export { Cluster } from './cluster.ts'
export type { ClusterOptions, RunningPart } from './cluster.ts'
export { ADMINISTRATOR, randomToken } from './identities.ts'

export { Cluster } from './cluster.ts'
export type { ClusterOptions, RunningPart } from './cluster.ts'
export { ADMINISTRATOR, randomToken } from './identities.ts'
export type { Audit, AuditEntry } from './in-process-client.ts'

/** What a cluster in real time needs, without the simulation: `gyro up` is ready sooner for it. */
export { Cluster } from './cluster.ts'
export type { ClusterOptions, ServerSettings } from './cluster.ts'
export { Parts } from './parts.ts'
export type { Connection, RunningPart } from './parts.ts'
export {
  clusterCidr,
  givesPodRanges,
  nodeIpam,
  serviceRanges,
  simulatedNodes,
} from './pod-ranges.ts'
export type { IpFamily } from './pod-ranges.ts'

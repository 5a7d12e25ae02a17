export { loopbackConfig } from './config.ts'
export type { LoopbackConfig } from './config.ts'
export { LoopbackCloud } from './loopback-cloud.ts'
export type { LoopbackCloudOptions } from './loopback-cloud.ts'
export type {
  BackEnd,
  Connection,
  Datagram,
  HttpAnswer,
  HttpRequest,
  Listening,
  Network,
  PodNetwork,
} from './network.ts'

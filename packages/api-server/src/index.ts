export { ApiError } from './contracts.ts'
export type {
  AdmissionPlugin,
  AdmissionRequest,
  ResourceInfo,
  ServerInternals,
  SubresourceAnswer,
  SubresourceCall,
  SubresourceHandler,
  UserInfo,
} from './contracts.ts'
export type { ServerRequest, ServerResponse, ServerResponseBody } from './http/exchange.ts'
export type { Listener } from './http/listener/listener.ts'
export type { AuthorizationMode } from './auth/index.ts'
export type { AdmissionSelection, PodSecurityDefaults } from './admission/index.ts'
export { createApiServer } from './server.ts'
export type { ApiServer, ApiServerOptions, ListenOptions } from './server-options.ts'
export type { RuntimeConfig } from './registry/runtime-config.ts'
export { DEFAULT_SERVICE_RANGES } from './service-ips/index.ts'
export { createMemoryStore } from './storage/memory-store.ts'
export type {
  CommandEnd,
  ContainerCommand,
  ContainerLogRequest,
  ContainerStreams,
  Kubelet,
  Kubelets,
  PortStreams,
  UsageSummary,
} from './subresources/index.ts'
export type { InitialState } from './storage/revision-log.ts'
export { openSqliteStore } from './storage/sqlite-store.ts'
export type {
  Store,
  StoredEntry,
  StoreEvent,
  StoreKey,
  StoreSnapshot,
  StoreWatch,
} from './storage/store.ts'
export { createClusterCertificates, kubeconfigText } from './tls/index.ts'
export type { CertificateFiles, ClusterCertificates } from './tls/index.ts'

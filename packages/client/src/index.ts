export { authenticatedTransport, basicCredentials, bearerToken } from './auth/credentials.ts'
export type { CredentialHeaders, Credentials } from './auth/credentials.ts'
export { TransportPool } from './auth/connect.ts'
export type { ConnectionOptions } from './auth/connect.ts'
export { impersonatingTransport, impersonationHeaders } from './auth/impersonation.ts'
export { ApiClient } from './api-client.ts'
export type { ApiClientOptions } from './api-client.ts'
export type * from './client.ts'
export { isDecodedForCaller } from './answers/decoded-values.ts'
export { ResourceLookup, asType, discover } from './discovery.ts'
export type { Discovered } from './discovery.ts'
export { RestMapper } from './rest-mapper.ts'
export type { RestMapperOptions } from './rest-mapper.ts'
export { clientErrors } from './errors.ts'
export { HttpTransport } from './http-transport/http-transport.ts'
export type { HttpTransportOptions } from './http-transport/http-transport.ts'
export { staticTls } from './http-transport/tls-source.ts'
export type { TlsMaterial, TlsSource } from './http-transport/tls-source.ts'
export { mergeKubeconfigs } from './kubeconfig/kubeconfig.ts'
export type {
  ClusterEntry,
  ContextEntry,
  ExecConfig,
  Impersonation,
  Kubeconfig,
  UserEntry,
} from './kubeconfig/kubeconfig.ts'
export {
  inClusterConfig,
  kubeconfigPaths,
  loadClientConfig,
  loadKubeconfig,
  isOutsideOfPod,
  loadManagerConfig,
} from './kubeconfig/load.ts'
export { parseKubeconfig } from './kubeconfig/parse.ts'
export { anonymousConfig } from './kubeconfig/rest-config.ts'
export type { RestConfig, TlsFiles } from './kubeconfig/rest-config.ts'
export { selectConfig } from './kubeconfig/select.ts'
export type { ConfigOverrides } from './kubeconfig/select.ts'
export { memoryTransport } from './memory-transport.ts'
export type { MemoryTransportOptions } from './memory-transport.ts'
export { TokenBucket, noRateLimit, rateLimiterFor } from './requests/rate-limit.ts'
export type { RequestRateLimiter } from './requests/rate-limit.ts'
export * from './requests/request.ts'
export {
  WaitTimeoutError,
  backoffStep,
  defaultBackoff,
  defaultRetry,
  exponentialBackoff,
  retryOnConflict,
  retryOnError,
} from './requests/retry.ts'
export type { Backoff, RetryContext } from './requests/retry.ts'
export { serverBackoffFrom } from './requests/server-backoff.ts'
export type { ServerBackoffSettings } from './requests/server-backoff.ts'
export * from './answers/status-error.ts'
export {
  TransportError,
  isAborted,
  isConnectionLost,
  isConnectionRefused,
  isTransportTimeout,
} from './transport.ts'
export type {
  RequestBody,
  ResponseBody,
  Transport,
  TransportRequest,
  TransportResponse,
} from './transport.ts'
export { goPlatform, userAgent } from './requests/user-agent.ts'
export type { UserAgentParts } from './requests/user-agent.ts'
export type { WarningHandler } from './requests/warnings.ts'
export type { Decoding, LeanDecoding } from './answers/decode-object.ts'
export { decodeWatch, takeDecoded } from './watches/decoded-events.ts'
export { WatchDecoder, WatchDecodingError } from './watches/watch-decoder.ts'
export { ResettingBackoff, jittered, poll, until } from './wait.ts'
export type { PollOptions } from './wait.ts'

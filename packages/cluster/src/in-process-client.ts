/** Clients that talk to an API server within this process: no sockets, no JSON, the store's own objects. */
import type { ApiServer, UserInfo } from '@gyropilot/api-server'
import { ApiClient, memoryTransport } from '@gyropilot/client'
import type { Transport } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry } from '@gyropilot/foundation'
import type { Identities } from './identities.ts'

/** A transport that speaks as `user`. */
export function transportAs(server: ApiServer, identities: Identities, user: UserInfo): Transport {
  const authorization = `Bearer ${identities.tokenOf(user)}`
  return memoryTransport((request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization } }),
  )
}

export interface InProcessClientOptions {
  readonly server: ApiServer
  readonly identities: Identities
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: MetricsRegistry
}

/** A client without rate limit. `program` is the name in front of the user agent, from which the server takes the field manager. */
export function clientAs(
  options: InProcessClientOptions,
  user: UserInfo,
  program: string,
): ApiClient {
  const { server, identities, clock, logger, metrics } = options
  return new ApiClient({
    transport: transportAs(server, identities, user),
    clock,
    logger,
    metrics,
    qps: -1,
    userAgent: program,
    onWarning: () => {},
  })
}

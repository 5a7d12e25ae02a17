/** Clients that talk to an API server within this process: no sockets, no JSON, the store's own objects. */
import type { ApiServer, UserInfo } from '@gyropilot/api-server'
import { ApiClient, memoryTransport } from '@gyropilot/client'
import type { Transport } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry } from '@gyropilot/foundation'
import type { Identities } from './identities.ts'

/** One answered request of a part of the cluster. */
export interface AuditEntry {
  readonly user: string
  readonly method: string
  readonly path: string
  readonly status: number
}

export type Audit = (entry: AuditEntry) => void

/** A transport that speaks as `user`. */
export function transportAs(
  server: ApiServer,
  identities: Identities,
  user: UserInfo,
  audit?: Audit,
): Transport {
  const authorization = `Bearer ${identities.tokenOf(user)}`
  return memoryTransport(async (request) => {
    const { method, path } = request
    const answer = await server.handle({
      ...request,
      headers: { ...request.headers, authorization },
    })
    audit?.({ user: user.name, method, path, status: answer.status })
    return answer
  })
}

export interface InProcessClientOptions {
  readonly server: ApiServer
  readonly identities: Identities
  readonly audit?: Audit | undefined
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
  const { server, identities, audit, clock, logger, metrics } = options
  return new ApiClient({
    transport: transportAs(server, identities, user, audit),
    clock,
    logger,
    metrics,
    qps: -1,
    userAgent: program,
    onWarning: () => {},
  })
}

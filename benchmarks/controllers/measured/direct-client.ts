import { ApiClient, HttpTransport, authenticatedTransport, bearerToken } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { silentLogger, silentMetrics } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

/** A client of the script's own, without a rate limit: the manager is what is measured. Any certificate of the server will do. */
export function directClient(
  server: string,
  token: string,
  clock: Clock,
): { readonly client: Client; close(): Promise<void> } {
  const connection = new HttpTransport({ server, clock, tls: { insecure: true } as never })
  const transport = authenticatedTransport(connection, bearerToken(token))
  const client = new ApiClient({
    transport,
    clock,
    logger: silentLogger,
    metrics: silentMetrics,
    qps: -1,
  })
  return { client, close: () => connection.close() }
}

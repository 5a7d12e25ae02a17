import { ApiClient } from '@gyropilot/client'
import type { ApiClientOptions, Client } from '@gyropilot/client'

/** A client of a part of the cluster: nobody holds it back, and nobody reads the server's warnings. */
export function partClient(options: Omit<ApiClientOptions, 'qps' | 'onWarning'>): Client {
  return new ApiClient({ ...options, qps: -1, onWarning: () => {} })
}

import { untilAborted } from '@gyropilot/foundation'
import { TransportError } from '../transport.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

/** Who a request is from, as headers. */
export interface Credentials {
  /** Lower-case names; at once where they are known. Rejects when there is no way to get a credential. */
  headers(): CredentialHeaders | Promise<CredentialHeaders>
  /** The server answered 401 to a request with these headers, the object that `headers` gave: they are no good any more. */
  rejected?(headers: CredentialHeaders): void | Promise<void>
}

/** Lower-case names. */
export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>

/** Adds credentials to requests. One that has an Authorization header already is left alone. */
export function authenticatedTransport(transport: Transport, credentials: Credentials): Transport {
  return {
    async send(request: TransportRequest): Promise<TransportResponse> {
      if (request.headers['authorization'] !== undefined) return transport.send(request)
      const headers = credentials.headers()
      const added = headers instanceof Promise ? await waitedFor(headers, request) : headers
      const response = await transport.send({
        ...request,
        headers: { ...request.headers, ...added },
      })
      if (response.status === 401) await credentials.rejected?.(added)
      return response
    },
    close: () => transport.close(),
  }
}

/** Whoever gives up does not wait for a plug-in or an issuer; others may wait for the same answer, so it goes on. */
async function waitedFor(
  headers: Promise<CredentialHeaders>,
  { method, path, signal }: TransportRequest,
): Promise<CredentialHeaders> {
  try {
    return await untilAborted(headers, signal)
  } catch (error) {
    if (!signal?.aborted) throw error
    const what = `${method} ${path.split('?', 1)[0]}`
    throw new TransportError('ABORTED', `${what}: given up by its caller`, { cause: error })
  }
}

/** A token that never changes. For one that is rotated: `TokenFile` by a RestConfig's `bearerTokenFile`. */
export function bearerToken(token: string): Credentials {
  return { headers: () => ({ authorization: `Bearer ${token}` }) }
}

/** User name and password (RFC 7617). */
export function basicCredentials(username: string, password: string): Credentials {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { headers: () => ({ authorization }) }
}

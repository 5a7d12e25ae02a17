/**
 * The API servers behind APIServices, as this one speaks to them: as a front proxy that has judged who asks.
 * Contract: docs/behaviour/api-server/requests.md, "APIServices".
 */
import { hostAndPort } from '@gyropilot/api'
import { headerOfText } from '@gyropilot/foundation'
import type { Clock, Timer } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServiceResolver } from '../admission/webhooks/client-config.ts'
import type { UserInfo } from '../contracts.ts'
import type { Tunnel } from '../http/answer.ts'
import { CheckingAgent } from '../http/outgoing-calls/agent.ts'
import { forward } from '../http/outgoing-calls/forward.ts'
import type { ForwardedRequest } from '../http/outgoing-calls/forward.ts'
import { networkText } from '../http/outgoing-calls/outgoing-calls.ts'
import type { PassedAnswer } from '../http/outgoing-calls/passed-answer.ts'

const DEFAULT_PORT = 443

interface BackendsParts {
  readonly clock: Clock
  readonly resolveService: ServiceResolver
  /** Signed by the authority of front proxies. Absent: backends are shown nothing, and believe in nobody. */
  readonly proxyClient?: CertificateAndKey
}

/** Nobody is found behind a Service: nothing was sent. The text stands for itself. */
export class UnresolvedService extends Error {}

type BackendRequest = Omit<ForwardedRequest, 'connectTo' | 'serverName'> & {
  /** How long the head of the answer may take. Absent: as long as it likes. */
  readonly headWithinMs?: number
}

export class Backends {
  readonly #parts: BackendsParts
  /** By whom they trust. */
  readonly #agents = new Map<string, CheckingAgent>()

  constructor(parts: BackendsParts) {
    this.#parts = parts
  }

  /** A tunnel if it switches protocols, else its answer. Rejects when its Service leads nowhere or nobody answers there. */
  async send({ spec }: Stored, request: BackendRequest): Promise<PassedAnswer | Tunnel> {
    const { namespace, name, port = DEFAULT_PORT } = spec.service
    const connectTo = this.#resolved({ namespace, name, port })
    const serverName = `${name}.${namespace}.svc`
    const host = hostAndPort(connectTo.host, connectTo.port)
    const headers = {
      ...request.headers,
      host,
      'x-forwarded-host': host,
      'x-forwarded-proto': 'https',
    }
    const { headWithinMs } = request
    const late = headWithinMs === undefined ? undefined : this.#lateAfter(headWithinMs)
    const signals = [request.signal, late?.signal].filter((signal) => signal !== undefined)
    const bounded = {
      ...request,
      headers,
      connectTo,
      serverName,
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
    }
    try {
      return await forward(bounded, this.#agentOf(spec))
    } catch (error) {
      const url = `https://${serverName}:${port}`
      throw new Error(networkText(error, { url, connectTo }), { cause: error })
    } finally {
      late?.timer.cancel()
    }
  }

  #lateAfter(headWithinMs: number): { readonly signal: AbortSignal; readonly timer: Timer } {
    const late = new AbortController()
    const timer = this.#parts.clock.after(headWithinMs, () =>
      late.abort(new Error('context deadline exceeded')),
    )
    return { signal: late.signal, timer }
  }

  #resolved(service: Parameters<ServiceResolver>[0]): ReturnType<ServiceResolver> {
    try {
      return this.#parts.resolveService(service)
    } catch (error) {
      throw new UnresolvedService((error as Error).message, { cause: error })
    }
  }

  /** Closes idle connections. */
  stop(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #agentOf({ caBundle, insecureSkipTLSVerify: insecure = false }: Stored): CheckingAgent {
    const key = insecure ? 'any' : (caBundle ?? '')
    let agent = this.#agents.get(key)
    if (agent === undefined) {
      const { proxyClient, clock } = this.#parts
      const authorities = caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined
      agent = new CheckingAgent(
        {
          insecure,
          ...(authorities === undefined ? {} : { authoritiesPem: authorities }),
          ...(proxyClient === undefined ? {} : { own: proxyClient }),
        },
        clock,
      )
      this.#agents.set(key, agent)
    }
    return agent
  }
}

/** Who asks, for servers that believe a front proxy. */
export function remoteHeaders({
  name,
  uid,
  groups,
  extra,
}: UserInfo): Record<string, string | readonly string[]> {
  return {
    'x-remote-user': headerOfText(name),
    ...(uid ? { 'x-remote-uid': headerOfText(uid) } : {}),
    ...(groups.length === 0 ? {} : { 'x-remote-group': groups.map(headerOfText) }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `x-remote-extra-${headerName(key)}`,
        values.map(headerOfText),
      ]),
    ),
  }
}

/** Keys hold what names of headers may not: `example.com/x` is `example.com%2Fx`. */
function headerName(key: string): string {
  return Buffer.from(key)
    .toString('latin1')
    .replaceAll(
      /[^A-Za-z0-9!#$&'*+\-.^_`|~]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .toLowerCase()
}

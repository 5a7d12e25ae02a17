/** A connection to an API server within this process: no sockets, no JSON, the store's own objects. */
import type { KubernetesObject } from '@gyropilot/api'
import type { ApiServer, UserInfo } from '@gyropilot/api-server'
import { memoryTransport } from '@gyropilot/client'
import type { Transport, TransportRequest, TransportResponse } from '@gyropilot/client'
import type { TurnGate } from '@gyropilot/foundation'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { ADMINISTRATOR, CONTROLLER_MANAGER, SCHEDULER, controllerAccount } from './identities.ts'
import type { Identities } from './identities.ts'
import type { Connection, PartIdentity } from './parts.ts'

/** One answered request of a part of the cluster. */
export interface AuditEntry {
  readonly user: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** It made a new version of the object whose version it named. One that says what is stored already makes none. */
  readonly changed: boolean
  /** Of the object that was answered. */
  readonly resourceVersion?: string | undefined
}

/** Called once a request of a part within this process is answered. Requests over sockets are not audited. */
export type Audit = (entry: AuditEntry) => void

interface InProcessConnectionOptions {
  readonly server: ApiServer
  readonly identities: Identities
  readonly authorityPem: string
  readonly serviceAccountPrivateKeyPem: string
  readonly signingAuthority: CertificateAndKey
  readonly audit?: Audit | undefined
  /** Absent: every request is answered as it comes. */
  readonly gate?: TurnGate | undefined
}

export function inProcessConnection(options: InProcessConnectionOptions): Connection {
  return {
    host: 'in-process',
    authorityPem: options.authorityPem,
    serviceAccountPrivateKeyPem: options.serviceAccountPrivateKeyPem,
    signingAuthority: options.signingAuthority,
    transportAs: (identity) => transportAs(options, userOf(identity)),
  }
}

export function userOf(identity: PartIdentity): UserInfo {
  switch (identity.kind) {
    case 'administrator':
      return ADMINISTRATOR
    case 'controller-manager':
      return CONTROLLER_MANAGER
    case 'scheduler':
      return SCHEDULER
    case 'controller':
      return controllerAccount(identity.account)
  }
}

function transportAs(options: InProcessConnectionOptions, user: UserInfo): Transport {
  const { server, identities, audit, gate } = options
  const authorization = `Bearer ${identities.tokenOf(user)}`
  return memoryTransport(async (request) => {
    const { method, path } = request
    const turn = gate?.pass()
    if (turn !== undefined) await turn
    const answer = await server.handle({
      ...request,
      headers: { ...request.headers, authorization },
    })
    audit?.({
      user: user.name,
      method,
      path,
      status: answer.status,
      changed: changedVersion(request, answer),
      resourceVersion:
        answer.body.kind === 'value' ? resourceVersionOf(answer.body.value) : undefined,
    })
    return answer
  })
}

function changedVersion(
  { body: sent }: TransportRequest,
  { status, body: answered }: TransportResponse,
): boolean {
  if (status !== 200 || sent === undefined || !('json' in sent) || answered.kind !== 'value')
    return false
  const before = resourceVersionOf(sent.json)
  return before !== undefined && before !== resourceVersionOf(answered.value)
}

function resourceVersionOf(value: unknown): string | undefined {
  return (value as Partial<KubernetesObject> | null)?.metadata?.resourceVersion
}

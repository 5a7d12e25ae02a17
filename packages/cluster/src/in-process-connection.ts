/** A connection to an API server within this process: no sockets, no JSON, the store's own objects. */
import type { ApiServer, UserInfo } from '@gyropilot/api-server'
import { memoryTransport } from '@gyropilot/client'
import type { Transport } from '@gyropilot/client'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { ADMINISTRATOR, CONTROLLER_MANAGER, SCHEDULER, controllerAccount } from './identities.ts'
import type { Identities } from './identities.ts'
import type { Connection, PartIdentity } from './parts.ts'
import type { TurnGate } from './turn-gate.ts'

/** One answered request of a part of the cluster. */
export interface AuditEntry {
  readonly user: string
  readonly method: string
  readonly path: string
  readonly status: number
}

export type Audit = (entry: AuditEntry) => void

export interface InProcessConnectionOptions {
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
    audit?.({ user: user.name, method, path, status: answer.status })
    return answer
  })
}

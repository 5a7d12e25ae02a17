/** How the parts that one process runs reach the server. */
import { privateKeyPem } from '@gyropilot/foundation/x509'
import type { Transport } from '@gyropilot/client'
import { userOf } from '../in-process-connection.ts'
import type { Connection, PartIdentity } from '../parts.ts'
import {
  AUTHORITY_PEM,
  serviceAccountKey,
  simulatedSigningAuthority,
} from './fixed-certificates.ts'
import type { Network } from './network.ts'
import type { Incarnation } from './process.ts'

/** `wrap` sees every transport before its part does. */
export function connectionOf(
  network: Network,
  life: Incarnation,
  wrap: (transport: Transport) => Transport = (transport) => transport,
): Connection {
  return {
    host: 'simulated',
    authorityPem: AUTHORITY_PEM,
    serviceAccountPrivateKeyPem: privateKeyPem(serviceAccountKey().privateKey),
    signingAuthority: simulatedSigningAuthority(),
    transportAs(identity: PartIdentity) {
      const user = userOf(identity)
      return wrap(network.transport({ life, name: user.name, user }))
    },
  }
}

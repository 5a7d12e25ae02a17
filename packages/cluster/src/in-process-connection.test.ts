import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiServer } from '@gyropilot/api-server'
import type { TransportResponse } from '@gyropilot/client'
import { ADMINISTRATOR } from './identities.ts'
import type { Identities } from './identities.ts'
import { inProcessConnection } from './in-process-connection.ts'
import type { AuditEntry } from './in-process-connection.ts'

const object = (resourceVersion: string) => ({ metadata: { resourceVersion } })

const answer = (status: number, value: unknown): TransportResponse => ({
  status,
  headers: {},
  body: { kind: 'value', value },
})

test('the audit tells writes that made a new version from those that said what is stored already', async () => {
  const audited: AuditEntry[] = []
  const answers = [
    answer(200, object('8')),
    answer(200, object('7')),
    answer(409, { kind: 'Status', metadata: {} }),
  ]
  const server: Pick<ApiServer, 'handle'> = { handle: async () => answers.shift()! }
  const identities: Pick<Identities, 'tokenOf'> = { tokenOf: () => 'token' }
  const connection = inProcessConnection({
    server: server as ApiServer,
    identities: identities as Identities,
    authorityPem: '',
    serviceAccountPrivateKeyPem: '',
    signingAuthority: { certificatePem: '', privateKeyPem: '' },
    audit: (entry) => audited.push(entry),
  })
  const transport = connection.transportAs({ kind: 'administrator' })
  const path = '/api/v1/namespaces/default/configmaps/a'
  for (let sent = 0; sent < 3; sent++) {
    await transport.send({ method: 'PUT', path, headers: {}, body: { json: object('7') } })
  }
  const { name: user } = ADMINISTRATOR
  assert.deepEqual(audited, [
    { user, method: 'PUT', path, status: 200, changed: true, resourceVersion: '8' },
    { user, method: 'PUT', path, status: 200, changed: false, resourceVersion: '7' },
    { user, method: 'PUT', path, status: 409, changed: false, resourceVersion: undefined },
  ])
})

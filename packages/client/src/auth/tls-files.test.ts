import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost } from '@gyropilot/foundation/testing'
import { authority, otherAuthority } from '../http-transport/test-certificates.ts'
import { tlsFromFiles } from './tls-files.ts'

test('each reading of the authorities but the first is told: unchanged, updated, not readable, no certificates', async () => {
  const told: string[] = []
  const host = new FakeHost({ '/ca': authority })
  const tls = tlsFromFiles({ caFile: '/ca' }, host, (...outcome) => told.push(outcome.join(' ')))
  const next = async (): Promise<string | undefined> => {
    const { ca } = await tls.load().catch(() => ({ ca: undefined }))
    return ca
  }
  assert.equal(await next(), authority)
  assert.deepEqual(told, [])
  assert.equal(await next(), authority)
  host.files.set('/ca', otherAuthority)
  assert.equal(await next(), otherAuthority)
  host.files.set('/ca', 'no certificate')
  assert.equal(await next(), undefined)
  host.files.delete('/ca')
  assert.equal(await next(), undefined)
  host.files.set('/ca', otherAuthority)
  await next()
  assert.deepEqual(told, [
    'success unchanged',
    'success updated',
    'failure ca_parse_error',
    'failure read_error',
    'success unchanged',
  ])
})

test('authorities that stand in the configuration are never read again', async () => {
  const told: string[] = []
  const tls = tlsFromFiles({ caData: authority, caFile: '/ca' }, new FakeHost(), (result) =>
    told.push(result),
  )
  for (let i = 0; i < 3; i++) assert.equal((await tls.load()).ca, authority)
  assert.deepEqual(told, [])
})

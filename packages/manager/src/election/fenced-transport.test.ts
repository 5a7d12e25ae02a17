import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TransportError, memoryTransport } from '@gyropilot/client'
import type { TransportRequest } from '@gyropilot/client'
import { fencedTransport } from './fenced-transport.ts'

function fenced(holdsLease: () => boolean) {
  const sent: string[] = []
  const inner = memoryTransport(async ({ method }) => {
    sent.push(method)
    return { status: 200, headers: {}, body: { kind: 'value', value: {} } }
  })
  const transport = fencedTransport(inner, holdsLease)
  const send = (method: TransportRequest['method']) =>
    transport.send({ method, path: '/api/v1/pods', headers: {} })
  return { send, sent }
}

test('every request passes while the lease is held', async () => {
  const { send, sent } = fenced(() => true)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) await send(method)
  assert.deepEqual(sent, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
})

test('without the lease only reads pass, and the server certainly has not seen a refused write', async () => {
  const { send, sent } = fenced(() => false)
  for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) await send(method)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    await assert.rejects(
      send(method),
      (error) => error instanceof TransportError && error.notProcessed,
    )
  }
  assert.deepEqual(sent, ['GET', 'HEAD', 'OPTIONS'])
})

test('closing it closes the transport behind it', async () => {
  let closed = false
  const inner = {
    send: () => Promise.reject(new Error('none')),
    close: async () => void (closed = true),
  }
  await fencedTransport(inner, () => true).close()
  assert.equal(closed, true)
})

test('the lease is looked at for each write anew', async () => {
  let held = true
  const { send, sent } = fenced(() => held)
  await send('POST')
  held = false
  await assert.rejects(send('POST'))
  assert.deepEqual(sent, ['POST'])
})

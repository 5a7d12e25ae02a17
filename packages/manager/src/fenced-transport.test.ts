import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiClient } from '@gyropilot/client'
import { testClock } from '@gyropilot/runtime/testing'
import { fencedTransport } from './fenced-transport.ts'

test('without the lease reads pass and writes are refused before they are sent', async () => {
  const sent: string[] = []
  let holdsLease = true
  const transport = fencedTransport(
    {
      async send({ method, path }) {
        sent.push(`${method} ${path}`)
        return { status: 200, headers: {}, body: { kind: 'value', value: {} } }
      },
      close: async () => {},
    },
    () => holdsLease,
  )
  const client = new ApiClient({ transport, clock: testClock(), qps: -1 })
  await client.raw({ method: 'PUT', path: '/a' })
  holdsLease = false
  await client.raw({ method: 'GET', path: '/a' })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    await assert.rejects(client.raw({ method, path: '/a' }), /the leader lease has run out/)
  }
  assert.deepEqual(sent, ['PUT /a', 'GET /a'])
})

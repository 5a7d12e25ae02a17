import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transport, TransportRequest } from '@gyropilot/client'
import { silentMetrics } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { testClock } from '@gyropilot/runtime/testing'
import { clientBuilder } from './client-builder.ts'

function world(suffixPrefix?: string) {
  const clock = testClock()
  const logger = new RecordingLogger()
  const sent: TransportRequest[] = []
  const transport: Transport = {
    async send(request) {
      sent.push(request)
      return {
        status: 200,
        headers: { warning: '299 - "v1 ComponentStatus is deprecated"' },
        body: { kind: 'value', value: {} },
      }
    },
    close: async () => {},
  }
  const asked: string[] = []
  const builder = clientBuilder({
    transport(name) {
      asked.push(name)
      return transport
    },
    clock,
    logger,
    metrics: silentMetrics,
    host: '10.0.0.1:6443',
    rate: { qps: 20, burst: 30 },
    userAgent: {
      program: 'kube-controller-manager',
      version: 'v1.36.0',
      commit: 'gyropil',
      os: 'linux',
      arch: 'amd64',
    },
    ...(suffixPrefix === undefined ? {} : { suffixPrefix }),
  })
  return { clock, logger, sent, asked, builder }
}

const ask = { method: 'GET', path: '/healthz' } as const

test('the user agent begins with the program, and ends with the account', async () => {
  const root = world()
  await root.builder.client('ttl-controller').raw(ask)
  assert.equal(
    root.sent[0]!.headers?.['user-agent'],
    'kube-controller-manager/v1.36.0 (linux/amd64) kubernetes/gyropil/ttl-controller',
  )
  const own = world('system:serviceaccount:kube-system:')
  await own.builder.client('ttl-controller').raw(ask)
  assert.match(
    String(own.sent[0]!.headers?.['user-agent']),
    /\/system:serviceaccount:kube-system:ttl-controller$/,
  )
  assert.deepEqual(own.asked, ['ttl-controller'], 'the connection of this account')
})

test('each client has a rate of its own, and some a multiple', async () => {
  const { clock, sent, builder } = world()
  const flood = (count: number, client = builder.client('a')) =>
    void Promise.all(Array.from({ length: count }, () => client.raw(ask)))
  flood(40)
  await clock.advance(0)
  assert.equal(sent.length, 30, 'the burst')
  flood(30, builder.client('b'))
  await clock.advance(0)
  assert.equal(sent.length, 60, 'no other client waits')
  flood(100, builder.client('c', { qpsFactor: 2, burstFactor: 2 }))
  await clock.advance(0)
  assert.equal(sent.length, 120)
  await clock.advance(1_000)
  assert.equal(
    sent.length,
    170,
    '10 that waited of the first, 40 of the one that has twice the rate',
  )
})

test('a bounded client says so to the server', async () => {
  const { sent, builder } = world()
  await builder.client('leader-election', { requestTimeoutMs: 5_000 }).raw(ask)
  assert.match(sent[0]!.path, /[?&]timeout=5s/)
})

test('API warnings are not logged', async () => {
  const { logger, builder } = world()
  await builder.client('ttl-controller').raw(ask)
  assert.deepEqual(logger.messages(), [])
})

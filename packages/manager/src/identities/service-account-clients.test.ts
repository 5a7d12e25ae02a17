import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { ApiClient, StatusError } from '@gyropilot/client'
import type { Transport, TransportRequest } from '@gyropilot/client'
import { silentLogger } from '@gyropilot/foundation'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { ServiceAccountTransports } from './service-account-clients.ts'

const HOUR_MS = 3_600_000

function world() {
  const server = new FakeServer()
  const clock = testClock()
  const asked: string[] = []
  const sent: string[] = []
  const state = { failures: 0, lifetimeMs: HOUR_MS, code: 200, isMissed: false }
  const answering: { hold: Promise<number> | undefined } = { hold: undefined }
  server.onRequest = ({ verb, path }) => {
    if (verb !== 'create token') return undefined
    asked.push(`${verb} ${path}`)
    if (state.failures-- > 0) throw new Error('connection refused')
    const account = /serviceaccounts\/([^/]+)/.exec(path)?.[1] ?? ''
    const isMissed = state.isMissed
    state.isMissed = false
    if (isMissed || server.get(resources.serviceaccounts, 'kube-system', account) === undefined)
      throw new StatusError({
        kind: 'Status',
        apiVersion: 'v1',
        code: 404,
        reason: 'NotFound',
        message: `${account} not found`,
      })
    const expirationTimestamp = new Date(clock.nowMs() + state.lifetimeMs).toISOString()
    return { kind: 'TokenRequest', status: { token: `token-${asked.length}`, expirationTimestamp } }
  }
  const anonymous: Transport = {
    async send({ headers }: TransportRequest) {
      sent.push(String(headers?.['authorization']))
      const held = answering.hold
      answering.hold = undefined
      const status = (await held) ?? state.code
      return {
        status,
        headers: {},
        body: { kind: 'value', value: { kind: 'Status', code: status } },
      }
    },
    close: async () => {},
  }
  const transports = new ServiceAccountTransports({
    root: server,
    anonymous,
    clock,
    logger: silentLogger,
  })
  const hasAccount = (name: string) =>
    server.put(resources.serviceaccounts, { metadata: { name, namespace: 'kube-system' } })
  const client = (account: string) =>
    new ApiClient({ transport: transports.transport(account), clock, qps: -1 })
  const ask = (account = 'ttl-controller') =>
    client(account).raw({ method: 'GET', path: '/healthz' })
  /** Of the next request: it is answered with the code that the function is called with. */
  const hold = () => {
    const answer = Promise.withResolvers<number>()
    answering.hold = answer.promise
    return answer.resolve
  }
  return { server, clock, asked, sent, state, ask, transports, hasAccount, hold }
}

test('an account that does not exist is made, with its namespace, and its token is sent', async () => {
  const { server, sent, ask } = world()
  await ask()
  assert.ok(server.get(resources.serviceaccounts, 'kube-system', 'ttl-controller'))
  assert.ok(server.get(resources.namespaces, undefined, 'kube-system'))
  assert.deepEqual(sent, ['Bearer token-2'])
})

test('an account and a namespace that somebody else has made meanwhile are no failure', async () => {
  const { server, clock, asked, sent, ask, state, hasAccount } = world()
  hasAccount('ttl-controller')
  server.put(resources.namespaces, { metadata: { name: 'kube-system' } })
  state.isMissed = true
  const asking = ask()
  await clock.advance(0)
  assert.equal(asked.length, 2, 'asked again at once')
  await asking
  assert.deepEqual(sent, ['Bearer token-2'])
})

test('an account that exists costs one request: that for its token', async () => {
  const { server, sent, ask, hasAccount } = world()
  hasAccount('ttl-controller')
  await ask()
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['create token'],
  )
  const { spec } = server.requests[0]!.body as { spec: unknown }
  assert.deepEqual(spec, { expirationSeconds: 3600 })
  assert.deepEqual(sent, ['Bearer token-1'])
})

test('a token is shared by the clients of its account, and renewed when a fifth of its life is left', async () => {
  const { clock, asked, ask, transports, hasAccount } = world()
  for (const account of ['ttl-controller', 'job-controller']) hasAccount(account)
  assert.equal(transports.transport('a'), transports.transport('a'))
  await Promise.all([ask(), ask()])
  assert.equal(asked.length, 1)
  await clock.advance(HOUR_MS * 0.8 - 1)
  await ask()
  assert.equal(asked.length, 1)
  await clock.advance(1)
  await ask()
  assert.equal(asked.length, 2)
  await ask('job-controller')
  assert.equal(asked.length, 3)
})

test('a token that was asked for before is there for the first request', async () => {
  const { clock, asked, sent, ask, transports, hasAccount } = world()
  hasAccount('ttl-controller')
  transports.prepare('ttl-controller')
  await clock.advance(0)
  assert.equal(asked.length, 1)
  await ask()
  assert.equal(asked.length, 1)
  assert.deepEqual(sent, ['Bearer token-1'])
})

test('a token that could not be had before is asked for again by the first request', async () => {
  const { clock, asked, ask, state, transports, hasAccount } = world()
  hasAccount('ttl-controller')
  state.failures = 4
  transports.prepare('ttl-controller')
  await clock.advance(3_500)
  assert.equal(asked.length, 4)
  await ask()
  assert.equal(asked.length, 5)
})

test('a token that is said to live for a minute is kept for eight', async () => {
  const { clock, asked, ask, state, hasAccount } = world()
  hasAccount('ttl-controller')
  state.lifetimeMs = 60_000
  await ask()
  await clock.advance(8 * 60_000 - 1)
  await ask()
  assert.equal(asked.length, 1)
  await clock.advance(1)
  await ask()
  assert.equal(asked.length, 2)
})

test('asking is tried four times, after half a second, one and two', async () => {
  const { clock, asked, ask, state, hasAccount } = world()
  hasAccount('ttl-controller')
  state.failures = 3
  const asking = ask()
  const counts: number[] = []
  for (const ms of [499, 1, 999, 1, 1_999, 1]) {
    await clock.advance(ms)
    counts.push(asked.length)
  }
  assert.deepEqual(counts, [1, 2, 2, 3, 3, 4])
  await asking
  state.failures = 4
  const other = assert.rejects(ask('job-controller'), /connection refused/)
  await clock.advance(3_500)
  await other
})

test('a token that the server refuses is dropped', async () => {
  const { asked, ask, state, sent } = world()
  await ask()
  state.code = 401
  await assert.rejects(ask())
  state.code = 200
  await ask()
  assert.ok(asked.length >= 2)
  assert.notEqual(sent.at(-1), 'Bearer token-1')
})

test('a refusal of the former token says nothing of the one that came after it', async () => {
  const { clock, asked, ask, hold, hasAccount } = world()
  hasAccount('ttl-controller')
  const answer = hold()
  const slow = assert.rejects(ask())
  await clock.advance(HOUR_MS * 0.8)
  await ask()
  answer(401)
  await slow
  await ask()
  assert.equal(asked.length, 2)
})

test('a token that is refused while it cannot be renewed is not used on', async () => {
  const { clock, sent, ask, state, hold, hasAccount } = world()
  hasAccount('ttl-controller')
  const answer = hold()
  const slow = assert.rejects(ask())
  await clock.advance(HOUR_MS * 0.8)
  state.failures = 4
  const renewing = assert.rejects(ask(), /connection refused/)
  answer(401)
  await slow
  await clock.advance(3_500)
  await renewing
  assert.deepEqual(sent, ['Bearer token-1'])
})

test('a token that cannot be renewed is used on, until the server refuses it', async () => {
  const { clock, asked, ask, state, sent, hasAccount } = world()
  hasAccount('ttl-controller')
  await ask()
  await clock.advance(HOUR_MS * 0.8)
  state.failures = 4
  const asking = ask()
  await clock.advance(3_500)
  await asking
  assert.deepEqual(sent, ['Bearer token-1', 'Bearer token-1'])
  // With the next request it is tried again.
  await ask()
  assert.equal(asked.length, 6)
  assert.equal(sent.at(-1), 'Bearer token-6')
  await clock.advance(HOUR_MS * 0.8)
  state.failures = 4
  state.code = 401
  const refused = assert.rejects(ask())
  await clock.advance(3_500)
  await refused
  state.failures = 4
  const without = assert.rejects(ask(), /connection refused/)
  await clock.advance(3_500)
  await without
})

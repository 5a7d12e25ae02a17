import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, silentMetrics } from '@gyropilot/foundation'
import { statusError, testClock } from '@gyropilot/runtime/testing'
import { AuthMetrics } from './auth-metrics.ts'
import { Authentication } from './authentication.ts'
import type { AuthenticationSettings, FrontProxySettings } from './authentication.ts'
import { certificatesOf } from './client-certificates.ts'
import { request, reviewer, testAuthority } from './fixtures.ts'
import type { IncomingRequest } from './request.ts'

const clients = testAuthority('clients')
const proxies = testAuthority('proxies')
const strangers = testAuthority('strangers')

const frontProxy: FrontProxySettings = {
  authorities: [proxies.certificate],
  allowedNames: ['front-proxy-client'],
  usernameHeaders: ['x-remote-user'],
  groupHeaders: ['x-remote-group'],
  uidHeaders: ['x-remote-uid'],
  extraHeaderPrefixes: ['x-remote-extra-'],
}

const tokens = reviewer(({ spec }) => ({
  status: { authenticated: spec['token'] === 'good', user: { username: 'by-token' } },
}))

function who(sent: Partial<IncomingRequest>, settings?: Partial<AuthenticationSettings>) {
  const authentication = new Authentication({
    metrics: new AuthMetrics(testClock(), silentMetrics),
    clock: testClock(),
    random: new SeededRandom('authentication'),
    settings: () => ({ clientAuthorities: [clients.certificate], frontProxy, ...settings }),
    client: tokens,
    tokenCacheMs: 10_000,
  })
  return authentication.authenticate(request('/metrics', sent))
}

const userOf = async (...args: Parameters<typeof who>) => {
  const answer = await who(...args)
  assert.ok('user' in answer, JSON.stringify(answer))
  return answer.user
}

const good = { authorization: ['Bearer good'] }

test('without any credential a request is anonymous', async () => {
  assert.deepEqual(await userOf({}), {
    name: 'system:anonymous',
    groups: ['system:unauthenticated'],
  })
  assert.equal((await userOf({ headers: { authorization: ['Basic x'] } })).name, 'system:anonymous')
})

test('the token is the second word of the header, where words are what stands between single blanks', async () => {
  const nameOf = async (written: string) =>
    (await userOf({ headers: { authorization: [written] } })).name
  for (const written of ['Bearer good', ' bearer good ', 'BEARER good more'])
    assert.notEqual(await nameOf(written), 'system:anonymous', written)
  for (const written of ['Bearer  good', 'Bearer', 'Bearer\tgood', 'Token good'])
    assert.equal(await nameOf(written), 'system:anonymous', written)
})

test('a client certificate is a user by its common name and groups by its organizations', async () => {
  const user = await userOf({ peerCertificates: [clients.client('alice', ['dev', 'ops'])] })
  assert.equal(user.name, 'alice')
  assert.deepEqual(user.groups, ['dev', 'ops', 'system:authenticated'])
})

test('a front proxy says who asks: first name, all groups, uid and extras', async () => {
  const user = await userOf({
    peerCertificates: [proxies.client('front-proxy-client')],
    headers: {
      'x-remote-user': ['bob'],
      'x-remote-group': ['dev', 'ops'],
      'x-remote-uid': ['42'],
      'x-remote-extra-acme.com%2fproject': ['tree', 'bush'],
    },
  })
  assert.deepEqual(user, {
    name: 'bob',
    uid: '42',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'acme.com/project': ['tree', 'bush'] },
  })
})

test('whom a front proxy calls anonymous or unauthenticated does not become authenticated', async () => {
  const groupsOf = async (name: string, groups?: string[]) => {
    const headers = { 'x-remote-user': [name], ...(groups && { 'x-remote-group': groups }) }
    return (await userOf({ peerCertificates: [proxies.client('front-proxy-client')], headers }))
      .groups
  }
  assert.deepEqual(await groupsOf('bob'), ['system:authenticated'])
  assert.deepEqual(await groupsOf('bob', ['system:authenticated']), ['system:authenticated'])
  assert.deepEqual(await groupsOf('bob', ['system:unauthenticated']), ['system:unauthenticated'])
  assert.deepEqual(await groupsOf('system:anonymous'), [])
})

test('the front proxy comes before the certificate, and that before the token', async () => {
  const both = { clientAuthorities: [proxies.certificate] }
  const proxy = proxies.client('front-proxy-client', ['group'])
  const headers = { ...good, 'x-remote-user': ['bob'] }
  assert.equal((await userOf({ peerCertificates: [proxy], headers }, both)).name, 'bob')
  const withoutName = await userOf({ peerCertificates: [proxy], headers: good }, both)
  assert.equal(withoutName.name, 'front-proxy-client')
  const alice = clients.client('alice')
  assert.equal((await userOf({ peerCertificates: [alice], headers: good })).name, 'alice')
})

test('headers of somebody who is no front proxy are not believed', async () => {
  const headers = { 'x-remote-user': ['admin'], 'x-remote-group': ['system:masters'] }
  assert.equal((await userOf({ headers })).name, 'system:anonymous')
  const alice = clients.client('alice')
  assert.equal((await userOf({ peerCertificates: [alice], headers })).name, 'alice')
  const other = proxies.client('not-listed')
  assert.ok('refused' in (await who({ peerCertificates: [other], headers })))
})

test('a credential that fails does not keep a later one from being accepted; alone it is refused', async () => {
  const stranger = { peerCertificates: [strangers.client('admin', ['system:masters'])] }
  assert.ok('refused' in (await who(stranger)))
  assert.equal((await userOf({ ...stranger, headers: good })).name, 'by-token')
  assert.ok('refused' in (await who({ headers: { authorization: ['Bearer bad'] } })))
})

test('without authorities certificates are not looked at', async () => {
  const stranger = { peerCertificates: [strangers.client('admin')] }
  const nobody = { clientAuthorities: [], frontProxy: undefined }
  assert.equal((await userOf(stranger, nobody as never)).name, 'system:anonymous')
})

test('certificates that are over, not yet valid, or for servers are refused', async () => {
  const past = clients.client('alice', [], { notAfterMs: Date.parse('2025-12-31T23:59:00Z') })
  const future = clients.client('alice', [], { notBeforeMs: Date.parse('2026-01-01T00:01:00Z') })
  for (const certificate of [past, future]) {
    assert.ok('refused' in (await who({ peerCertificates: [certificate] })))
  }
})

test('a review that the cluster fails at is tried again, and one that is refused is not', async () => {
  const clock = testClock()
  let failures = 2
  const client = reviewer(() => {
    if (failures-- > 0) throw statusError(500, 'InternalError')
    return { status: { authenticated: true, user: { username: 'late' } } }
  })
  const authentication = new Authentication({
    metrics: new AuthMetrics(testClock(), silentMetrics),
    clock,
    random: new SeededRandom('authentication'),
    settings: () => ({ clientAuthorities: [] }),
    client,
    tokenCacheMs: 10_000,
  })
  const asking = authentication.authenticate(request('/metrics', { headers: good }))
  await clock.advance(3_000)
  const answer = await asking
  assert.ok('user' in answer && answer.user.name === 'late')
  assert.equal(client.asked, 3)

  failures = Infinity
  const refusing = reviewer(() => {
    throw statusError(403, 'Forbidden')
  })
  const other = new Authentication({
    metrics: new AuthMetrics(testClock(), silentMetrics),
    clock,
    random: new SeededRandom('authentication'),
    settings: () => ({ clientAuthorities: [] }),
    client: refusing,
    tokenCacheMs: 10_000,
  })
  assert.ok('refused' in (await other.authenticate(request('/metrics', { headers: good }))))
  assert.equal(refusing.asked, 1)
})

test('a bundle without a certificate cannot vouch for anybody', () => {
  assert.throws(() => certificatesOf('nothing'), /does not contain any valid/)
  assert.equal(certificatesOf(`${clients.pem}\n# comment\n${proxies.pem}`).length, 2)
})

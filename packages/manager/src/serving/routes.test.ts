import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import type { Client } from '@gyropilot/client'
import { testClock } from '@gyropilot/runtime/testing'
import { DelegatedAuth } from './delegated-auth.ts'
import type { DelegatedAuthOptions, IncomingRequest } from './delegated-auth.ts'
import { HealthChecks } from './health.ts'
import { serve } from './routes.ts'

function reviewer(
  answer: (body: { kind: string; spec: Record<string, unknown> }) => unknown,
): Client & { asked: number } {
  const client = {
    asked: 0,
    raw: async (request: { json?: unknown }) => {
      client.asked++
      return answer(request.json as never)
    },
    resource: () => assert.fail('only reviews are asked for'),
  }
  return client as unknown as Client & { asked: number }
}

function manager(given: Partial<DelegatedAuthOptions> = {}) {
  const clock = testClock()
  const health = new HealthChecks()
  const auth = new DelegatedAuth({
    clock,
    tokenCacheMs: 10_000,
    authorizedCacheMs: 10_000,
    unauthorizedCacheMs: 10_000,
    alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
    ...given,
  })
  const options = { health, auth, metrics: new PrometheusRegistry(), configz: () => ({ a: 1 }) }
  const get = (path: string, more: Partial<IncomingRequest> = {}) => {
    const [pathname = '', query = ''] = path.split('?')
    return serve(
      { method: 'GET', path: pathname, query: new URLSearchParams(query), ...more },
      options,
    )
  }
  return { clock, health, get }
}

test('Given no auth kubeconfigs, when /healthz and /metrics are fetched anonymously, then 200 and 403', async () => {
  const { get } = manager()
  assert.deepEqual(await get('/healthz'), {
    status: 200,
    contentType: 'text/plain; charset=utf-8',
    body: 'ok',
  })
  const refused = await get('/metrics')
  assert.equal(refused.status, 403)
  assert.equal(refused.body, 'forbidden: User "system:anonymous" cannot get path "/metrics"\n')
})

test('Given a broken authorization kubeconfig, when /metrics is fetched, then 500; with it in always-allow-paths, 200', async () => {
  const authorizationClient = reviewer(() => {
    throw new Error('connection refused')
  })
  assert.equal((await manager({ authorizationClient }).get('/metrics')).status, 500)
  const open = manager({ authorizationClient, alwaysAllowPaths: ['/metr*'] })
  assert.equal((await open.get('/metrics')).status, 200)
})

test('Given checks added after start, when /healthz is fetched, then they are included', async () => {
  const { get, health } = manager()
  assert.equal((await get('/healthz?verbose')).body, '[+]ping ok\nhealthz check passed\n')
  health.add({ name: 'job-controller', check: () => undefined })
  health.add({ name: 'leaderElection', check: () => 'no renewal for 36 s' })
  const failing = await get('/healthz')
  assert.equal(failing.status, 500)
  assert.equal(
    failing.body,
    '[+]job-controller ok\n[-]leaderElection failed: reason withheld\nhealthz check failed\n',
  )
  assert.equal((await get('/healthz?exclude=leaderElection')).status, 200)
})

test('a bearer token is reviewed once in ten seconds, and one that fails is 401', async () => {
  const authenticationClient = reviewer(({ spec }) =>
    spec.token === 'good'
      ? {
          status: { authenticated: true, user: { username: 'prometheus', groups: ['monitoring'] } },
        }
      : { status: { authenticated: false } },
  )
  const authorizationClient = reviewer(({ spec }) => ({
    status: { allowed: spec.user === 'prometheus' },
  }))
  const { get, clock } = manager({ authenticationClient, authorizationClient })
  const good = { bearerToken: 'good' }
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal(authenticationClient.asked, 1)
  assert.equal(authorizationClient.asked, 1)
  await clock.advance(10_000)
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal(authenticationClient.asked, 2)
  assert.equal((await get('/healthz', { bearerToken: 'bad' })).status, 401)
})

test('members of system:masters may see everything', async () => {
  const certificateUser = { name: 'admin', groups: ['system:masters'] }
  const { get } = manager()
  assert.equal((await get('/metrics', { certificateUser })).status, 200)
  const configz = await get('/configz', { certificateUser })
  assert.deepEqual(JSON.parse(configz.body), { 'kubecontrollermanager.config.k8s.io': { a: 1 } })
  assert.equal((await get('/healthz/job-controller', { certificateUser })).status, 404)
})

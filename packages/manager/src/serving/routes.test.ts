import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry, SeededRandom } from '@gyropilot/foundation'
import type { Client } from '@gyropilot/client'
import { statusError, testClock } from '@gyropilot/runtime/testing'
import { AuthMetrics } from './auth-metrics.ts'
import { Authentication } from './authentication.ts'
import { Authorization } from './authorization.ts'
import { DelegatedAuth } from './delegated-auth.ts'
import { request, reviewer, testAuthority } from './fixtures.ts'
import { HealthChecks } from './health.ts'
import type { IncomingRequest } from './request.ts'
import { router } from './routes.ts'
import type { RoutesOptions } from './routes.ts'

interface Given {
  readonly authenticationClient?: Client
  readonly authorizationClient?: Client
  readonly alwaysAllowPaths?: readonly string[]
  readonly routes?: Partial<RoutesOptions>
}

const authority = testAuthority('clients')
/** May see everything. */
const admin = { peerCertificates: [authority.client('admin', ['system:masters'])] }

function manager(given: Given = {}) {
  const clock = testClock()
  const slis = new PrometheusRegistry()
  const health = new HealthChecks(slis)
  const random = new SeededRandom('serving')
  const { authenticationClient, authorizationClient, alwaysAllowPaths } = given
  const registry = new PrometheusRegistry()
  const metrics = new AuthMetrics(clock, registry)
  const authentication = new Authentication({
    metrics,
    clock,
    random,
    settings: () => ({ clientAuthorities: [authority.certificate] }),
    tokenCacheMs: 10_000,
    ...(authenticationClient ? { client: authenticationClient } : {}),
  })
  const authorization = new Authorization({
    metrics,
    clock,
    random,
    authorizedCacheMs: 10_000,
    unauthorizedCacheMs: 10_000,
    alwaysAllowPaths: alwaysAllowPaths ?? ['/healthz', '/readyz', '/livez'],
    ...(authorizationClient ? { client: authorizationClient } : {}),
  })
  const answer = router({
    component: 'kube-controller-manager',
    configurationGroup: 'kubecontrollermanager.config.k8s.io',
    startedMs: Date.parse('2026-01-01T00:00:00.900Z'),
    servesProbes: true,
    endsUnknown: false,
    health,
    slis,
    auth: new DelegatedAuth(authentication, authorization, metrics),
    metrics: registry,
    configz: () => ({ Generic: {} }),
    ...given.routes,
  })
  const get = (path: string, more: Partial<IncomingRequest> = {}) => answer(request(path, more))
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
  assert.equal(refused.contentType, 'application/json')
  assert.deepEqual(JSON.parse(refused.body), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
    reason: 'Forbidden',
    details: {},
    code: 403,
  })
})

test('Given a broken authorization kubeconfig, when /metrics is fetched, then 500; with it in always-allow-paths, 200', async () => {
  const authorizationClient = reviewer(() => {
    throw new Error('connection refused')
  })
  assert.equal((await manager({ authorizationClient }).get('/metrics')).status, 500)
  const open = manager({ authorizationClient, alwaysAllowPaths: ['/metr*'] })
  assert.equal((await open.get('/metrics')).status, 200)
})

test('an always-allowed path may be written without its slash', async () => {
  const { get } = manager({ alwaysAllowPaths: ['metrics', '/healthz/'] })
  assert.equal((await get('/metrics')).status, 200)
  assert.equal((await get('/healthz')).status, 403)
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

test('an excluded check that does not exist is warned of', async () => {
  const body = (await manager().get('/healthz?verbose&exclude=nosuch')).body
  assert.match(body, /warn: some health checks cannot be excluded: no matches for "nosuch"\n/)
})

test('/metrics/slis shows what /healthz was asked, and nothing before', async () => {
  const { get, health } = manager()
  health.add({ name: 'ttl-controller', check: () => undefined })
  health.add({ name: 'leaderElection', check: () => 'stuck' })
  assert.equal((await get('/metrics/slis', admin)).body, '')
  await get('/healthz')
  await get('/healthz?exclude=ttl-controller')
  const { body } = await get('/metrics/slis', admin)
  assert.match(body, /^kubernetes_healthcheck\{name="leaderElection",type="healthz"\} 0$/m)
  assert.match(body, /^kubernetes_healthcheck\{name="ttl-controller",type="healthz"\} 1$/m)
  assert.match(
    body,
    /^kubernetes_healthchecks_total\{name="leaderElection",status="error",type="healthz"\} 2$/m,
  )
  assert.match(
    body,
    /^kubernetes_healthchecks_total\{name="ttl-controller",status="success",type="healthz"\} 1$/m,
  )
  assert.equal((await get('/metrics/slis')).status, 403)
})

test('a bearer token is reviewed once in ten seconds, and one that fails is 401', async () => {
  const authenticationClient = reviewer(({ spec }) =>
    spec['token'] === 'good'
      ? {
          status: { authenticated: true, user: { username: 'prometheus', groups: ['monitoring'] } },
        }
      : { status: { authenticated: false } },
  )
  const authorizationClient = reviewer(({ spec }) => ({
    status: { allowed: spec['user'] === 'prometheus' },
  }))
  const { get, clock } = manager({ authenticationClient, authorizationClient })
  const good = { headers: { authorization: ['Bearer good'] } }
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal(authenticationClient.asked, 1)
  assert.equal(authorizationClient.asked, 1)
  await clock.advance(10_000)
  assert.equal((await get('/metrics', good)).status, 200)
  assert.equal(authenticationClient.asked, 2)
  const bad = { headers: { authorization: ['Bearer bad'] } }
  const refused = await get('/healthz', bad)
  assert.equal(refused.status, 401)
  assert.equal(JSON.parse(refused.body).reason, 'Unauthorized')
})

test('those who ask, and what the cluster is asked of them, are counted', async () => {
  const authenticationClient = reviewer(({ spec }) =>
    spec['token'] === 'good'
      ? { status: { authenticated: true, user: { username: 'ann@example.com' } } }
      : { status: { authenticated: false } },
  )
  let isBroken = false
  const authorizationClient = reviewer(() => {
    if (isBroken) throw statusError(403, 'Forbidden', 'no')
    return { status: { allowed: false } }
  })
  const { get } = manager({ authenticationClient, authorizationClient })
  const bearing = (token: string) => ({ headers: { authorization: [`Bearer ${token}`] } })
  await get('/configz', bearing('good'))
  await get('/healthz', bearing('bad'))
  await get('/healthz')
  isBroken = true
  await get('/flagz', bearing('good'))
  const { body } = await get('/metrics', admin)
  for (const line of [
    'authentication_attempts{result="error"} 1',
    'authentication_attempts{result="success"} 4',
    'authentication_duration_seconds_bucket{result="error",le="0.001"} 1',
    'authentication_duration_seconds_bucket{result="error",le="16.384"} 1',
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="email_id"} 2',
    'authenticated_user_requests{username="other"} 1',
    'authorization_attempts_total{result="allowed"} 2',
    'authorization_attempts_total{result="error"} 1',
    'authorization_attempts_total{result="no-opinion"} 1',
    'apiserver_delegated_authn_request_total{code="201"} 2',
    'apiserver_delegated_authz_request_total{code="201"} 1',
    'apiserver_delegated_authz_request_total{code="403"} 1',
    'apiserver_delegated_authz_request_duration_seconds_bucket{code="403",le="0.25"} 1',
  ])
    assert.ok(body.split('\n').includes(line), line)
})

test('the cache of reviewed tokens is counted; a token that the cluster says is bad is reviewed each time', async () => {
  const authenticationClient = reviewer(({ spec }) => {
    if (spec['token'] === 'good')
      return { status: { authenticated: true, user: { username: 'a' } } }
    return { status: { authenticated: false, error: spec['token'] === 'odd' ? '' : 'bad token' } }
  })
  const { get } = manager({ authenticationClient })
  const ask = (token: string) =>
    get('/healthz', { headers: { authorization: [`Bearer ${token}`] } })
  await Promise.all([ask('good'), ask('good')])
  await ask('good')
  await ask('bad')
  await ask('bad')
  await ask('odd')
  await ask('odd')
  assert.equal(authenticationClient.asked, 4)
  const { body } = await get('/metrics', admin)
  for (const line of [
    'authentication_token_cache_active_fetch_count{status="blocked"} 0',
    'authentication_token_cache_active_fetch_count{status="in_flight"} 0',
    'authentication_token_cache_fetch_total{status="error"} 2',
    'authentication_token_cache_fetch_total{status="ok"} 2',
    'authentication_token_cache_request_total{status="hit"} 2',
    'authentication_token_cache_request_total{status="miss"} 5',
    'authentication_token_cache_request_duration_seconds_count{status="miss"} 5',
  ])
    assert.ok(body.split('\n').includes(line), line)
})

test('the remaining time of certificates is counted, whoever vouches for them', async () => {
  const { get } = manager()
  const before = (await get('/metrics', admin)).body
  assert.match(before, /^apiserver_client_certificate_expiration_seconds_count [01]$/m)
  await get('/healthz', admin)
  const count = (text: string): number =>
    Number(/^apiserver_client_certificate_expiration_seconds_count (\d+)$/m.exec(text)![1])
  const { body } = await get('/metrics', admin)
  assert.equal(count(body), count(before) + 2)
  assert.match(body, /apiserver_client_certificate_expiration_seconds_bucket\{le="3.1104e\+07"\}/)
})

test('/metrics tells the escaping of names that was asked for', async () => {
  const { get } = manager()
  const accept = ['text/plain;version=1.0.0;escaping=allow-utf-8']
  for (const path of ['/metrics', '/metrics/slis'])
    assert.equal(
      (await get(path, { ...admin, headers: { accept } })).contentType,
      'text/plain; version=0.0.4; charset=utf-8; escaping=allow-utf-8',
    )
})

test('pages of metrics may be compressed and may be sniffed; those of errors and settings may not', async () => {
  const { get } = manager({ routes: { flagz: () => new Map([['v', '2']]) } })
  const forms = async (path: string, more: Partial<IncomingRequest> = admin) => {
    const { status, sniffable = false, compressible = false } = await get(path, more)
    return { status, sniffable, compressible }
  }
  for (const path of ['/metrics', '/metrics/slis'])
    assert.deepEqual(await forms(path), { status: 200, sniffable: true, compressible: true })
  assert.deepEqual(await forms('/flagz'), { status: 200, sniffable: true, compressible: false })
  const asking = { ...admin, headers: { accept: ['text/html'] } }
  assert.deepEqual(await forms('/flagz', asking), {
    status: 406,
    sniffable: true,
    compressible: false,
  })
  for (const [path, status] of [['/configz', 200] as const, ['/nosuch', 404] as const])
    assert.deepEqual(await forms(path), { status, sniffable: false, compressible: false })
  const anonymous = { status: 403, sniffable: false, compressible: false }
  assert.deepEqual(await forms('/configz', {}), anonymous)
})

test('refusals are indented for eyes, and one line with its end for programs', async () => {
  const authenticationClient = reviewer(() => ({ status: { authenticated: false } }))
  const { get } = manager({ authenticationClient })
  const body = async (userAgent: string, path = '/metrics') =>
    (await get(path, { headers: { 'user-agent': [userAgent] } })).body
  assert.match(await body('Prometheus/3'), /^\{"kind":"Status",.*"code":403\}\n$/)
  assert.match(await body('curl/8.5.0'), /^\{\n {2}"kind": "Status",\n[^]*"code": 403\n\}$/)
  assert.match(await body('Prometheus/3', '/metrics?pretty=true'), /^\{\n {2}"kind"/)
  const bad = { headers: { authorization: ['Bearer bad'], 'user-agent': ['Prometheus/3'] } }
  assert.equal(
    (await get('/metrics', bad)).body,
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}\n',
  )
})

/** As kube-controller-manager 1.36.2 chose: the same for all three codes. */
const REFUSED_AS = {
  line: [
    'application/json',
    'application/*',
    'text/html, application/json',
    'application/yaml;q=0.5, application/json',
    'application/json;charset=utf-8',
    'application/json;as=Table;g=meta.k8s.io;v=v1, application/json',
  ],
  indented: [
    'text/html',
    'application/cbor',
    'APPLICATION/YAML',
    'bogus',
    'application/json;pretty=1',
    'application/json;v=v1',
    'application/yaml;g=config.k8s.io',
    'application/yaml;as=Table;v=v1;g=meta.k8s.io',
  ],
  yaml: [
    'application/yaml',
    'application/yaml;q=0.5',
    'text/html, application/yaml',
    'application/yaml;x=y',
    'application/json;q=0.1, application/yaml',
  ],
}

test('a refusal is JSON or YAML as Accept has it, and indented JSON to whom neither is right', async () => {
  const authenticationClient = reviewer(() => ({ status: { authenticated: false } }))
  const { get } = manager({ authenticationClient, routes: { flagz: () => new Map() } })
  const bad = { headers: { authorization: ['Bearer bad'] } }
  const formOf = async (path: string, who: Parameters<typeof get>[1], accept: string) => {
    const headers = { ...who?.headers, accept: [accept] }
    const { status, contentType, body } = await get(path, { ...who, headers })
    if (contentType === 'application/yaml' && body.startsWith('apiVersion: v1\ncode: '))
      return `${status} yaml`
    assert.equal(contentType, 'application/json')
    return `${status} ${body.startsWith('{\n') ? 'indented' : 'line'}`
  }
  for (const [form, accepts] of Object.entries(REFUSED_AS))
    for (const accept of accepts) {
      assert.equal(await formOf('/metrics', bad, accept), `401 ${form}`, accept)
      assert.equal(await formOf('/metrics', {}, accept), `403 ${form}`, accept)
      assert.equal(await formOf('/flagz', admin, accept), `406 ${form}`, accept)
    }
})

test('connections of those who are not known end, and of those whose credentials are not good', async () => {
  const authenticationClient = reviewer(() => ({ status: { authenticated: false } }))
  const { get } = manager({ authenticationClient, routes: { endsUnknown: true } })
  const bad = { headers: { authorization: ['Bearer bad'] } }
  assert.equal((await get('/healthz')).endsConnection, true)
  assert.equal((await get('/metrics')).endsConnection, true)
  assert.equal((await get('/healthz', bad)).endsConnection, true)
  assert.equal((await get('/healthz', admin)).endsConnection, undefined)
  assert.equal((await manager().get('/healthz')).endsConnection, undefined, 'not without its gate')
})

test('DELETE of /metrics/slis forgets what was asked; other methods read', async () => {
  const { get } = manager()
  const ask = (method: string) => get('/metrics/slis', { ...admin, method })
  await get('/healthz')
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS'])
    assert.match((await ask(method)).body, /name="ping"/, method)
  assert.deepEqual(await ask('DELETE'), {
    status: 200,
    contentType: 'text/plain; charset=utf-8',
    sniffable: true,
    body: 'metrics reset\n',
  })
  assert.equal((await ask('GET')).body, '')
  await get('/healthz')
  assert.match((await ask('GET')).body, /^kubernetes_healthchecks_total\{.*\} 1$/m)
})

test('members of system:masters may see everything', async () => {
  const { get } = manager()
  assert.equal((await get('/metrics', admin)).status, 200)
  const configz = await get('/configz', admin)
  assert.deepEqual(JSON.parse(configz.body), {
    'kubecontrollermanager.config.k8s.io': { Generic: {} },
  })
  assert.equal((await get('/healthz/job-controller', admin)).status, 404)
})

test('/flagz and /statusz are text for people, and JSON for who asks for it', async () => {
  const startedMs = Date.parse('2026-01-01T00:00:00Z')
  const { get } = manager({
    routes: {
      flagz: () =>
        new Map([
          ['v', '2'],
          ['controllers', '[*]'],
        ]),
      statusz: () => ({
        startedMs,
        nowMs: startedMs + 3_723_000,
        runtimeVersion: 'v26.1.0',
        version: '1.36.0',
        emulatedVersion: '1.35',
      }),
    },
  })
  const flagz = (await get('/flagz', admin)).body
  assert.match(flagz, /^\nkube-controller-manager flagz\nWarning: /)
  assert.ok(flagz.endsWith('\n\ncontrollers=[*]\nv=2\n'))
  const statusz = (await get('/statusz', admin)).body
  assert.match(statusz, /^Started: Thu Jan  1 00:00:00 UTC 2026\nUp: 1 hr 02 min 03 sec$/m)
  assert.match(statusz, /^Binary version: 1.36.0\nEmulation version: 1.35$/m)
  assert.match(statusz, /^Paths: \/configz \/flagz \/healthz \/livez \/metrics \/readyz$/m)
  const asking = (accept: string) => ({ ...admin, headers: { accept: [accept] } })
  const json = await get('/flagz', asking('application/json;v=v1alpha1;g=config.k8s.io;as=Flagz'))
  assert.deepEqual(JSON.parse(json.body), {
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1alpha1',
    metadata: { name: 'kube-controller-manager' },
    flags: { controllers: '[*]', v: '2' },
  })
  assert.deepEqual(
    [json.contentType, json.headers],
    [
      'application/json;g=config.k8s.io;v=v1alpha1;as=Flagz',
      {
        warning:
          '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
      },
    ],
  )
  const newest = await get(
    '/statusz',
    asking('application/json;v=v1beta1;g=config.k8s.io;as=Statusz'),
  )
  assert.deepEqual(
    [newest.contentType, newest.headers],
    ['application/json;g=config.k8s.io;v=v1beta1;as=Statusz', undefined],
  )
  assert.match(newest.body, /^{"kind":"Statusz",.*}\n$/)
  const curl = { ...admin, headers: { 'user-agent': ['curl/8.5.0'] } }
  const accept = ['application/json;v=v1beta1;g=config.k8s.io;as=Statusz']
  const forEyes = await get('/statusz', { ...curl, headers: { ...curl.headers, accept } })
  assert.match(forEyes.body, /^{\n {2}"kind": "Statusz",\n/)
  const inYaml = await get(
    '/statusz',
    asking('application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz'),
  )
  assert.equal(inYaml.contentType, 'application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz')
  assert.match(
    inYaml.body,
    /^apiVersion: config.k8s.io\/v1beta1\nbinaryVersion: 1.36.0\nemulationVersion: "1.35"\n/,
  )
  const neither = await get('/statusz', asking('application/json'))
  assert.deepEqual([neither.status, neither.contentType], [406, 'application/json'])
  assert.deepEqual(JSON.parse(neither.body), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'only the following media types are accepted: application/json, application/yaml, text/plain',
    reason: 'NotAcceptable',
    code: 406,
  })
  assert.equal((await get('/statusz', asking('image/png, */*'))).status, 200)
  assert.equal((await manager().get('/flagz', admin)).status, 404, 'not without its gate')
})

test('PUT /debug/flags/v changes the verbosity, and only with profiling', async () => {
  const set: number[] = []
  const debug = { setVerbosity: (level: number) => void set.push(level), controllers: new Map() }
  const { get } = manager({ routes: { debug } })
  const put = (body: string) => ({ ...admin, method: 'PUT', body: () => Promise.resolve(body) })
  const answer = await get('/debug/flags/v', put('4'))
  assert.deepEqual(answer, {
    status: 200,
    contentType: 'text/plain',
    body: 'successfully set klog.logging.verbosity to 4\n',
  })
  for (const text of ['loud', '-1']) {
    const refused = await get('/debug/flags/v', put(text))
    const why = `strconv.ParseUint: parsing "${text}": invalid syntax\n`
    assert.deepEqual([refused.status, refused.body], [400, why])
  }
  assert.equal((await get('/debug/flags/v', admin)).status, 406)
  assert.deepEqual(set, [4])
  assert.equal((await manager().get('/debug/flags/v', put('4'))).status, 404)
})

test('a controller may have pages below /debug/controllers', async () => {
  const controllers = new Map([
    [
      'garbage-collector-controller',
      (path: string, query: URLSearchParams) =>
        path === '/graph'
          ? { contentType: 'text/vnd.graphviz', body: `digraph ${query.getAll('uid').join('+')}` }
          : undefined,
    ],
  ])
  const { get } = manager({ routes: { debug: { setVerbosity() {}, controllers } } })
  const page = '/debug/controllers/garbage-collector-controller/graph'
  assert.deepEqual(await get(`${page}?uid=a&uid=b`, admin), {
    status: 200,
    contentType: 'text/vnd.graphviz',
    body: 'digraph a+b',
  })
  for (const path of [
    `${page}s`,
    '/debug/controllers/job-controller/graph',
    '/debug/controllers/',
  ]) {
    assert.equal((await get(path, admin)).status, 404, path)
  }
  const own = '/debug/controllers/garbage-collector-controller'
  const bodies = [`${page}s`, own, '/debug/controllers/job-controller/graph']
  assert.deepEqual(await Promise.all(bodies.map(async (path) => (await get(path, admin)).body)), [
    '\n',
    '\n',
    '404 page not found\n',
  ])
  assert.equal((await get(page)).status, 403)
})

test('who reads metrics is told since when the process counts', async () => {
  const { get } = manager()
  for (const path of ['/metrics', '/metrics/slis'])
    assert.deepEqual((await get(path, admin)).headers, { 'process-start-time-unix': '1767225600' })
})

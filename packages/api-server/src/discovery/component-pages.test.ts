import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue, type TestServer } from '../testing/test-server.ts'

const get = ({ request }: TestServer, path: string, accept?: string, method = 'GET') =>
  request(method, path, undefined, accept === undefined ? {} : { accept })

for (const [path, title] of [
  ['/flagz', 'apiserver flagz'],
  ['/statusz', 'apiserver statusz'],
] as const) {
  test(`${path} is text for people, whatever the method, and an object for those that name one`, async () => {
    const server = await createTestServer()
    const kind = title.endsWith('flagz') ? 'Flagz' : 'Statusz'
    for (const [accept, method] of [
      [undefined, 'GET'],
      ['*/*', 'GET'],
      ['text/plain', 'POST'],
    ] as const) {
      const { status, headers, value } = await get(server, path, accept, method)
      assert.deepEqual([status, headers['content-type']], [200, 'text/plain; charset=utf-8'])
      assert.ok(value.startsWith(`\n${title}\nWarning: This endpoint is not meant`), value)
    }
    for (const [version, warned] of [
      ['v1alpha1', true],
      ['v1beta1', false],
    ] as const) {
      const type = `application/json;g=config.k8s.io;v=${version};as=${kind}`
      const { status, headers, value } = await get(server, path, type)
      assert.deepEqual([status, headers['content-type']], [200, type])
      assert.equal('warning' in headers, warned)
      const { apiVersion, metadata } = value
      assert.deepEqual(
        [value.kind, apiVersion, metadata],
        [kind, `config.k8s.io/${version}`, { name: 'apiserver' }],
      )
    }
    const yaml = `application/yaml;g=config.k8s.io;v=v1beta1;as=${kind}`
    assert.match((await get(server, path, yaml)).value, /^apiVersion: config.k8s.io\/v1beta1$/m)
    const other = kind === 'Flagz' ? 'Statusz' : 'Flagz'
    for (const accept of [
      'application/json',
      'text/html',
      `application/json;g=config.k8s.io;v=v1beta1;as=${other}`,
      `application/cbor;g=config.k8s.io;v=v1beta1;as=${kind}`,
      `application/json;g=config.k8s.io;v=v1;as=${kind}`,
    ]) {
      const { status, value } = await get(server, path, accept)
      assert.deepEqual(
        [status, value.reason, value.message],
        [
          406,
          'NotAcceptable',
          'only the following media types are accepted: application/json, application/yaml, text/plain',
        ],
        accept,
      )
    }
  })
}

test('/statusz tells since when the server runs, /flagz what is set', async () => {
  const server = await createTestServer({ serviceRanges: ['10.9.0.0/24'] })
  await server.clock.advance(3_723_000)
  const as = (kind: string): string => `application/json;g=config.k8s.io;v=v1beta1;as=${kind}`
  const { value: status } = await get(server, '/statusz', as('Statusz'))
  assert.deepEqual([status.uptimeSeconds, status.emulationVersion], [3723, '1.36'])
  assert.match((await get(server, '/statusz')).value, /^Up: 1 hr 02 min 03 sec$/m)
  const { value: flags } = await get(server, '/flagz', as('Flagz'))
  assert.equal(flags.flags['service-cluster-ip-range'], '10.9.0.0/24')
  assert.match((await get(server, '/flagz')).value, /^service-cluster-ip-range=10\.9\.0\.0\/24$/m)
})

test('/metrics/slis counts the health checks that were asked, by endpoint', async () => {
  const server = await createTestServer()
  const samples = async (): Promise<string[]> => {
    const { status, headers, value } = await get(server, '/metrics/slis')
    assert.equal(status, 200)
    assert.equal(
      headers['content-type'],
      'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    )
    return (value as string).split('\n').filter((line) => /name="(ping|shutdown)"/.test(line))
  }
  assert.deepEqual(await samples(), [])
  await get(server, '/readyz')
  await get(server, '/livez')
  await get(server, '/livez/ping')
  assert.deepEqual(await samples(), [
    'kubernetes_healthcheck{name="ping",type="livez"} 1',
    'kubernetes_healthcheck{name="ping",type="readyz"} 1',
    'kubernetes_healthcheck{name="shutdown",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2',
    'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="shutdown",status="success",type="readyz"} 1',
  ])
})

test('these pages are for monitoring, not for everybody', async () => {
  const server = await createTestServer()
  for (const path of ['/flagz', '/statusz', '/metrics/slis']) {
    const { status } = await server.request('GET', path, undefined, { authorization: '' })
    assert.equal(status, 403, path)
  }
  const role = await server.request(
    'GET',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:monitoring',
  )
  const urls = role.value.rules.flatMap((rule: AnyValue) => rule.nonResourceURLs ?? [])
  for (const path of ['/flagz', '/statusz', '/metrics/slis']) assert.ok(urls.includes(path))
})

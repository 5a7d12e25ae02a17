import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { Draft } from '../../registry/kind-rules.ts'

type WithQuota = TestServer & {
  readonly ns: string
  used(name?: string): Record<string, string>
  /** A further quota with all counts at zero. */
  quota(name: string, hard: Record<string, string>, spec?: Draft): Promise<void>
  fill(name: string, status: Draft): Promise<void>
}

async function withQuota(hard: Record<string, string>, spec: Draft = {}): Promise<WithQuota> {
  const server = await startServer()
  const ns = await makeNamespace(server, 'a')
  const fill = async (name: string, status: Draft): Promise<void> => {
    await server.call('PATCH', `${ns}/resourcequotas/${name}/status`, { status }, PATCH)
  }
  const quota: WithQuota['quota'] = async (name, limits, more = {}) => {
    const made = { metadata: { name }, spec: { hard: limits, ...more } }
    assert.equal((await server.call('POST', `${ns}/resourcequotas`, made)).status, 201)
    const used = Object.fromEntries(Object.keys(limits).map((entry) => [entry, '0']))
    await fill(name, { hard: limits, used })
  }
  await quota('q', hard, spec)
  const used = (name = 'q'): Record<string, string> =>
    server.stored('resourcequotas', `a/${name}`)!['status'].used
  return { ...server, ns, used, quota, fill }
}

function asking(name: string, requests: Record<string, string>, spec: Draft = {}): Draft {
  return pod(name, { containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec })
}

const configMap = (name: string): Draft => ({ metadata: { name } })

describe('ResourceQuota', () => {
  test('Given a quota of 1 pod and status filled, when a second pod is created, then 403 exceeded quota with the three maps; without an entry of used: status unknown; without status: allowed.', async () => {
    const { server, call, ns, used, fill } = await withQuota({ pods: '1', 'requests.cpu': '500m' })
    assert.equal((await call('POST', `${ns}/pods`, asking('a', { cpu: '100m' }))).status, 201)
    assert.deepEqual(used(), { pods: '1', 'requests.cpu': '100m' })
    const { status, body } = await call('POST', `${ns}/pods`, asking('b', { cpu: '600m' }))
    const why =
      'exceeded quota: q, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=100m, limited: pods=1,requests.cpu=500m'
    assert.deepEqual([status, body.message], [403, `pods "b" is forbidden: ${why}`])
    await call('POST', `${ns}/resourcequotas`, {
      metadata: { name: 'new' },
      spec: { hard: { 'count/configmaps': '1', configmaps: '1' } },
    })
    assert.equal((await call('POST', `${ns}/configmaps`, configMap('early'))).status, 201)
    await fill('new', {
      hard: { 'count/configmaps': '1', configmaps: '1' },
      used: { configmaps: '0' },
    })
    const unknown = await call('POST', `${ns}/configmaps`, configMap('x'))
    assert.equal(
      unknown.body.message,
      'configmaps "x" is forbidden: status unknown for quota: new, resources: configmaps,count/configmaps',
    )
    await server.stop()
  })

  test('only what is exceeded is named', async () => {
    const { server, call, ns } = await withQuota({ pods: '1', 'requests.cpu': '500m' })
    await call('POST', `${ns}/pods`, asking('a', { cpu: '100m' }))
    const { body } = await call('POST', `${ns}/pods`, asking('b', { cpu: '100m' }))
    assert.equal(
      body.message,
      'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )
    await server.stop()
  })

  test('Unrelated exceeded resources do not matter', async () => {
    const { server, call, ns, fill } = await withQuota({ pods: '1', configmaps: '5' })
    await fill('q', { used: { pods: '7', configmaps: '0' } })
    assert.equal((await call('POST', `${ns}/configmaps`, configMap('a'))).status, 201)
    await server.stop()
  })

  test('limits on cpu or memory ask every container', async () => {
    const { server, call, ns } = await withQuota({ 'requests.cpu': '1', 'limits.memory': '1Gi' })
    const containers = ['b', 'a'].map((name) => ({
      name,
      image: 'i',
      resources: name === 'b' ? { requests: { cpu: '1m' } } : {},
    }))
    const { body } = await call('POST', `${ns}/pods`, pod('p', { containers }))
    assert.equal(
      body.message,
      'pods "p" is forbidden: failed quota: q: must specify limits.memory for: a,b; requests.cpu for: a',
    )
    await server.stop()
  })

  test('dry runs and refused objects are not charged, deletes change nothing', async () => {
    const { server, call, ns, used } = await withQuota({ configmaps: '1' })
    await call('POST', `${ns}/configmaps?dryRun=All`, configMap('a'))
    assert.equal(used()['configmaps'], '0')
    await call('POST', `${ns}/configmaps`, configMap('Bad Name'))
    assert.equal(used()['configmaps'], '0')
    await call('POST', `${ns}/configmaps`, configMap('a'))
    assert.equal((await call('POST', `${ns}/configmaps?dryRun=All`, configMap('b'))).status, 403)
    await call('DELETE', `${ns}/configmaps/a`)
    assert.equal(used()['configmaps'], '1')
    await server.stop()
  })

  test('an update that raises usage is charged with the difference; one that lowers it changes nothing, even above the limit', async () => {
    const { server, call, ns, used, fill } = await withQuota({
      services: '5',
      'services.nodeports': '2',
    })
    const service = (name: string, spec: Draft): Draft => ({ metadata: { name }, spec })
    const [one, two] = [
      [{ name: 'x', port: 80 }],
      [
        { name: 'x', port: 80 },
        { name: 'y', port: 81 },
      ],
    ]
    assert.equal((await call('POST', `${ns}/services`, service('s', { ports: one }))).status, 201)
    await call('PATCH', `${ns}/services/s`, { spec: { type: 'NodePort' } }, PATCH)
    assert.deepEqual(used(), { services: '1', 'services.nodeports': '1' })
    await call('PATCH', `${ns}/services/s`, { spec: { ports: two } }, PATCH)
    assert.deepEqual(used(), { services: '1', 'services.nodeports': '2' })
    await fill('q', { hard: { services: '5', 'services.nodeports': '1' } })
    const more = await call(
      'POST',
      `${ns}/services`,
      service('t', { type: 'NodePort', ports: one }),
    )
    assert.equal(more.status, 403)
    for (const spec of [{ ports: one }, { type: 'ClusterIP' }])
      assert.equal((await call('PATCH', `${ns}/services/s`, { spec }, PATCH)).status, 200)
    assert.deepEqual(used(), { services: '1', 'services.nodeports': '2' })
    await server.stop()
  })

  test('a Pod that gets a deadline moves: charged in full to the quota it is new to', async () => {
    const { server, call, ns, used, quota } = await withQuota(
      { pods: '1' },
      { scopes: ['Terminating'] },
    )
    await quota('other', { pods: '5' }, { scopes: ['NotTerminating'] })
    for (const name of ['a', 'b'])
      assert.equal((await call('POST', `${ns}/pods`, pod(name))).status, 201)
    assert.deepEqual([used(), used('other')], [{ pods: '0' }, { pods: '2' }])
    const spec = { activeDeadlineSeconds: 100 }
    assert.equal((await call('PATCH', `${ns}/pods/a`, { spec }, PATCH)).status, 200)
    assert.deepEqual([used(), used('other')], [{ pods: '1' }, { pods: '2' }])
    const { body } = await call('PATCH', `${ns}/pods/b`, { spec }, PATCH)
    assert.equal(
      body.message,
      'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )
    const metadata = { labels: { a: 'b' } }
    assert.equal((await call('PATCH', `${ns}/pods/b`, { metadata }, PATCH)).status, 200)
    await server.stop()
  })

  test('a resize is charged with the difference', async () => {
    const { server, call, ns, used } = await withQuota({ 'requests.cpu': '1' })
    await call('POST', `${ns}/pods`, asking('p', { cpu: '100m' }))
    const resize = async (cpu: string) => {
      const stored = (await call('GET', `${ns}/pods/p`)).body
      const spec = structuredClone(stored.spec)
      spec.containers[0].resources = { requests: { cpu } }
      return call('PUT', `${ns}/pods/p/resize`, { ...stored, spec })
    }
    const { body } = await resize('2')
    assert.equal(
      body.message,
      'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=1900m, used: requests.cpu=100m, limited: requests.cpu=1',
    )
    assert.equal((await resize('500m')).status, 200)
    assert.deepEqual(used(), { 'requests.cpu': '500m' })
    await server.stop()
  })

  test('storage that was allocated is charged when status says so, above the limit too', async () => {
    const { server, call, ns, used } = await withQuota({ 'requests.storage': '10Gi' })
    const claims = `${ns}/persistentvolumeclaims`
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
    }
    assert.equal((await call('POST', claims, { metadata: { name: 'c' }, spec })).status, 201)
    const status = { allocatedResources: { storage: '50Gi' } }
    assert.equal((await call('PATCH', `${claims}/c/status`, { status }, PATCH)).status, 200)
    assert.deepEqual(used(), { 'requests.storage': '50Gi' })
    await server.stop()
  })

  test('claims are charged under the names of their classes and of the extended resources that stand for them', async () => {
    const hard = {
      'count/resourceclaims.resource.k8s.io': '9',
      'x.deviceclass.resource.k8s.io/devices': '9',
      'requests.example.com/gpu': '9',
      'requests.deviceclass.resource.kubernetes.io/x': '9',
    }
    const { server, call, used } = await withQuota(hard)
    const group = '/apis/resource.k8s.io/v1'
    await call('POST', `${group}/deviceclasses`, {
      metadata: { name: 'x' },
      spec: { extendedResourceName: 'example.com/gpu' },
    })
    const requests = [{ name: 'a', exactly: { deviceClassName: 'x', count: 3 } }]
    const made = await call('POST', `${group}/namespaces/a/resourceclaims`, {
      metadata: { name: 'c' },
      spec: { devices: { requests } },
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.deepEqual(
      used(),
      Object.fromEntries(Object.keys(hard).map((name, index) => [name, index === 0 ? '1' : '3'])),
    )
    await server.stop()
  })

  test('All relevant quotas must allow the request: when one refuses, none is charged', async () => {
    const { server, call, ns, used, quota } = await withQuota({ 'count/secrets': '5' })
    await quota('zero', { secrets: '0' })
    assert.equal((await call('POST', `${ns}/secrets`, { metadata: { name: 's' } })).status, 403)
    assert.deepEqual(used(), { 'count/secrets': '0' })
    await server.stop()
  })

  test('no more than the quota of many that come at once', async () => {
    const { server, call, ns, used } = await withQuota({ configmaps: '10' })
    const names = Array.from({ length: 50 }, (_, index) => `c${index}`)
    const answers = await Promise.all(
      names.map((name) => call('POST', `${ns}/configmaps`, configMap(name))),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 10)
    assert.equal(answers.filter(({ status }) => status === 403).length, 40)
    assert.deepEqual(used(), { configmaps: '10' })
    await server.stop()
  })
})

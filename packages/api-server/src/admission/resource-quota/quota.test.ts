import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { Draft } from '../../registry/kind-rules.ts'
import { scopesMatch } from './scopes.ts'
import { isAbout, usageDelta, usageOf } from './usage.ts'

type WithQuota = TestServer & { readonly ns: string; used(): Record<string, string> }

async function withQuota(hard: Record<string, string>, spec: Draft = {}): Promise<WithQuota> {
  const server = await startServer()
  const ns = await makeNamespace(server, 'a')
  await server.call('POST', `${ns}/resourcequotas`, {
    metadata: { name: 'q' },
    spec: { hard, ...spec },
  })
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']))
  await server.call('PATCH', `${ns}/resourcequotas/q/status`, { status: { hard, used } }, PATCH)
  return { ...server, ns, used: () => server.stored('resourcequotas', 'a/q')!['status'].used }
}

function asking(name: string, requests: Record<string, string>): Draft {
  return pod(name, { containers: [{ name: 'c', image: 'i', resources: { requests } }] })
}

describe('ResourceQuota', () => {
  test('Given a quota of 1 pod and status filled, when a second pod is created, then 403 exceeded quota with the three maps; without status: status unknown.', async () => {
    const { server, call, ns, used } = await withQuota({ pods: '1', 'requests.cpu': '500m' })
    assert.equal((await call('POST', `${ns}/pods`, asking('a', { cpu: '100m' }))).status, 201)
    assert.deepEqual(used(), { pods: '1', 'requests.cpu': '100m' })
    const { status, body } = await call('POST', `${ns}/pods`, asking('b', { cpu: '600m' }))
    const why =
      'exceeded quota: q, requested: pods=1,requests.cpu=600m, used: pods=1,requests.cpu=100m, limited: pods=1,requests.cpu=500m'
    assert.deepEqual([status, body.message], [403, `pods "b" is forbidden: ${why}`])
    await call('POST', `${ns}/resourcequotas`, {
      metadata: { name: 'new' },
      spec: { hard: { 'count/configmaps': '1' } },
    })
    const unknown = await call('POST', `${ns}/configmaps`, { metadata: { name: 'x' } })
    assert.equal(
      unknown.body.message,
      'configmaps "x" is forbidden: status unknown for quota: new, resources: count/configmaps',
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
    const { server, call, ns, used } = await withQuota({
      configmaps: '2',
      services: '1',
      'services.nodeports': '1',
    })
    await call('POST', `${ns}/configmaps?dryRun=All`, { metadata: { name: 'a' } })
    assert.equal(used()['configmaps'], '0')
    await call('POST', `${ns}/configmaps`, { metadata: { name: 'Bad Name' } })
    assert.equal(used()['configmaps'], '0')
    await call('POST', `${ns}/configmaps`, { metadata: { name: 'a' } })
    await call('DELETE', `${ns}/configmaps/a`)
    assert.equal(used()['configmaps'], '1')
    await server.stop()
  })

  test('an update that raises usage is charged, one that lowers it is let through', async () => {
    const { server, call, ns, used } = await withQuota({ services: '5', 'services.nodeports': '1' })
    const ports = [{ name: 'x', port: 80 }]
    assert.equal(
      (await call('POST', `${ns}/services`, { metadata: { name: 's' }, spec: { ports } })).status,
      201,
    )
    assert.equal(
      (await call('PATCH', `${ns}/services/s`, { spec: { type: 'NodePort' } }, PATCH)).status,
      200,
    )
    assert.deepEqual(used(), { services: '1', 'services.nodeports': '1' })
    const more = await call('POST', `${ns}/services`, {
      metadata: { name: 't' },
      spec: { type: 'NodePort', ports },
    })
    assert.equal(more.status, 403)
    assert.equal(
      (await call('PATCH', `${ns}/services/s`, { spec: { type: 'ClusterIP' } }, PATCH)).status,
      200,
    )
    await server.stop()
  })
})

describe('usage', () => {
  const pods = { group: '', resource: 'pods' }
  const nowMs = Date.UTC(2026, 0, 1)

  test('of a pod: sums, init containers, overhead, extended resources', () => {
    const resources = {
      requests: { cpu: '100m', memory: '1Gi', 'example.com/gpu': '1' },
      limits: { cpu: '1' },
    }
    const spec = {
      containers: [{ resources }, { resources: { requests: { cpu: '200m' } } }],
      initContainers: [
        { resources: { requests: { cpu: '1' } } },
        { restartPolicy: 'Always', resources: { requests: { cpu: '50m' } } },
      ],
      overhead: { cpu: '10m' },
    }
    const usage = usageOf(pods, { metadata: {}, spec, status: {} }, nowMs)
    assert.equal(usage['requests.cpu'], '1010m')
    assert.equal(usage['cpu'], '1010m')
    assert.equal(usage['requests.example.com/gpu'], '1')
    assert.equal(usage['limits.cpu'], '1010m')
    assert.deepEqual([usage['pods'], usage['count/pods']], ['1', '1'])
  })

  test('of a pod that is done, or past its grace: the object alone', () => {
    const done = { metadata: {}, spec: { containers: [] }, status: { phase: 'Succeeded' } }
    assert.deepEqual(usageOf(pods, done, nowMs), { 'count/pods': '1' })
    const metadata = { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 }
    assert.deepEqual(usageOf(pods, { metadata, spec: { containers: [] } }, nowMs), {
      'count/pods': '1',
    })
  })

  test('of a claim: by class too', () => {
    const claim = {
      metadata: {},
      spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    }
    assert.deepEqual(usageOf({ group: '', resource: 'persistentvolumeclaims' }, claim, nowMs), {
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
    })
  })

  test('names tell what they are about', () => {
    assert.ok(isAbout({ group: 'apps', resource: 'deployments' }, 'count/deployments.apps'))
    assert.ok(!isAbout({ group: 'apps', resource: 'deployments' }, 'count/deployments'))
    assert.ok(isAbout(pods, 'requests.example.com/gpu') && !isAbout(pods, 'requests.storage'))
  })

  test('differences leave out what stays', () => {
    assert.deepEqual(usageDelta({ pods: '1', cpu: '500m' }, { pods: '1', cpu: '1' }), {
      cpu: '500m',
    })
  })
})

describe('scopes', () => {
  const pods = { group: '', resource: 'pods' }
  const quota = (spec: Draft): Draft => ({ spec })
  const plain = { metadata: {}, spec: { containers: [{}] } }
  const heavy = {
    metadata: {},
    spec: {
      activeDeadlineSeconds: 5,
      priorityClassName: 'high',
      containers: [{ resources: { requests: { cpu: '1' } } }],
    },
  }
  for (const [scope, ofPlain, ofHeavy] of [
    ['Terminating', false, true],
    ['NotTerminating', true, false],
    ['BestEffort', true, false],
    ['NotBestEffort', false, true],
    ['CrossNamespacePodAffinity', false, false],
  ] as const) {
    test(scope, () => {
      assert.equal(scopesMatch(quota({ scopes: [scope] }), pods, plain), ofPlain)
      assert.equal(scopesMatch(quota({ scopes: [scope] }), pods, heavy), ofHeavy)
    })
  }

  test('PriorityClass by operator', () => {
    const select = (operator: string, values?: string[]): Draft =>
      quota({
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
      })
    assert.ok(
      scopesMatch(select('In', ['high']), pods, heavy) &&
        !scopesMatch(select('In', ['high']), pods, plain),
    )
    assert.ok(
      scopesMatch(select('Exists'), pods, heavy) &&
        scopesMatch(select('DoesNotExist'), pods, plain),
    )
    assert.ok(
      !scopesMatch(select('Exists'), { group: '', resource: 'services' }, heavy),
      'scopes are about pods',
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PATCH, pod } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import type { ContainerLogRequest } from '../kubelets/kubelet.ts'
import { fixedKubelets, inNamespace } from './fixtures.ts'

describe('scale', () => {
  test('shows replicas and selector, takes replicas only', async () => {
    const { server, call } = await inNamespace()
    const template = {
      metadata: { labels: { app: 'a', tier: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }
    const selector = {
      matchLabels: { app: 'a' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: ['y', 'x'] }],
    }
    const path = '/apis/apps/v1/namespaces/a/deployments'
    await call('POST', path, { metadata: { name: 'd' }, spec: { replicas: 3, selector, template } })
    const { body } = await call('GET', `${path}/d/scale`)
    assert.deepEqual(
      [body.kind, body.spec, body.status],
      ['Scale', { replicas: 3 }, { replicas: 0, selector: 'app=a,tier in (x,y)' }],
    )
    for (const [query, status] of [
      ['resourceVersion=1', 200],
      ['resourceVersion=abc', 500],
      ['export=1', 400],
    ] as const)
      assert.equal((await call('GET', `${path}/d/scale?${query}`)).status, status, query)
    const put = await call('PUT', `${path}/d/scale`, {
      metadata: { name: 'd', namespace: 'a' },
      spec: { replicas: 7 },
    })
    assert.deepEqual([put.status, put.body.spec], [200, { replicas: 7 }])
    const zero = await call('PATCH', `${path}/d/scale`, { spec: { replicas: 0 } }, PATCH)
    assert.deepEqual([zero.status, zero.body.spec], [200, {}])
    const parent = await call('GET', `${path}/d`)
    assert.deepEqual([parent.body.spec.replicas, parent.body.metadata.generation], [0, 3])
    for (const [resourceVersion, status] of [
      ['1', 409],
      ['0', 200],
      ['abc', 500],
    ] as const) {
      const scale = { metadata: { name: 'd', resourceVersion }, spec: { replicas: 7 } }
      assert.equal((await call('PUT', `${path}/d/scale`, scale)).status, status)
      assert.equal((await call('PATCH', `${path}/d/scale`, scale, PATCH)).status, status)
    }
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '1' }
    const owned = { metadata: { name: 'd', ownerReferences: [owner, owner] }, spec: {} }
    const { headers } = await call('PUT', `${path}/d/scale?dryRun=All`, owned)
    assert.match(String(headers['warning']), /duplicate UID\(s\) observed: 1/)
    const other = { metadata: { name: 'd', uid: 'x' }, spec: {} }
    for (const [query, key] of [
      ['', '/registry/deployments/a/d'],
      ['?dryRun=All', '/deployments/a/d'],
    ] as const) {
      const { body: refused } = await call('PUT', `${path}/d/scale${query}`, other)
      assert.ok(refused.message.includes(`Key: ${key},`), refused.message)
    }
    const negative = await call('PATCH', `${path}/d/scale`, { spec: { replicas: -1 } }, PATCH)
    const why = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    assert.equal(negative.body.message, `Scale.autoscaling "d" is invalid: ${why}`)
    assert.equal(
      (await call('GET', `${path}/y/scale`)).body.message,
      'deployments.apps "y" not found',
    )
    await server.stop()
  })
})

describe('log', () => {
  const requests: ContainerLogRequest[] = []
  const kubelets = fixedKubelets({
    logs(request) {
      requests.push(request)
      return request.container === 'waiting' || request.previous ? undefined : lines()
    },
  })
  async function* lines(): AsyncGenerator<string> {
    yield 'one\n'
    yield 'two\n'
  }

  async function withPod(): Promise<TestServer & { ns: string }> {
    const server = await inNamespace(kubelets)
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } })
    await server.call(
      'PATCH',
      '/api/v1/nodes/n1/status',
      { status: { addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] } },
      PATCH,
    )
    await server.call('POST', `${server.ns}/pods`, pod('m', { nodeName: 'n1' }))
    return server
  }

  test('is what the container wrote, as plain text', async () => {
    const { server, call, ns } = await withPod()
    const { status, body, headers } = await call(
      'GET',
      `${ns}/pods/m/log?tailLines=2&sinceSeconds=60&timestamps=true`,
    )
    assert.deepEqual([status, body, headers['content-type']], [200, 'one\ntwo\n', 'text/plain'])
    const { container, tailLines, sinceMs, timestamps, follow } = requests.at(-1)!
    assert.deepEqual(
      { container, tailLines, sinceMs, timestamps, follow },
      {
        container: 'c',
        tailLines: 2,
        sinceMs: Date.UTC(2026, 10, 20, 23, 59),
        timestamps: true,
        follow: false,
      },
    )
    await server.stop()
  })

  test('of a pod without node is empty; of a node that is gone names the node', async () => {
    const { server, call, ns } = await withPod()
    await call('POST', `${ns}/pods`, pod('unbound'))
    assert.equal((await call('GET', `${ns}/pods/unbound/log`)).status, 204)
    await call('POST', `${ns}/pods`, pod('lost', { nodeName: 'n9' }))
    assert.equal((await call('GET', `${ns}/pods/lost/log`)).body.message, 'pods "n9" not found')
    await server.stop()
  })

  test('asks which container, refuses what cannot be', async () => {
    const { server, call, ns } = await withPod()
    const containers = [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ]
    await call(
      'POST',
      `${ns}/pods`,
      pod('many', { nodeName: 'n1', containers, initContainers: [{ name: 'i', image: 'i' }] }),
    )
    const message = async (query: string, name = 'many'): Promise<string> =>
      (await call('GET', `${ns}/pods/${name}/log${query}`)).body.message
    assert.equal(
      await message(''),
      'a container name must be specified for pod many, choose one of: [i a b]',
    )
    assert.equal(await message('?container=zz'), 'container zz is not valid for pod many')
    await call(
      'POST',
      `${ns}/pods`,
      pod('prepared', {
        nodeName: 'n1',
        containers: containers.slice(0, 1),
        initContainers: [{ name: 'i', image: 'i' }],
      }),
    )
    const onlyMain = await call('GET', `${ns}/pods/prepared/log`)
    assert.notEqual(onlyMain.status, 400, 'one main container is the one that is meant')
    assert.equal(
      await message('?tailLines=-1', 'm'),
      'PodLogOptions "m" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    )
    const both = '?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z'
    assert.equal(
      await message(both, 'm'),
      'PodLogOptions "m" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    )
    assert.equal(
      await message('?previous=true', 'm'),
      'previous terminated container "c" in pod "m" not found',
    )
    await server.stop()
  })
})

test('exec, attach and port-forward are refused before any upgrade', async () => {
  const { server, call, ns } = await inNamespace()
  await call('POST', `${ns}/pods`, pod('b4'))
  for (const kind of ['exec', 'attach', 'portforward']) {
    const { status, body } = await call('POST', `${ns}/pods/b4/${kind}?container=c&command=ls`)
    assert.deepEqual([status, body.message], [400, 'pod b4 does not have a host assigned'])
  }
  await server.stop()
})

test('component statuses are asked, not stored', async () => {
  const { server, call } = await inNamespace()
  const { body } = await call('GET', '/api/v1/componentstatuses')
  assert.deepEqual(
    body.items.map(({ metadata }: Draft) => metadata.name),
    ['controller-manager', 'scheduler', 'etcd-0'],
  )
  assert.equal(
    (await call('GET', '/api/v1/componentstatuses/etcd-0')).body.conditions[0].status,
    'True',
  )
  assert.equal((await call('GET', '/api/v1/componentstatuses/x')).status, 404)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const table = await call('GET', '/api/v1/componentstatuses/scheduler', undefined, { accept })
  assert.deepEqual(table.body.rows[0].cells, ['scheduler', 'Healthy', 'ok', ''])
  await server.stop()
})

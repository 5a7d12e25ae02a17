import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeNamespace, pod, startServer } from '../bootstrap/fixtures.ts'
import type { Kubelet } from '../kubelets/kubelet.ts'

const kubelet: Kubelet = {
  logs: () => undefined,
  exec: () => undefined,
  attach: () => undefined,
  forward: () => Promise.resolve(undefined),
  usage: () => ({
    node: { cpuNanoCores: 250_000_000, memoryBytes: 1_048_576 },
    pods: [
      {
        namespace: 'a',
        name: 'p',
        containers: [{ name: 'c', cpuNanoCores: 3_000_000, memoryBytes: 2048 }],
      },
      { namespace: 'a', name: 'gone', containers: [] },
    ],
  }),
}

const METRICS = '/apis/metrics.k8s.io/v1beta1'
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

async function withNode() {
  const server = await startServer({
    kubelets: { kubeletOf: (node) => (node === 'n1' ? kubelet : undefined) },
  })
  const ns = await makeNamespace(server, 'a')
  for (const name of ['n1', 'down'])
    await server.call('POST', '/api/v1/nodes', { metadata: { name, labels: { on: name } } })
  await server.call('POST', `${ns}/pods`, pod('p', { nodeName: 'n1' }, { labels: { app: 'p' } }))
  return server
}

test('the group is not there until there are nodes to ask', async () => {
  const { server, call } = await withNode()
  const groups = async (): Promise<string[]> =>
    (await call('GET', '/apis')).body.groups.map(({ name }: { name: string }) => name)
  assert.ok(!(await groups()).includes('metrics.k8s.io'))
  assert.equal((await call('GET', `${METRICS}/nodes`)).status, 404)
  server.serveResourceMetrics()
  assert.ok((await groups()).includes('metrics.k8s.io'))
  await server.stop()
})

test('as long as nobody is asked, a definition brings the group, and what is created is stored', async () => {
  const { server, call } = await withNode()
  const name = 'pods.metrics.k8s.io'
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, by hand' }
  await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name, annotations },
    spec: {
      group: 'metrics.k8s.io',
      names: { plural: 'pods', kind: 'PodMetrics' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  })
  await server.definitionsSettled()
  const path = `${METRICS}/namespaces/a/pods`
  const object = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', window: '1m' }
  assert.equal((await call('POST', path, { ...object, metadata: { name: 'p' } })).status, 201)
  assert.equal((await call('GET', `${path}/p`)).body.window, '1m')
  await server.stop()
})

test('nodes that answer and pods that exist are measured', async () => {
  const { server, call } = await withNode()
  server.serveResourceMetrics()
  const nodes = await call('GET', `${METRICS}/nodes`)
  assert.deepEqual(nodes.body, {
    kind: 'NodeMetricsList',
    apiVersion: 'metrics.k8s.io/v1beta1',
    metadata: {},
    items: [
      {
        metadata: { name: 'n1', creationTimestamp: '2026-11-21T00:00:00Z', labels: { on: 'n1' } },
        timestamp: '2026-11-21T00:00:00Z',
        window: '15s',
        usage: { cpu: '250000000n', memory: '1024Ki' },
      },
    ],
  })
  const { body } = await call('GET', `${METRICS}/namespaces/a/pods/p`)
  assert.equal(body.kind, 'PodMetrics')
  assert.deepEqual(body.containers, [{ name: 'c', usage: { cpu: '3000000n', memory: '2Ki' } }])
  const names = async (path: string): Promise<string[]> =>
    (await call('GET', path)).body.items.map(
      ({ metadata }: { metadata: { name: string } }) => metadata.name,
    )
  assert.deepEqual(await names(`${METRICS}/pods`), ['p'])
  assert.deepEqual(await names(`${METRICS}/namespaces/default/pods`), [])
  assert.deepEqual(await names(`${METRICS}/pods?labelSelector=app%3Dother`), [])
  assert.deepEqual(await names(`${METRICS}/pods?fieldSelector=metadata.name%3Dother`), [])
  assert.deepEqual(await names(`${METRICS}/pods?fieldSelector=metadata.namespace%3Da`), ['p'])
  const missing = await call('GET', `${METRICS}/namespaces/a/pods/gone`)
  assert.deepEqual(
    [missing.status, missing.body.message],
    [404, 'pods.metrics.k8s.io "gone" not found'],
  )
  await server.stop()
})

test('lists are shown as tables', async () => {
  const { server, call } = await withNode()
  server.serveResourceMetrics()
  const { body } = await call('GET', `${METRICS}/namespaces/a/pods`, undefined, TABLE)
  assert.deepEqual(
    body.rows.map(({ cells }: { cells: string[] }) => cells),
    [['p', '3000000n', '2Ki', '15s']],
  )
  await server.stop()
})

test('a scale has columns of its own', async () => {
  const { server, call } = await withNode()
  const selector = { matchLabels: { app: 'x' } }
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const path = '/apis/apps/v1/namespaces/a/deployments'
  await call('POST', path, { metadata: { name: 'd' }, spec: { replicas: 2, selector, template } })
  const { body } = await call('GET', `${path}/d/scale`, undefined, TABLE)
  assert.deepEqual(
    body.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Desired', 'Available', 'Age'],
  )
  assert.deepEqual(body.rows[0].cells, ['d', 2, 0, '0s'])
  await server.stop()
})

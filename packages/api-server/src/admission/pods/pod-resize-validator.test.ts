import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue } from '../../testing/test-server.ts'

const PODS = '/api/v1/namespaces/default/pods'
const PATCH = { 'content-type': 'application/strategic-merge-patch+json' }

async function withBoundPod(labels: Readonly<Record<string, string>>, nodeName = 'n1') {
  const { request } = await createTestServer()
  await request('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels } })
  const status = { allocatable: { cpu: '2', memory: '1Gi' } }
  await request('PATCH', '/api/v1/nodes/n1/status', { status }, PATCH)
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const resources = { requests: { cpu: '1', memory: '512Mi' } }
  const created = await request('POST', PODS, {
    metadata: { name: 'p' },
    spec: { nodeName, containers: [{ name: 'a', image: 'a', resources }] },
  })
  assert.equal(created.status, 201, JSON.stringify(created.value))
  const resize = (requests: AnyValue) => {
    const containers = [{ name: 'a', resources: { requests } }]
    return request('PATCH', `${PODS}/p/resize`, { spec: { containers } }, PATCH)
  }
  return { request, resize }
}

test('a resize that the node has room for is stored', async () => {
  const { resize } = await withBoundPod({ 'kubernetes.io/os': 'linux' })
  const { status, value } = await resize({ cpu: '2', memory: '1Gi' })
  assert.deepEqual([status, value.spec?.containers[0].resources.requests.cpu], [200, '2'])
})

test('more than the node can give is refused, with the amounts and cause NodeCapacity', async () => {
  const { resize } = await withBoundPod({})
  const { status, value } = await resize({ cpu: '2500m', memory: '2Gi' })
  assert.deepEqual(
    [status, value.message, value.details.causes],
    [
      403,
      'pods "p" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824',
      [{ reason: 'NodeCapacity' }],
    ],
  )
})

test('other systems than linux are refused, and nodes that are gone', async () => {
  const windows = await withBoundPod({ 'kubernetes.io/os': 'windows' })
  const { value } = await windows.resize({ cpu: '2' })
  assert.deepEqual(
    [value.message, value.details.causes],
    [
      'pods "p" is forbidden: pod resize is only supported on linux nodes, node "n1" is "windows"',
      [{ reason: 'UnsupportedPlatform' }],
    ],
  )
  const gone = await withBoundPod({}, 'n2')
  assert.equal(
    (await gone.resize({ cpu: '2' })).value.message,
    'pods "p" is forbidden: node "n2" not found',
  )
})

test('a resize that changes nothing is not asked about', async () => {
  const { resize } = await withBoundPod({}, 'n2')
  assert.equal((await resize({ cpu: '1' })).status, 200)
})

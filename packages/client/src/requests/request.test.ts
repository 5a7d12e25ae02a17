import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import type { WriteOptions } from '../client.ts'
import * as requests from './request.ts'

const pods: requests.Target = { type: resources.pods as ResourceType, namespace: 'a' }
const allPods: requests.Target = { type: resources.pods as ResourceType }
const nodes: requests.Target = { type: resources.nodes as ResourceType }
const deployments: requests.Target = { type: resources.deployments as ResourceType, namespace: 'a' }
const pod = { metadata: { name: 'x' } }

const PATHS: [string, () => requests.ApiRequest, string][] = [
  ['get', () => requests.getRequest(pods, 'x'), 'GET /api/v1/namespaces/a/pods/x'],
  [
    'get at a version',
    () => requests.getRequest(pods, 'x', { resourceVersion: '0' }),
    'GET /api/v1/namespaces/a/pods/x?resourceVersion=0',
  ],
  [
    'get of a subresource',
    () => requests.getRequest(deployments, 'x', { subresource: 'scale' }),
    'GET /apis/apps/v1/namespaces/a/deployments/x/scale',
  ],
  [
    'get of a cluster-scoped object',
    () => requests.getRequest(nodes, 'n1'),
    'GET /api/v1/nodes/n1',
  ],
  ['list', () => requests.listRequest(pods), 'GET /api/v1/namespaces/a/pods'],
  [
    'list without pages',
    () => requests.listRequest(pods, { limit: 0 }),
    'GET /api/v1/namespaces/a/pods',
  ],
  ['list of all namespaces', () => requests.listRequest(allPods), 'GET /api/v1/pods'],
  [
    'list with everything',
    () =>
      requests.listRequest(allPods, {
        labelSelector: 'app in (a,b)',
        fieldSelector: 'spec.nodeName=n&1',
        resourceVersion: '5',
        resourceVersionMatch: 'Exact',
        limit: 500,
        continue: 'abc=',
      }),
    'GET /api/v1/pods?labelSelector=app%20in%20(a%2Cb)&fieldSelector=spec.nodeName%3Dn%261&resourceVersion=5&resourceVersionMatch=Exact&limit=500&continue=abc%3D',
  ],
  [
    'watch',
    () =>
      requests.watchRequest(allPods, {
        resourceVersion: '5',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        sendInitialEvents: true,
        timeoutSeconds: 301,
        labelSelector: 'a=b',
        fieldSelector: 'metadata.name=x',
      }),
    'GET /api/v1/pods?watch=true&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=5&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=301',
  ],
  [
    'watch without bookmarks',
    () => requests.watchRequest(pods, { labelSelector: '', allowWatchBookmarks: false }),
    'GET /api/v1/namespaces/a/pods?watch=true',
  ],
  ['create', () => requests.createRequest(pods, pod), 'POST /api/v1/namespaces/a/pods'],
  [
    'create with options',
    () =>
      requests.createRequest(pods, pod, {
        dryRun: true,
        fieldManager: 'me',
        fieldValidation: 'Strict',
      }),
    'POST /api/v1/namespaces/a/pods?dryRun=All&fieldManager=me&fieldValidation=Strict',
  ],
  [
    'create on a subresource',
    () => requests.createSubresourceRequest(pods, 'x', 'eviction', {}),
    'POST /api/v1/namespaces/a/pods/x/eviction',
  ],
  ['update', () => requests.updateRequest(pods, pod), 'PUT /api/v1/namespaces/a/pods/x'],
  [
    'update of the status',
    () => requests.updateRequest(pods, pod, { subresource: 'status' }),
    'PUT /api/v1/namespaces/a/pods/x/status',
  ],
  [
    'patch',
    () => requests.patchRequest(pods, 'x', { type: 'merge', value: {} }, { force: true }),
    'PATCH /api/v1/namespaces/a/pods/x?force=true',
  ],
  [
    'apply',
    () => requests.applyRequest(pods, 'x', pod, { fieldManager: 'me', force: true }),
    'PATCH /api/v1/namespaces/a/pods/x?fieldManager=me&force=true',
  ],
  ['delete', () => requests.deleteRequest(pods, 'x'), 'DELETE /api/v1/namespaces/a/pods/x'],
  [
    'delete of a collection',
    () => requests.deleteCollectionRequest(pods, { labelSelector: 'a=b' }),
    'DELETE /api/v1/namespaces/a/pods?labelSelector=a%3Db',
  ],
]
for (const [title, make, expected] of PATHS) {
  test(`path and query of ${title}`, () => {
    const { method, path } = make()
    assert.equal(`${method} ${path}`, expected)
  })
}

test('Given empty namespace with a name, then error without a request.', () => {
  const message = 'an empty namespace may not be set when a resource name is provided'
  assert.throws(() => requests.getRequest(allPods, 'x'), { message })
  assert.throws(() => requests.updateRequest({ ...allPods, namespace: '' }, pod), { message })
  assert.throws(() => requests.deleteRequest(allPods, 'x'), { message })
  assert.throws(() => requests.createRequest(allPods, pod), {
    message: 'an empty namespace may not be set during creation',
  })
  assert.doesNotThrow(() => requests.createRequest(nodes, pod))
})

test('a name that would address something else is refused', () => {
  assert.throws(() => requests.getRequest(pods, ''), { message: 'resource name may not be empty' })
  assert.throws(() => requests.getRequest(pods, 'a/b'), {
    message: `invalid resource name "a/b": [may not contain '/']`,
  })
  assert.throws(() => requests.getRequest(pods, '..'), {
    message: `invalid resource name "..": [may not be '..']`,
  })
  assert.throws(() => requests.getRequest(pods, '.'), {
    message: `invalid resource name ".": [may not be '.']`,
  })
  assert.throws(() => requests.getRequest(pods, 'a%2f'), {
    message: `invalid resource name "a%2f": [may not contain '%']`,
  })
  assert.throws(() => requests.getRequest(pods, '%/'), {
    message: `invalid resource name "%/": [may not contain '/' may not contain '%']`,
  })
})

test('nor do namespaces and subresources address something else', () => {
  const elsewhere = { ...pods, namespace: '..' }
  const message = `invalid namespace "..": [may not be '..']`
  assert.throws(() => requests.getRequest(elsewhere, 'x'), { message })
  assert.throws(() => requests.listRequest(elsewhere), { message })
  assert.throws(() => requests.watchRequest(elsewhere), { message })
  assert.throws(() => requests.createRequest(elsewhere, pod), { message })
  assert.throws(() => requests.deleteCollectionRequest(elsewhere), { message })
  assert.throws(() => requests.getRequest(pods, 'x', { subresource: '../y' }), {
    message: `invalid subresource "../y": [may not contain '/']`,
  })
})

test('patches say their type; apply needs a field manager', () => {
  const typeOf = (request: requests.ApiRequest): string | undefined =>
    request.headers['content-type']
  assert.equal(
    typeOf(requests.patchRequest(pods, 'x', { type: 'json', operations: [1] })),
    'application/json-patch+json',
  )
  assert.equal(
    typeOf(requests.patchRequest(pods, 'x', { type: 'merge', value: 1 })),
    'application/merge-patch+json',
  )
  assert.equal(
    typeOf(requests.patchRequest(pods, 'x', { type: 'strategic', value: 1 })),
    'application/strategic-merge-patch+json',
  )
  assert.equal(
    typeOf(requests.applyRequest(pods, 'x', pod, { fieldManager: 'm' })),
    'application/apply-patch+yaml',
  )
  assert.throws(() => requests.applyRequest(pods, 'x', pod, {}), /fieldManager is required/)
  assert.deepEqual(requests.patchRequest(pods, 'x', { type: 'json', operations: [1] }).json, [1])
  assert.equal(requests.patchRequest(pods, 'x', { type: 'merge', value: 1 }).json, 1)
})

test('what is created or put says its kind, but for a scale, which is of another one', () => {
  const whole = { apiVersion: 'v1', kind: 'Pod', ...pod }
  const partly = { apiVersion: 'v1', ...pod }
  for (const object of [pod, partly, whole]) {
    assert.deepEqual(requests.createRequest(pods, object).json, whole)
    assert.deepEqual(requests.updateRequest(pods, object).json, whole)
  }
  const other = { apiVersion: 'v2', kind: 'Other', ...pod }
  assert.equal(requests.updateRequest(pods, other).json, other)
  assert.equal(requests.updateRequest(deployments, pod, { subresource: 'scale' }).json, pod)
})

test('delete options go in the body', () => {
  assert.deepEqual(requests.deleteRequest(pods, 'x').json, {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
  })
  assert.deepEqual(
    requests.deleteRequest(pods, 'x', {
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u' },
      dryRun: true,
    }).json,
    {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    },
  )
})

test('metadata only is asked for by the media type', () => {
  assert.equal(
    requests.listRequest(pods, { metadataOnly: true }).headers['accept'],
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
  )
  assert.equal(
    requests.watchRequest(pods, { metadataOnly: true }).headers['accept'],
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
  )
  assert.equal(requests.getRequest(pods, 'x').headers['accept'], 'application/json')
})

test('a request for metadata only names no resource in its errors', () => {
  const metadataOnly = { metadataOnly: true }
  for (const request of [
    requests.getRequest(pods, 'x', metadataOnly),
    requests.listRequest(pods, metadataOnly),
    requests.watchRequest(pods, metadataOnly),
    requests.deleteCollectionRequest(pods, metadataOnly),
  ])
    assert.equal(request.about, undefined)
  assert.deepEqual(requests.getRequest(pods, 'x').about, { group: '', resource: 'pods', name: 'x' })
})

test('a request for a scale names no group in its errors', () => {
  const named = { group: '', resource: 'deployments', name: 'd' }
  const scale = { subresource: 'scale' }
  const object = { metadata: { name: 'd' } }
  assert.deepEqual(requests.getRequest(deployments, 'd', scale).about, named)
  assert.deepEqual(requests.updateRequest(deployments, object, scale).about, named)
  assert.deepEqual(requests.getRequest(deployments, 'd').about, { ...named, group: 'apps' })
})

test('what a list or the deletion of a collection should mention is no part of the request', () => {
  const plain = requests.listRequest(pods)
  const asked = requests.listRequest(pods, { mentioning: ['uid'] })
  assert.deepEqual(asked, { ...plain, mentioning: ['uid'] })
  const deletion = requests.deleteCollectionRequest(pods, { mentioning: ['uid'] })
  assert.deepEqual(deletion, { ...requests.deleteCollectionRequest(pods), mentioning: ['uid'] })
})

test('that a creation or a deletion is due says nothing to the server', () => {
  const object = { metadata: { name: 'a', namespace: 'n' } }
  const plain = requests.createRequest(pods, object)
  assert.deepEqual(requests.createRequest(pods, object, { due: true }), { ...plain, due: true })
  const deletion = requests.deleteRequest(pods, 'a', { due: true })
  assert.deepEqual(deletion, { ...requests.deleteRequest(pods, 'a'), due: true })
})

test('whoever does not read the answer of a write asks the server for the same', () => {
  const object = { metadata: { name: 'a', namespace: 'n' } }
  const writes = [
    (options?: WriteOptions) => requests.createRequest(pods, object, options),
    (options?: WriteOptions) => requests.updateRequest(pods, object, options),
    (options?: WriteOptions) =>
      requests.patchRequest(pods, 'a', { type: 'merge', value: {} }, options),
  ]
  for (const write of writes)
    assert.deepEqual(write({ unread: true }), { ...write(), unread: true })
})

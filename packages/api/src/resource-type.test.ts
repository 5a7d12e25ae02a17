import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from './generated/resource-types.ts'
import { apiVersionOf, groupResourceOf, keyOf, pathOf, splitKey } from './resource-type.ts'

test('paths of collections, objects and subresources', () => {
  const { pods, deployments, nodes } = resources
  assert.equal(pathOf(pods), '/api/v1/pods')
  assert.equal(pathOf(pods, 'a'), '/api/v1/namespaces/a/pods')
  assert.equal(pathOf(nodes, 'ignored', 'n'), '/api/v1/nodes/n')
  assert.equal(
    pathOf(deployments, 'a', 'b', 'status'),
    '/apis/apps/v1/namespaces/a/deployments/b/status',
  )
  assert.equal(pathOf(pods, 'a', 'b/c'), '/api/v1/namespaces/a/pods/b%2Fc')
})

test('versions and group resources leave out the core group', () => {
  assert.equal(apiVersionOf(resources.pods), 'v1')
  assert.equal(apiVersionOf(resources.deployments), 'apps/v1')
  assert.equal(groupResourceOf(resources.pods), 'pods')
  assert.equal(groupResourceOf(resources.deployments), 'deployments.apps')
})

test('keys are taken apart as they were put together', () => {
  for (const metadata of [{ namespace: 'a', name: 'b' }, { name: 'b' }]) {
    const { namespace, name } = splitKey(keyOf({ metadata }))
    assert.deepEqual({ ...(namespace && { namespace }), name }, metadata)
  }
  assert.throws(() => splitKey('a/b/c'), new Error('unexpected key format: "a/b/c"'))
})

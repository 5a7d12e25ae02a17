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

test('names stand in paths as Go writes them', () => {
  const written = [
    ['system:node', 'system:node'],
    ['a:b@c+d$e,f;g=h&i', 'a:b@c+d$e,f;g=h&i'],
    ["p(x)!'*q", 'p%28x%29%21%27%2Aq'],
    ['s t"u<v>w|x', 's%20t%22u%3Cv%3Ew%7Cx'],
    ['ü^`{}[]\\', '%C3%BC%5E%60%7B%7D%5B%5D%5C'],
    ['q?r#s%2F/', 'q%3Fr%23s%252F%2F'],
    ['~tilde.-_', '~tilde.-_'],
  ] as const
  for (const [name, segment] of written) {
    const path = pathOf(resources.clusterroles, undefined, name)
    assert.equal(path, `/apis/rbac.authorization.k8s.io/v1/clusterroles/${segment}`)
    assert.equal(decodeURIComponent(segment), name)
  }
})

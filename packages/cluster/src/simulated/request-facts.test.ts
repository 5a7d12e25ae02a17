import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestFacts } from './request-facts.ts'

const SENDER = { process: 'p', link: 'l', user: 'u' }
type Method = Parameters<typeof requestFacts>[1]['method']

const CASES: readonly (readonly [Method, string, string])[] = [
  ['GET', '/api/v1/pods?watch=true&resourceVersion=7', 'watch pods // '],
  ['GET', '/api/v1/namespaces/a/pods?limit=5', 'list pods a// '],
  ['GET', '/api/v1/namespaces/a/pods/b', 'get pods a/b/ '],
  ['PATCH', '/api/v1/namespaces/a/pods/b/status', 'patch pods a/b/status '],
  ['POST', '/apis/apps/v1/namespaces/a/replicasets', 'create replicasets.apps a// '],
  ['DELETE', '/apis/apps/v1/namespaces/a/deployments/b', 'delete deployments.apps a/b/ '],
  ['GET', '/api/v1/namespaces', 'list namespaces // '],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update namespaces /a/finalize '],
  ['GET', '/apis/apps/v1', 'other  // '],
  ['GET', '/healthz', 'other  // '],
  ['PATCH', '/api/v1/nodes/n/status', 'patch nodes /n/status heartbeat'],
  [
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x',
    'update leases.coordination.k8s.io kube-system/x/ heartbeat',
  ],
]

for (const [method, path, wanted] of CASES) {
  test(`${method} ${path}`, () => {
    const { verb, collection, namespace, name, subresource, isHeartbeat } = requestFacts(SENDER, {
      method,
      path,
    })
    const heartbeat = isHeartbeat ? 'heartbeat' : ''
    assert.equal(`${verb} ${collection} ${namespace}/${name}/${subresource} ${heartbeat}`, wanted)
  })
}

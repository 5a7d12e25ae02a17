import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { UserInfo } from '../contracts.ts'
import type { Draft } from '../registry/kind-rules.ts'

const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUPS = ['resource.k8s.io']
const result = { request: 'r', driver: 'd.example.com', pool: 'p', device: 'a' }
const term = (node: string) => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }],
})
const allocation = {
  devices: { results: [result] },
  nodeSelector: { nodeSelectorTerms: [term('node-1')] },
}
const told = (value: number) => ({
  devices: [{ driver: 'd.example.com', pool: 'p', device: 'a', data: { value } }],
})

const NODE_EXTRA = 'authentication.kubernetes.io/node-name'

/** Jane, from this node, may write claims and their status, and what `rules` say besides. */
async function withJane(rules: readonly Draft[], node?: string) {
  const user = (name: string, groups: readonly string[]): UserInfo => ({
    name,
    groups: [...groups, 'system:authenticated'],
    extra: node === undefined ? {} : { [NODE_EXTRA]: [node] },
  })
  const world = await startServer({
    tokens: new Map([
      ['admin-token', user('admin', ['system:masters'])],
      ['jane-token', user('jane', [])],
    ]),
  })
  await makeNamespace(world, 'ns')
  const resources = ['resourceclaims', 'resourceclaims/status']
  const basic = { apiGroups: GROUPS, resources, verbs: ['*'] }
  const metadata = { name: 'jane' }
  await world.call('POST', `${RBAC}/clusterroles`, { metadata, rules: [basic, ...rules] })
  await world.call('POST', `${RBAC}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'jane' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
  })
  const requests = [{ name: 'r', exactly: { deviceClassName: 'c' } }]
  await world.call('POST', CLAIMS, { metadata: { name: 'c' }, spec: { devices: { requests } } })
  return {
    server: world.server,
    /** The answer to a new status, by its code and the text behind the field. */
    async put(who: 'admin' | 'jane', change: Draft): Promise<readonly [number, string?]> {
      const { body: claim } = await world.call('GET', `${CLAIMS}/c`)
      const status = { ...claim.status, ...change }
      const answer = await world.as(who, 'PUT', `${CLAIMS}/c/status`, { ...claim, status })
      return answer.status === 200
        ? [200]
        : [answer.status, answer.body.message.replace(/^.*? is invalid: /, '')]
    },
  }
}

const rule = (resource: string, verb: string, names: readonly string[] = []) => ({
  apiGroups: GROUPS,
  resources: [`resourceclaims/${resource}`],
  verbs: [verb],
  ...(names.length > 0 && { resourceNames: names }),
})

test('allocating and reserving needs the verb on the binding of claims', async () => {
  const why =
    'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: User "jane" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope'
  const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }]
  const refused = await withJane([rule('binding', 'patch')])
  assert.deepEqual(await refused.put('jane', { allocation }), [422, why])
  assert.deepEqual(await refused.put('admin', { allocation }), [200])
  assert.deepEqual(await refused.put('jane', { reservedFor }), [422, why])
  assert.deepEqual(await refused.put('jane', {}), [200])
  await refused.server.stop()
  const allowed = await withJane([rule('binding', 'update')])
  assert.deepEqual(await allowed.put('jane', { allocation, reservedFor }), [200])
  await allowed.server.stop()
})

test('telling of devices needs the verb on their driver', async () => {
  const why = (verbs: string) =>
    `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[${verbs}]" permission: resourceclaims.resource.k8s.io "d.example.com" is forbidden: User "jane" cannot ${verbs.split(' ')[0]} resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "ns"`
  const cases: readonly (readonly [readonly Draft[], string | undefined, string | undefined])[] = [
    [[], undefined, why('arbitrary-node:update')],
    [[rule('driver', 'arbitrary-node:update', ['other'])], undefined, why('arbitrary-node:update')],
    [[rule('driver', 'arbitrary-node:update', ['d.example.com'])], undefined, undefined],
    [[rule('driver', 'associated-node:update')], undefined, why('arbitrary-node:update')],
    [[rule('driver', 'associated-node:update')], 'node-2', why('arbitrary-node:update')],
    [[rule('driver', 'associated-node:update')], 'node-1', undefined],
    [[], 'node-1', why('associated-node:update arbitrary-node:update')],
  ]
  for (const [rules, node, refusal] of cases) {
    const { put, server } = await withJane(rules, node)
    await put('admin', { allocation })
    const answer = await put('jane', told(1))
    assert.deepEqual(answer, refusal === undefined ? [200] : [422, refusal])
    // What stays as it is was nobody's change.
    await put('admin', told(1))
    assert.deepEqual(await put('jane', told(1)), [200])
    await server.stop()
  }
})

test('who gives devices back needs nothing of their drivers', async () => {
  const { put, server } = await withJane([rule('binding', 'update')])
  await put('admin', { allocation, ...told(1) })
  assert.deepEqual(await put('jane', { allocation: undefined, devices: undefined }), [200])
  await put('admin', { allocation, ...told(1) })
  assert.deepEqual(await put('jane', { allocation: undefined }), [200])
  await put('admin', { allocation, ...told(1) })
  const [code, why] = await put('jane', { devices: undefined })
  assert.deepEqual([code, why?.slice(0, 15)], [422, 'status.devices:'])
  await server.stop()
})

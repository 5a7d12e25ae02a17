/** Updates of roles and bindings by somebody who has fewer rights than they give. Observed on kube-apiserver 1.36. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '../registry/kind-rules.ts'

const GROUP = 'rbac.authorization.k8s.io'
const MERGE = {
  'content-type': 'application/merge-patch+json',
  authorization: 'Bearer jane-token',
}
const cluster = `/apis/${GROUP}/v1`
const inNamespace = `${cluster}/namespaces/a`
let server: TestServer
const roleRef = (kind: string, name: string): Draft => ({ apiGroup: GROUP, kind, name })
const subjects = [{ kind: 'User', apiGroup: GROUP, name: 'jane' }]
const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]

async function make(path: string, name: string, rest: object): Promise<void> {
  const { status } = await server.call('POST', path, { metadata: { name }, ...rest })
  assert.equal(status, 201)
}
const verbs = ['create', 'patch']
const resources = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']
const clusterRoleSelectors = [{ matchLabels: { a: 'b' } }]

before(async () => {
  server = await startServer()
  await makeNamespace(server, 'a')
  await make(`${cluster}/clusterroles`, 'writer', {
    rules: [{ apiGroups: [GROUP], resources, verbs }],
  })
  await make(`${cluster}/clusterrolebindings`, 'writer', {
    roleRef: roleRef('ClusterRole', 'writer'),
    subjects,
  })
  await make(`${inNamespace}/roles`, 'big', { rules: secrets })
  await make(`${inNamespace}/rolebindings`, 'big', { roleRef: roleRef('Role', 'big') })
  await make(`${cluster}/clusterroles`, 'sum', { aggregationRule: { clusterRoleSelectors } })
})
after(() => server.server.stop())

const patched = (path: string, body: object) => server.call('PATCH', path, body, MERGE)
const NOT_HELD =
  'user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'

for (const [path, why] of [
  [`${inNamespace}/roles/big`, NOT_HELD],
  [`${inNamespace}/rolebindings/big`, NOT_HELD],
  [`${cluster}/clusterroles/sum`, 'must have cluster-admin privileges to use the aggregationRule'],
] as const)
  test(`${path}: every change is judged but that of owners and finalizers`, async () => {
    const refused = await patched(path, { metadata: { labels: { x: 'y' } } })
    assert.equal(refused.status, 403)
    assert.ok(refused.body.message.endsWith(`is forbidden: ${why}`), refused.body.message)
    const ownerReferences = [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }]
    for (const metadata of [{}, { ownerReferences }, { finalizers: ['a.b/c'] }])
      assert.equal((await patched(path, { metadata })).status, 200)
  })

test('who takes the aggregation away needs as much as who asks for it', async () => {
  const refused = await patched(`${cluster}/clusterroles/sum`, { aggregationRule: null })
  assert.equal(refused.status, 403)
})

for (const [path, ref, status, message] of [
  ['rolebindings', roleRef('Foo', 'x'), 500, 'unsupported role reference kind: "Foo"'],
  [
    'rolebindings',
    roleRef('constructor', 'x'),
    500,
    'unsupported role reference kind: "constructor"',
  ],
  ['rolebindings', roleRef('ClusterRole', ''), 400, 'Name parameter required.'],
  ['clusterrolebindings', roleRef('Role', 'x'), 400, 'Namespace parameter required.'],
  ['clusterrolebindings', roleRef('Role', ''), 400, 'Namespace parameter required.'],
] as const)
  test(`${path} of ${JSON.stringify(ref)}: the role is looked for before the binding is judged`, async () => {
    const base = path === 'rolebindings' ? inNamespace : cluster
    const body = { metadata: { name: 'x' }, roleRef: ref }
    const answer = await server.as('jane', 'POST', `${base}/${path}`, body)
    assert.deepEqual([answer.status, answer.body.message], [status, message])
  })

test('verbs are told as often as they are named, those of URLs one by one', async () => {
  const rules = [
    { apiGroups: [''], resources: ['a'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['a'], verbs: ['get'] },
    { nonResourceURLs: ['/b', '/a'], verbs: ['y', 'x'] },
  ]
  const body = { metadata: { name: 'n' }, rules }
  const { body: refusal } = await server.as('jane', 'POST', `${cluster}/clusterroles`, body)
  assert.deepEqual(refusal.message.split('\n').slice(1), [
    '{APIGroups:[""], Resources:["a"], Verbs:["get" "list" "get"]}',
    '{NonResourceURLs:["/a"], Verbs:["x"]}',
    '{NonResourceURLs:["/a"], Verbs:["y"]}',
    '{NonResourceURLs:["/b"], Verbs:["x"]}',
    '{NonResourceURLs:["/b"], Verbs:["y"]}',
  ])
})

test('escalate for one name is no right to create that role with a POST, but to put it there', async () => {
  const resourceNames = ['mine']
  await make(`${cluster}/clusterroles`, 'raiser', {
    rules: [
      { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['escalate'], resourceNames },
      { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['update'] },
    ],
  })
  await make(`${cluster}/clusterrolebindings`, 'raiser', {
    roleRef: roleRef('ClusterRole', 'raiser'),
    subjects,
  })
  const role = { metadata: { name: 'mine' }, rules: secrets }
  const posted = await server.as('jane', 'POST', `${cluster}/clusterroles`, role)
  assert.deepEqual(
    [posted.status, posted.body.message],
    [403, `clusterroles.rbac.authorization.k8s.io "mine" is forbidden: ${NOT_HELD}`],
  )
  const put = await server.as('jane', 'PUT', `${cluster}/clusterroles/mine`, role)
  assert.equal(put.status, 201, put.body.message)
})

test('bind for one name is a right to bind that role', async () => {
  const resourceNames = ['big-one']
  await make(`${cluster}/clusterroles`, 'big-one', { rules: secrets })
  await make(`${cluster}/clusterroles`, 'binder', {
    rules: [{ apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['bind'], resourceNames }],
  })
  await make(`${cluster}/clusterrolebindings`, 'binder', {
    roleRef: roleRef('ClusterRole', 'binder'),
    subjects,
  })
  const bind = (name: string) =>
    server.as('jane', 'POST', `${inNamespace}/rolebindings`, {
      metadata: { generateName: 'b-' },
      roleRef: roleRef('ClusterRole', name),
    })
  assert.equal((await bind('big-one')).status, 201)
  assert.equal((await bind('cluster-admin')).status, 403)
})

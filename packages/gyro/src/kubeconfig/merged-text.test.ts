import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { withCluster, withoutCluster } from './merged-text.ts'
import type { Merged } from './merged-text.ts'

const OWN = `clusters:
- name: "gyro"
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: QQ==}
users:
- name: "admin"
  user: {token: t}
contexts:
- name: "gyro"
  context: {cluster: gyro, user: admin}
`
const CLUSTER = { name: 'gyro-shop', server: 'https://127.0.0.1:6443' }
const THEIRS = `# of the company
apiVersion: v1
kind: Config
current-context: production # careful
clusters:
  - name: production
    cluster: { server: "https://example.com", nobody-knows-this: [ 1, 2 ] }
users:
  - name: me
    user: { token: secret } # changes weekly
contexts:
  - name: production
    context: { cluster: production, user: me, namespace: shop }
preferences: { colors: true }
`

function textOf(merged: Merged): string {
  assert.ok('text' in merged, JSON.stringify(merged))
  return merged.text
}

const added = (text: string, cluster = CLUSTER): string => textOf(withCluster(text, OWN, cluster))

test('what stood there stays, comments and unknown fields too', () => {
  const text = added(THEIRS)
  for (const line of THEIRS.split('\n').filter((one) => !one.startsWith('current-context')))
    assert.ok(text.includes(line), line)
  assert.match(text, /^current-context: gyro-shop # careful$/m)
  const { contexts, users } = parse(text)
  assert.deepEqual(contexts.at(-1).context.user, 'gyro-shop')
  assert.deepEqual(users.at(-1).user.token, 't')
})

test('taken out, the text is as before but for the current context, which is empty as with kind', () => {
  const text = textOf(withoutCluster(added(THEIRS), CLUSTER))
  assert.equal(text, THEIRS.replace('current-context: production', 'current-context: ""'))
})

test('a file as kubectl writes it keeps its lists at the margin', () => {
  const text = 'clusters:\n- cluster: {}\n  name: a\nusers: []\n'
  assert.match(added(text), /^clusters:\n- cluster: \{\}\n  name: a\n- name: gyro-shop\n/m)
  assert.match(added(THEIRS), /^users:\n  - name: me$/m)
})

test('a kubeconfig of the cluster that somebody has emptied is told, not fallen over', () => {
  for (const own of ['', 'clusters: []\n', 'clusters: [{name: gyro}]\n'])
    assert.deepEqual(withCluster('', own, CLUSTER), {
      problem:
        'gets no entry: the kubeconfig of the cluster itself has lost its cluster, user or context: start it again',
    })
})

test('a context that was chosen meanwhile stays chosen', () => {
  const chosen = added(THEIRS).replace('current-context: gyro-shop', 'current-context: production')
  assert.match(textOf(withoutCluster(chosen, CLUSTER)), /^current-context: production/m)
})

test('merged twice it is there once; the later address holds', () => {
  const later = { ...CLUSTER, server: 'https://127.0.0.1:7000' }
  const text = added(added(THEIRS), later)
  assert.equal(text.match(/- name: gyro-shop/g)?.length, 3)
  // Who ends later than its follower takes nothing of it.
  assert.equal(textOf(withoutCluster(text, CLUSTER)), text)
  assert.doesNotMatch(textOf(withoutCluster(text, later)), /gyro-shop/)
})

test('empty files, empty lists and JSON', () => {
  for (const text of ['', '# mine\n', 'kind: Config\n', 'clusters: []\nusers: null\n']) {
    const merged = added(text)
    assert.equal(parse(merged)['current-context'], 'gyro-shop', text)
    assert.doesNotMatch(merged, /clusters: \[/)
    assert.deepEqual(parse(textOf(withoutCluster(merged, CLUSTER))).clusters, [])
  }
  assert.match(added('# mine\n'), /^# mine\n/)
  assert.equal(JSON.parse(added('{"clusters": []}')).clusters[0].name, 'gyro-shop')
})

for (const [what, text, problem] of [
  ['no YAML', 'a: [', /^is not YAML: /],
  ['no map', '- a\n', /^is no kubeconfig: it is not a map$/],
  ['lists that are none', 'users: {}\n', /^is no kubeconfig: its users are not a list$/],
  [
    'an entry of that name that somebody else made',
    'users: [{name: gyro-shop, user: {token: x}}]\n',
    /^has an entry gyro-shop among its users that is not of gyro/,
  ],
] as const)
  test(`refused: ${what}`, () => {
    const merged = withCluster(text, OWN, CLUSTER)
    assert.ok('problem' in merged)
    assert.match(merged.problem, problem)
  })

test('an entry of that name that somebody else made is not taken out', () => {
  const text = 'users: [{name: gyro-shop, user: {token: x}}]\n'
  assert.equal(textOf(withoutCluster(text, CLUSTER)), text)
})

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

test('entries of others stay byte for byte: long numbers, zeros in front, braces, line ends of Windows', () => {
  const theirs =
    'users:\n-   name: me # mine\n    user: {username: 12345678901234567890,password:  0o17}\n' +
    '# of the team\n- user:\n    token: 00123\n    key: |\n      a\n  name:   team\n' +
    "contexts: [ {name: 'a',context: {}} ] # one\nclusters:\n    - {name: 1e3, cluster: {}}\nextra: ~\n"
  for (const text of [theirs, theirs.replaceAll('\n', '\r\n'), theirs.trimEnd()]) {
    const merged = added(text)
    const newline = text.includes('\r') ? '\r\n' : '\n'
    for (const line of text.split(newline).filter((one) => !one.startsWith('contexts')))
      assert.ok(merged.includes(line), line)
    assert.match(
      merged,
      /^contexts: \[ \{name: 'a',context: \{\}\}, \{"name":"gyro-shop".*\} \] # one\r?$/m,
    )
    assert.equal(merged.includes('\r'), text.includes('\r'))
    assert.equal(merged.replaceAll('\r\n', '').includes(newline), newline === '\n')
    const twice = added(merged)
    assert.equal(twice, merged)
    const end = text.endsWith('\n') ? '' : '\n'
    assert.equal(
      textOf(withoutCluster(merged, CLUSTER)),
      `${text}${end}current-context: ""${newline}`,
    )
  }
})

test('every layout that is seen in the wild can be changed and changed back', () => {
  for (const text of [
    '---\nusers:\n- name: a\n',
    'users: # none\nclusters: []\n',
    'current-context:\nusers: []\n',
    'users:\n- name: a\n  user:\n    exec:\n      args: [\n        a,\n        b ]\n',
    'users:\n- name: a\n  user:\n    key: |+\n      a\n\n\n',
    'users:\n- # first-one\n  name: a\n-\n  name: b\n',
    'users: [a,]\n',
  ]) {
    const merged = added(text)
    assert.equal(parse(merged)['current-context'], 'gyro-shop', text)
    for (const list of ['clusters', 'users', 'contexts'])
      assert.equal(parse(merged)[list].at(-1).name, 'gyro-shop', `${list} of ${text}`)
    const { users } = parse(text)
    assert.deepEqual(parse(textOf(withoutCluster(merged, CLUSTER))).users, users ?? [], text)
  }
})

test('JSON stays as it is written, too', () => {
  const users = '"users":[{"name":"a","user":{"username":12345678901234567890}}]'
  const text = `{${users},\n\t"clusters": null}`
  const merged = added(text)
  assert.ok(merged.includes(users.slice(0, -1)), merged)
  assert.equal(JSON.parse(merged).clusters[0].name, 'gyro-shop')
  assert.equal(JSON.parse(added('{}'))['current-context'], 'gyro-shop')
  const without = textOf(withoutCluster(merged, CLUSTER))
  assert.ok(without.includes(users))
  assert.deepEqual(JSON.parse(without).contexts, [])
})

test('a layout that cannot be changed at its place is refused', () => {
  const merged = withCluster('users: &all []\nmore: *all\n', OWN, CLUSTER)
  assert.ok('problem' in merged)
  assert.match(merged.problem, /^is laid out in a way that gyro does not change/)
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

/** What a server is asked to believe and allow beyond its defaults: flags of kube-apiserver stand behind each. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { VirtualClock, SeededRandom } from '@gyropilot/foundation'
import { selectionProblem } from '../admission/index.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { createTestServer } from '../testing/test-server.ts'
import { createClusterCertificates, generateKeyPair } from '../tls/index.ts'
import { createAuthentication } from './authentication.ts'
import { AUTHORIZATION_MODES } from './authorization-modes.ts'
import type { AuthorizationMode } from './authorization-modes.ts'
import { keyIdOf, signToken } from './json-web-token.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'

const JANE = { authorization: 'Bearer jane' }
const USERS = new Map([
  ['test-token', { name: 'admin', groups: ['system:masters', 'system:authenticated'], extra: {} }],
  ['jane', { name: 'jane', groups: [], extra: {} }],
  ['kubelet', { name: 'system:node:a', groups: ['system:nodes'], extra: {} }],
])

test('each authorization mode says what it says, and RBAC is not asked where it is not named', async () => {
  const expected: Readonly<Record<AuthorizationMode, readonly number[]>> = {
    Node: [403, 200],
    RBAC: [403, 403],
    AlwaysAllow: [200, 200],
    AlwaysDeny: [403, 403],
  }
  for (const mode of AUTHORIZATION_MODES) {
    const { request } = await createTestServer({ tokens: USERS, authorizationModes: [mode] })
    const node = { metadata: { name: 'a' } }
    assert.equal((await request('POST', '/api/v1/nodes', node)).status, 201)
    const jane = await request('GET', '/api/v1/nodes/a', undefined, JANE)
    const kubelet = await request('GET', '/api/v1/nodes/a', undefined, {
      authorization: 'Bearer kubelet',
    })
    assert.deepEqual([jane.status, kubelet.status], expected[mode], mode)
  }
})

test('with RBAC named, a role gives what it gives; without, it gives nothing', async () => {
  for (const [modes, status] of [
    [['RBAC'], 200],
    [['Node'], 403],
  ] as const) {
    const { request } = await createTestServer({ tokens: USERS, authorizationModes: modes })
    const binding = {
      metadata: { name: 'jane' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    }
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    assert.equal((await request('POST', path, binding)).status, 201)
    const answer = await request('GET', '/api/v1/namespaces/default/services', undefined, JANE)
    assert.equal(answer.status, status, modes.join())
  }
})

test('of a refusal each mode says its part, in the order of the modes', async () => {
  const missing = 'RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found'
  const unrelated = "no relationship found between node 'a' and this object"
  const everything = 'Everything is forbidden.'
  for (const [modes, reasons] of [
    [['AlwaysDeny'], [everything]],
    [
      ['Node', 'RBAC'],
      [unrelated, missing],
    ],
    [
      ['RBAC', 'Node', 'AlwaysDeny'],
      [missing, unrelated, everything],
    ],
  ] as const) {
    const { request } = await createTestServer({ tokens: USERS, authorizationModes: modes })
    await request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'x' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'missing' },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' },
      ],
    })
    const { value } = await request('GET', '/api/v1/namespaces/x/secrets/y', undefined, {
      authorization: 'Bearer kubelet',
    })
    const why =
      'secrets "y" is forbidden: User "system:node:a" cannot get resource "secrets" in API group "" in the namespace "x"'
    assert.equal(value.message, `${why}: ${reasons.join('\n')}`)
  }
})

test('what somebody may do is listed of the modes that are asked', async () => {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  const everyPath = { verbs: ['*'], nonResourceURLs: ['*'] }
  for (const [modes, count, isEverything] of [
    [['AlwaysAllow'], 1, true],
    [['RBAC', 'AlwaysAllow'], 3, true],
    [['RBAC', 'AlwaysDeny'], 2, false],
  ] as const) {
    const { request } = await createTestServer({ tokens: USERS, authorizationModes: modes })
    const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
    const { value } = await request('POST', path, { spec: { namespace: 'default' } }, JANE)
    const { resourceRules, nonResourceRules, ...rest } = value.status
    assert.deepEqual([resourceRules.length, nonResourceRules.length], [count, count])
    if (isEverything)
      assert.deepEqual([resourceRules.at(-1), nonResourceRules.at(-1)], [everything, everyPath])
    assert.deepEqual(rest, { incomplete: false })
  }
})

test('without anonymous authentication a request that shows nothing is refused, also for the health checks', async () => {
  const nothing = { authorization: '' }
  for (const [anonymousAuthentication, status] of [
    [true, 200],
    [false, 401],
  ] as const) {
    const { request } = await createTestServer({ anonymousAuthentication })
    assert.equal((await request('GET', '/readyz', undefined, nothing)).status, status)
  }
})

test('admission plug-ins can be left out and added', async () => {
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const path = '/api/v1/namespaces/default/pods'
  const strict = await createTestServer()
  const refused = strict.request('POST', path, pod)
  // The plug-in gives the account some time to be made.
  await strict.clock.advance(60_000)
  assert.equal((await refused).status, 403)
  const lenient = await createTestServer({ admissionSelection: { disabled: ['ServiceAccount'] } })
  assert.equal((await lenient.request('POST', path, pod)).status, 201)

  const lease = { metadata: { name: 'b', namespace: 'kube-node-lease' }, spec: {} }
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
  for (const [enabled, status] of [
    [[], 201],
    [['NodeRestriction'], 403],
  ] as const) {
    const { request } = await createTestServer({
      tokens: USERS,
      authorizationModes: ['AlwaysAllow'],
      admissionSelection: { enabled },
    })
    const as = { authorization: 'Bearer kubelet' }
    assert.equal((await request('POST', leases, lease, as)).status, status, enabled.join())
  }
})

test('a selection of plug-ins that cannot be is told, in the words of kube-apiserver where it refuses too', () => {
  for (const [selection, expected] of [
    [{ enabled: ['Foo'] }, 'enable-admission-plugins plugin "Foo" is unknown'],
    [{ disabled: ['Bar'] }, 'disable-admission-plugins plugin "Bar" is unknown'],
    [
      { enabled: ['NodeRestriction'], disabled: ['NodeRestriction'] },
      '[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped',
    ],
    [
      { enabled: ['AlwaysPullImages'] },
      'enable-admission-plugins: AlwaysPullImages is not built in this server: leave it out',
    ],
    [{ disabled: ['AlwaysPullImages', 'JobValidation'], enabled: ['LimitRanger'] }, undefined],
  ] as const)
    assert.equal(selectionProblem(selection), expected)
})

test('a bundle of authorities signs clients, each of them', () => {
  const clock = new VirtualClock({ settle: () => Promise.resolve() })
  const store = createMemoryStore(clock)
  const made = [1, 2, 3].map((seed) =>
    createClusterCertificates({ clock, random: new SeededRandom(seed) }),
  )
  const [first, second, stranger] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]]
  const authentication = createAuthentication({
    clock,
    store,
    serviceAccountTokens: new ServiceAccountTokens({
      clock,
      random: new SeededRandom(4),
      store,
      key: first.serviceAccountKey,
    }),
    clientAuthorityPem: `# two\n${first.authority.certificatePem}\n${second.authority.certificatePem}`,
  })
  const userOf = (pem: string) =>
    authentication.authenticate({ headers: {}, clientCertificates: [new X509Certificate(pem)] })
  for (const { admin } of [first, second])
    assert.deepEqual(userOf(admin.certificatePem), {
      ...userOf(admin.certificatePem),
      name: 'kubernetes-admin',
    })
  assert.throws(() => userOf(stranger.admin.certificatePem), /Unauthorized/)
})

test('tokens of another key and issuer hold where both are known, and both keys are published', () => {
  const clock = new VirtualClock({ settle: () => Promise.resolve() })
  const store = createMemoryStore(clock)
  const metadata = { name: 'a', namespace: 'default', uid: 'u' }
  store.commit({ collection: 'serviceaccounts', key: 'default/a' }, () => ({ metadata }))
  const [key, earlier] = [generateKeyPair(), generateKeyPair()]
  const common = { clock, random: new SeededRandom(1), store, key }
  const seconds = clock.nowMs() / 1000
  const claims = {
    iss: 'https://earlier',
    aud: ['https://now'],
    exp: seconds + 600,
    nbf: seconds,
    sub: 'system:serviceaccount:default:a',
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'a', uid: 'u' } },
  }
  const token = signToken(claims, earlier.privateKey, keyIdOf(earlier.publicKey))
  const issuers = ['https://now', 'https://earlier']
  const both = new ServiceAccountTokens({
    ...common,
    issuers,
    otherPublicKeys: [earlier.publicKey],
  })
  const judged = both.judge(token)
  assert.equal('user' in judged && judged.user.name, 'system:serviceaccount:default:a')
  assert.equal((both.keySet() as { keys: unknown[] }).keys.length, 2)
  assert.deepEqual(new ServiceAccountTokens({ ...common, issuers }).judge(token), {
    refused: 'invalid signature, no keys found',
  })
  const keyOnly = new ServiceAccountTokens({
    ...common,
    issuers: ['https://now'],
    otherPublicKeys: [earlier.publicKey, key.publicKey],
  })
  assert.deepEqual(keyOnly.judge(token), { refused: '' })
  assert.equal(
    (keyOnly.keySet() as { keys: unknown[] }).keys.length,
    2,
    'the own key is there once',
  )
})

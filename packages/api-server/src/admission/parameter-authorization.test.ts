/** Who may have policies read parameters. Observed on kube-apiserver 1.36. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '../registry/kind-rules.ts'

const POLICIES = '/apis/admissionregistration.k8s.io/v1'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' }
const NOPE = { apiVersion: 'x.example.com/v1', kind: 'Nope' }
const ONE = { name: 'x', parameterNotFoundAction: 'Deny' }
const ALL = { selector: {}, parameterNotFoundAction: 'Deny' }
const configMaps = { apiGroups: [''], resources: ['configmaps'] }
/** Besides what all may: everything with policies and bindings. */
const RULES: Readonly<Record<string, readonly Draft[]>> = {
  nothing: [],
  getter: [{ ...configMaps, verbs: ['get'] }],
  lister: [{ ...configMaps, verbs: ['list'] }],
  named: [{ ...configMaps, verbs: ['get', 'list'], resourceNames: ['x', '*'] }],
  foreign: [{ apiGroups: ['x.example.com'], resources: ['*'], verbs: ['get'] }],
  reader: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get'] }],
  local: [],
}
const EXTRA = { b: ['2', '3'], a: ['1'] }
let server: TestServer

const policy = (name: string, paramKind?: Draft): Draft => ({
  metadata: { name },
  spec: {
    ...(paramKind === undefined ? {} : { paramKind }),
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
      ],
    },
    validations: [{ expression: 'true' }],
  },
})
const mutating = (name: string, paramKind?: Draft): Draft => {
  const { metadata, spec } = policy(name, paramKind)
  const { validations: _, ...rest } = spec
  const applyConfiguration = { expression: 'Object{}' }
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration }]
  return { metadata, spec: { ...rest, reinvocationPolicy: 'Never', mutations } }
}
const binding = (policyName: string, paramRef?: Draft, rest: Draft = {}): Draft => ({
  metadata: { name: 'b' },
  spec: { policyName, ...(paramRef === undefined ? {} : { paramRef }), ...rest },
})

/** The code, and what is said of the field. */
async function asked(
  user: string,
  method: string,
  path: string,
  body: Draft,
  type = 'application/json',
): Promise<readonly [number, string?]> {
  const headers = { authorization: `Bearer ${user}-token`, 'content-type': type }
  const answer = await server.call(method, `${POLICIES}/${path}`, body, headers)
  if (answer.status < 400) return [answer.status]
  return [answer.status, answer.body.message.replace(/^.*? is invalid: /, '')]
}
const patched = (user: string, path: string, body: Draft) =>
  asked(user, 'PATCH', path, body, 'application/merge-patch+json')

async function grant(name: string, rules: readonly Draft[], namespace = ''): Promise<void> {
  const [kind, place] =
    namespace === '' ? ['ClusterRole', ''] : ['Role', `/namespaces/${namespace}`]
  const metadata = { name }
  const prefix = namespace === '' ? 'cluster' : ''
  await server.call('POST', `${RBAC}${place}/${prefix}roles`, { metadata, rules })
  await server.call('POST', `${RBAC}${place}/${prefix}rolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
  })
}

before(async () => {
  const names = ['admin', ...Object.keys(RULES)]
  const user = (name: string) => ({
    name,
    ...(name === 'lister' ? { uid: 'u' } : {}),
    groups: name === 'admin' ? ['system:masters'] : ['g', 'system:authenticated'],
    extra: name === 'lister' ? EXTRA : {},
  })
  server = await startServer({
    tokens: new Map(names.map((name) => [`${name}-token`, user(name)])),
  })
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'ns' } })
  const own = { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }
  for (const [name, rules] of Object.entries(RULES)) await grant(name, [own, ...rules])
  await grant('local', [{ ...configMaps, verbs: ['get', 'list'] }], 'ns')
  for (const [name, kind] of [
    ['cm', CONFIG_MAP],
    ['nope', NOPE],
    ['none', undefined],
  ] as const) {
    await server.call('POST', `${POLICIES}/validatingadmissionpolicies`, policy(name, kind))
    await server.call('POST', `${POLICIES}/mutatingadmissionpolicies`, mutating(name, kind))
  }
})
after(() => server.server.stop())

const shown = (user: string): string =>
  user === 'lister'
    ? '&{lister u [g system:authenticated] map[a:[1] b:[2 3]]}'
    : `&{${user}  [g system:authenticated] map[]}`
const notAll = (user: string, kind: string, apiVersion: string): string =>
  `spec.paramKind: Forbidden: user ${shown(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`

for (const [resource, make] of [
  ['validatingadmissionpolicies', policy],
  ['mutatingadmissionpolicies', mutating],
] as const) {
  for (const [user, kind, problem] of [
    ['nothing', undefined, undefined],
    ['nothing', CONFIG_MAP, notAll('nothing', 'ConfigMap', 'v1')],
    ['lister', CONFIG_MAP, notAll('lister', 'ConfigMap', 'v1')],
    ['local', CONFIG_MAP, notAll('local', 'ConfigMap', 'v1')],
    ['getter', CONFIG_MAP, undefined],
    ['admin', CONFIG_MAP, undefined],
    ['getter', NOPE, notAll('getter', 'Nope', 'x.example.com/v1')],
    ['foreign', NOPE, undefined],
    ['nothing', { ...CONFIG_MAP, kind: '' }, 'spec.paramKind.kind: Required value'],
  ] as const)
    test(`${resource}: ${user} asks for parameters of ${kind?.kind ?? 'no kind'}`, async () => {
      const answer = await asked(user, 'POST', `${resource}?dryRun=All`, make('p', kind))
      assert.deepEqual(answer, problem === undefined ? [201] : [422, problem])
    })

  test(`${resource}: an update is judged when the kind of parameters changes`, async () => {
    const path = `${resource}/cm?dryRun=All`
    const failurePolicy = 'Ignore'
    assert.deepEqual(await patched('nothing', path, { spec: { failurePolicy } }), [200])
    assert.deepEqual(await patched('nothing', path, { spec: { paramKind: null } }), [200])
    assert.deepEqual(await patched('nothing', path, { spec: { paramKind: { kind: 'Secret' } } }), [
      422,
      notAll('nothing', 'Secret', 'v1'),
    ])
  })
}

test('a policy that is made by an apply to its status is judged', async () => {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    ...policy('s', CONFIG_MAP),
    status: { observedGeneration: 1 },
  }
  const path = 'validatingadmissionpolicies/s/status?fieldManager=f'
  const apply = (user: string) => asked(user, 'PATCH', path, body, 'application/apply-patch+yaml')
  assert.deepEqual(await apply('nothing'), [422, notAll('nothing', 'ConfigMap', 'v1')])
  assert.deepEqual(await apply('getter'), [201])
  assert.deepEqual(await apply('nothing'), [200])
})

const unknown = (user: string, verb: string, what: string): string =>
  `spec.paramRef: Forbidden: unable to ${what} to determine minimum required permissions and user ${shown(user)} does not have "${verb}" permission for all groups, versions and resources`
const notObject = (user: string, verb: string): string =>
  `spec.paramRef: Forbidden: user ${shown(user)} does not have "${verb}" permission on the object referenced by paramRef`
/** Not a slip of this page: it is how kube-apiserver says it of these. */
const turned = (user: string, verb: string): string =>
  `spec.paramRef: Forbidden: user ${verb} does not have "${shown(user)}" permission on the object referenced by paramRef`

for (const [resource, rest, denied] of [
  ['validatingadmissionpolicybindings', { validationActions: ['Deny'] }, notObject],
  ['mutatingadmissionpolicybindings', {}, turned],
] as const) {
  const noKind = 'resolve paramKind &{x.example.com/v1 Nope}'
  for (const [user, name, ref, problem] of [
    ['nothing', 'cm', undefined, undefined],
    ['nothing', 'cm', ONE, denied('nothing', 'get')],
    ['admin', 'cm', ALL, undefined],
    ['getter', 'cm', ONE, undefined],
    ['getter', 'cm', { ...ONE, namespace: 'ns' }, undefined],
    ['getter', 'cm', ALL, denied('getter', 'list')],
    ['lister', 'cm', ONE, denied('lister', 'get')],
    ['lister', 'cm', ALL, undefined],
    ['named', 'cm', ONE, undefined],
    ['named', 'cm', { ...ONE, name: 'y' }, denied('named', 'get')],
    ['named', 'cm', ALL, denied('named', 'list')],
    ['local', 'cm', ONE, denied('local', 'get')],
    ['local', 'cm', { ...ONE, namespace: 'ns' }, undefined],
    ['local', 'cm', { ...ALL, namespace: 'ns' }, undefined],
    ['getter', 'nope', ONE, unknown('getter', 'get', noKind)],
    ['foreign', 'nope', ONE, undefined],
    ['foreign', 'nope', ALL, unknown('foreign', 'list', noKind)],
    ['getter', 'none', ONE, denied('getter', 'get')],
    ['reader', 'none', ONE, undefined],
    ['getter', 'missing', ONE, unknown('getter', 'get', 'get policy missing')],
    ['reader', 'missing', ONE, undefined],
    ['nothing', '', ONE, 'spec.policyName: Required value'],
  ] as const)
    test(`${resource}: ${user} binds ${name} to ${JSON.stringify(ref)}`, async () => {
      const answer = await asked(user, 'POST', `${resource}?dryRun=All`, binding(name, ref, rest))
      assert.deepEqual(answer, problem === undefined ? [201] : [422, problem])
    })

  test(`${resource}: every update is judged that leaves a reference`, async () => {
    assert.deepEqual(await asked('admin', 'POST', resource, binding('cm', ONE, rest)), [201])
    for (const change of [{}, { metadata: { labels: { a: 'b' } } }, { spec: { paramRef: ONE } }])
      assert.deepEqual(await patched('lister', `${resource}/b`, change), [
        422,
        denied('lister', 'get'),
      ])
    assert.deepEqual(await patched('lister', `${resource}/b`, { spec: { paramRef: null } }), [200])
    assert.deepEqual(await patched('lister', `${resource}/b`, { spec: { paramRef: ALL } }), [200])
  })
}

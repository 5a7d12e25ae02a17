/** What webhooks and policies make of the objects of subresources. Observed on kube-apiserver 1.36. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PATCH, makeNamespace, pod, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { DEFINITIONS, NAME, STRING, THINGS, object, served, thing } from '../crd/rules.fixtures.ts'
import type { AnyValue } from '../testing/test-server.ts'
import { askedAbout, patchOf, review, startWebhook } from '../testing/webhook-server.ts'
import type { WebhookServer } from '../testing/webhook-server.ts'

const ADMISSION = '/apis/admissionregistration.k8s.io/v1'
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const NS = '/api/v1/namespaces/default'
const PATHS = {
  'pods/ephemeralcontainers': `${NS}/pods/p/ephemeralcontainers`,
  'pods/binding': `${NS}/pods/unbound/binding?dryRun=All`,
  'pods/eviction': `${NS}/pods/p/eviction?dryRun=All`,
  'serviceaccounts/token': `${NS}/serviceaccounts/default/token`,
  'deployments/status': '/apis/apps/v1/namespaces/default/deployments/d/status',
  'deployments/scale': '/apis/apps/v1/namespaces/default/deployments/d/scale',
  'things/status': `${THINGS}/a/status`,
} as const
type Subresource = keyof typeof PATHS
const metadata = { name: 'p', namespace: 'default' }
const SENT: Readonly<Record<Subresource, object>> = {
  'pods/ephemeralcontainers': {
    spec: { ephemeralContainers: [{ name: 'dbg', image: 'busybox' }] },
  },
  'pods/binding': { metadata: { name: 'unbound' }, target: { name: 'n' } },
  'pods/eviction': { apiVersion: 'policy/v1', kind: 'Eviction', metadata },
  'serviceaccounts/token': { spec: {} },
  'deployments/status': { status: { observedGeneration: 1 } },
  'deployments/scale': { spec: { replicas: 2 } },
  'things/status': { status: { a: 'x' } },
}
const PATCHED = ['deployments/status', 'deployments/scale', 'things/status']
let patch: readonly object[] = []
let hook: WebhookServer
let server: TestServer

before(async () => {
  hook = await startWebhook((body: AnyValue) => review(body, patchOf(...patch)))
  server = await startServer()
  const { call } = server
  await makeNamespace(server, 'default')
  for (const [name, spec] of [
    ['p', { nodeName: 'n' }],
    ['unbound', {}],
  ] as const)
    await call('POST', `${NS}/pods`, pod(name, spec))
  const labels = { a: 'b' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await call('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: labels }, template },
  })
  const inner = object({ e: { type: 'string', default: 'e' } })
  const status = object({ a: STRING, o: inner })
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } }
  await call('POST', DEFINITIONS, {
    metadata: { name: NAME },
    spec: {
      group: 'spec-x.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ ...version, schema: { openAPIV3Schema: object({ status }) } }],
    },
  })
  await served()
  await call('POST', THINGS, thing({}))
  await call('POST', `${ADMISSION}/mutatingwebhookconfigurations`, {
    metadata: { name: 'm' },
    webhooks: [askedAbout(hook, { resources: Object.keys(PATHS), operations: ['*'] })],
  })
})
after(async () => {
  await hook.stop()
  await server.server.stop()
})

function asked(subresource: Subresource): ReturnType<TestServer['call']> {
  const [path, sent] = [PATHS[subresource], SENT[subresource]]
  if (subresource === 'pods/ephemeralcontainers') return server.call('PATCH', path, sent, STRATEGIC)
  if (PATCHED.includes(subresource)) return server.call('PATCH', path, sent, PATCH)
  return server.call('POST', path, sent)
}
const add = (path: string, value: unknown): object => ({ op: 'add', path, value })

test('an ephemeral container that a webhook adds is given its defaults', async () => {
  patch = [add('/spec/ephemeralContainers/-', { name: 'dbg2', image: 'busybox', nope: 1 })]
  const { status, body } = await asked('pods/ephemeralcontainers')
  assert.equal(status, 200)
  const defaults = {
    image: 'busybox',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'Always',
  }
  assert.deepEqual(body.spec.ephemeralContainers, [
    { name: 'dbg', ...defaults },
    { name: 'dbg2', ...defaults },
  ])
})

for (const [subresource, operations, field, value] of [
  [
    'deployments/status',
    [add('/status/nope', 1), add('/nope', 1), add('/status/replicas', 3)],
    'status',
    { observedGeneration: 1, replicas: 3 },
  ],
  ['deployments/status', [add('/status', null)], 'status', {}],
  [
    'deployments/status',
    [
      { op: 'remove', path: '/kind' },
      { op: 'remove', path: '/apiVersion' },
    ],
    'status',
    { observedGeneration: 1 },
  ],
  [
    'deployments/scale',
    [add('/spec/nope', 1), add('/nope', 1), add('/spec/replicas', 4)],
    'spec',
    { replicas: 4 },
  ],
  [
    'things/status',
    [add('/status/nope', 1), add('/nope', 1), add('/status/o', {})],
    'status',
    { a: 'x', o: { e: 'e' } },
  ],
  [
    'things/status',
    [{ op: 'replace', path: '/kind', value: 'Nope' }],
    'status',
    { a: 'x', o: { e: 'e' } },
  ],
  ['pods/binding', [add('/target/nope', 1)], 'status', 'Success'],
  ['pods/eviction', [add('/nope', 1), add('/deleteOptions', { nope: 1 })], 'status', 'Success'],
  [
    'serviceaccounts/token',
    [add('/spec/nope', 1), { op: 'remove', path: '/spec/expirationSeconds' }],
    'spec',
    {
      audiences: ['https://kubernetes.default.svc'],
      expirationSeconds: 3600,
      boundObjectRef: null,
    },
  ],
] as const)
  test(`${subresource}: a webhook's ${JSON.stringify(operations)} is decoded`, async () => {
    patch = operations
    const { status, body } = await asked(subresource)
    assert.equal(status < 300, true, body.message)
    assert.deepEqual(body[field], value)
    assert.equal(body.nope, undefined)
  })

const replaced = (path: string, value: string): object => ({ op: 'replace', path, value })
const unknownKind = (kind: string, version: string): string =>
  `Internal error occurred: no kind "${kind}" is registered for version "${version}" in scheme "pkg/api/legacyscheme/scheme.go:30"`
for (const [subresource, operation, code, message] of [
  [
    'pods/ephemeralcontainers',
    add('/spec/ephemeralContainers/-', { name: 5, image: 'busybox' }),
    500,
    'Internal error occurred: json: cannot unmarshal number into Go struct field EphemeralContainer.spec.ephemeralContainers.EphemeralContainerCommon.name of type string',
  ],
  [
    'deployments/status',
    add('/status/replicas', 'x'),
    500,
    'Internal error occurred: json: cannot unmarshal string into Go struct field DeploymentStatus.status.replicas of type int32',
  ],
  ['deployments/status', replaced('/kind', 'Nope'), 500, unknownKind('Nope', 'apps/v1')],
  [
    'deployments/status',
    replaced('/kind', 'DaemonSet'),
    500,
    'converting (v1.DaemonSet) to (apps.Deployment): unknown conversion',
  ],
  [
    'deployments/status',
    replaced('/apiVersion', 'apps/v9'),
    500,
    unknownKind('Deployment', 'apps/v9'),
  ],
  [
    'deployments/scale',
    add('/spec/replicas', 'x'),
    500,
    'Internal error occurred: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32',
  ],
  ['deployments/scale', replaced('/apiVersion', 'apps/v1'), 500, unknownKind('Scale', 'apps/v1')],
  [
    'pods/binding',
    replaced('/kind', 'Pod'),
    500,
    'converting (v1.Pod) to (core.Binding): unknown conversion',
  ],
  [
    'pods/binding',
    add('/target/name', 5),
    500,
    'Internal error occurred: json: cannot unmarshal number into Go struct field ObjectReference.target.name of type string',
  ],
  [
    'pods/eviction',
    add('/deleteOptions', 5),
    500,
    'Internal error occurred: json: cannot unmarshal number into Go struct field Eviction.deleteOptions of type v1.DeleteOptions',
  ],
  [
    'things/status',
    add('/status/a', null),
    422,
    'Thing.spec-x.example.com "a" is invalid: status.a: Invalid value: "null": a in body must be of type string: "null"',
  ],
] as const)
  test(`${subresource}: a webhook's ${JSON.stringify(operation)} is refused`, async () => {
    patch = [operation]
    const { status, body } = await asked(subresource)
    assert.deepEqual([status, body.message], [code, message])
  })

for (const [subresource, path, field] of [
  ['deployments/status', '/status/nope', 'status.nope'],
  ['deployments/scale', '/spec/nope', 'spec.nope'],
  ['pods/binding', '/target/nope', 'target.nope'],
  ['pods/eviction', '/nope', 'nope'],
  ['serviceaccounts/token', '/spec/nope', 'spec.nope'],
  ['things/status', '/status/nope', undefined],
] as const)
  test(`${subresource}: what a policy makes is decoded strictly, but of custom resources`, async () => {
    patch = []
    const { call } = server
    const [group, name] = [subresource.startsWith('things') ? 'spec-x.example.com' : '*', 'strict']
    await call('POST', `${ADMISSION}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: {
          resourceRules: [
            { apiGroups: [group], apiVersions: ['*'], operations: ['*'], resources: [subresource] },
          ],
        },
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: { expression: `[JSONPatch{op: 'add', path: '${path}', value: 1}]` },
          },
        ],
      },
    })
    await call('POST', `${ADMISSION}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name },
    })
    const { status, body } = await asked(subresource)
    for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'])
      await call('DELETE', `${ADMISSION}/${plural}/${name}`)
    const refusal = `Internal error occurred: strict decoding error: unknown field "${field}"`
    assert.deepEqual(
      [status, body.message, body.status?.nope],
      [...(field === undefined ? [200, undefined] : [500, refusal]), undefined],
    )
  })

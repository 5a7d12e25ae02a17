/** What mutating policies set off: other plug-ins see what they have made, other policies what they refuse. */
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { makeNamespace, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
let stop: (() => Promise<void>) | undefined

afterEach(async () => {
  await stop?.()
  stop = undefined
})

async function start(): Promise<TestServer & { readonly ns: string }> {
  const server = await startServer()
  stop = () => server.server.stop()
  return { ...server, ns: await makeNamespace(server, 'a') }
}

async function policy(
  { call }: TestServer,
  name: string,
  resource: string,
  expressions: readonly string[],
  spec: object = {},
): Promise<void> {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: [resource],
    operations: ['CREATE'],
  }
  const made = await call('POST', `${GROUP}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      mutations: expressions.map((expression) => ({
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression },
      })),
      ...spec,
    },
  })
  assert.equal(made.status, 201, made.body.message)
  await call('POST', `${GROUP}/mutatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name },
  })
}

const pod = { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } }

describe('built-in plug-ins', () => {
  test('a container that a policy adds gets the token of the service account', async () => {
    const server = await start()
    const added = 'Object.spec.containers{name: "side", image: "s"}'
    await policy(server, 'p', 'pods', [`Object{spec: Object.spec{containers: [${added}]}}`])
    const { body } = await server.call('POST', `${server.ns}/pods`, pod)
    assert.deepEqual(
      body.spec.containers.map(({ name, volumeMounts }: typeof body) => [
        name,
        volumeMounts?.map(({ mountPath }: typeof body) => mountPath),
      ]),
      [
        ['c', ['/var/run/secrets/kubernetes.io/serviceaccount']],
        ['side', ['/var/run/secrets/kubernetes.io/serviceaccount']],
      ],
    )
  })

  test('a priority that a policy sets is refused like one that came with the pod', async () => {
    const server = await start()
    await policy(server, 'p', 'pods', ['Object{spec: Object.spec{priority: 5}}'])
    const { status, body } = await server.call('POST', `${server.ns}/pods`, pod)
    assert.deepEqual(
      [status, body.message],
      [
        403,
        'pods "x" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
      ],
    )
  })

  test('a policy that may run again sees what they make of its change', async () => {
    const server = await start()
    const side = 'Object.spec.containers{name: "side", image: "s"}'
    const mounts = 'object.spec.containers.filter(c, has(c.volumeMounts)).size()'
    await policy(
      server,
      'p',
      'pods',
      [
        `Object{metadata: Object.metadata{labels: {"mounts": string(${mounts})}}, spec: Object.spec{containers: [${side}]}}`,
      ],
      { reinvocationPolicy: 'IfNeeded' },
    )
    const { body } = await server.call('POST', `${server.ns}/pods`, pod)
    assert.equal(body.metadata.labels.mounts, '2')
  })
})

test('all that refuses is told; what cannot be configured comes first', async () => {
  const server = await start()
  const failing = 'object.data.no == "1" ? Object{} : Object{}'
  await policy(server, 'p1', 'configmaps', [failing, 'Object{data: {"z": "1"}}', failing])
  await policy(server, 'p2', 'configmaps', ['Object{}'], {
    paramKind: { apiVersion: 'x.example.com/v1', kind: 'Nope' },
  })
  await policy(server, 'p3', 'configmaps', ['Object{}'], {
    matchConditions: [{ name: 'c', expression: 'object.data.z == object.data.no' }],
  })
  const { status, body } = await server.call('POST', `${server.ns}/configmaps`, {
    metadata: { name: 'x' },
    data: {},
  })
  const unknown =
    'policy "p2" denied request: failed to configure policy: failed to find resource referenced by paramKind: \'x.example.com/v1, Kind=Nope\''
  const missing = `policy 'p1' with binding 'p1' denied request: expression '${failing}' resulted in error: no such key:`
  assert.deepEqual([status, body.reason, body.message], [403, 'Forbidden', unknown])
  assert.deepEqual(
    body.details.causes.map(({ message }: typeof body) => message),
    [
      unknown,
      `${missing} data`,
      `${missing} no`,
      "policy 'p3' with binding 'p3' denied request: expression 'object.data.z == object.data.no' resulted in error: no such key: no",
    ],
  )
})

test('selectors see the object as it was before other policies changed it', async () => {
  const server = await start()
  await policy(server, 'p1', 'configmaps', [
    'Object{metadata: Object.metadata{labels: {"set": "1"}}}',
  ])
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['CREATE', 'UPDATE'],
  }
  await policy(server, 'p2', 'configmaps', ['Object{data: {"seen": "1"}}'], {
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: { resourceRules: [rule], objectSelector: { matchLabels: { set: '1' } } },
  })
  const path = `${server.ns}/configmaps`
  const made = await server.call('POST', path, { metadata: { name: 'x' } })
  assert.deepEqual([made.body.metadata.labels, made.body.data], [{ set: '1' }, undefined])
  const updated = await server.call('PUT', `${path}/x`, made.body)
  assert.deepEqual(updated.body.data, { seen: '1' })
})

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createTestServer, type AnyValue, type TestServer } from '../../testing/test-server.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const MAPS = `${NAMESPACE}/configmaps`
const PODS = `${NAMESPACE}/pods`
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

let running: TestServer
before(async () => {
  running = await createTestServer()
  await running.request('POST', `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } })
})

const pod = (name: string, spec: object = {}, container: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
})

describe('patches', () => {
  test('Given a JSON patch test failure followed by an add, then 422 and no change', async () => {
    const { request } = running
    const { value: made } = await request('POST', MAPS, {
      metadata: { name: 'tested' },
      data: { a: '1' },
    })
    const patch = [
      { op: 'test', path: '/data/a', value: '2' },
      { op: 'add', path: '/data/b', value: '2' },
    ]
    const refused = await request('PATCH', `${MAPS}/tested`, patch, JSON_PATCH)
    assert.deepEqual([refused.status, refused.value.reason], [422, 'Invalid'])
    assert.deepEqual((await request('GET', `${MAPS}/tested`)).value, made)
  })

  test('a merge patch makes nothing of another kind; without a version nothing is known of it', async () => {
    const { request } = running
    await request('POST', MAPS, { metadata: { name: 'kinds' } })
    const patched = async (patch: object, strict = ''): Promise<readonly [number, string]> => {
      const { status, value } = await request('PATCH', `${MAPS}/kinds${strict}`, patch, MERGE_PATCH)
      return [status, String(value.message).replace(/"\{.*\}"/s, '<object>')]
    }
    const refused = '"" is invalid: patch: Invalid value: <object>: '
    assert.deepEqual(await patched({ kind: 'K' }), [
      422,
      ` ${refused}no kind "K" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    ])
    assert.deepEqual(await patched({ kind: 'Pod' }), [
      422,
      ` ${refused}converting (v1.Pod) to (core.ConfigMap): unknown conversion`,
    ])
    assert.deepEqual(await patched({ apiVersion: 'a/b/c' }), [
      422,
      ` ${refused}unexpected GroupVersion string: a/b/c`,
    ])
    assert.deepEqual(await patched({ apiVersion: null }), [
      400,
      'the name of the object (kinds based on URL) was undeterminable: name must be provided',
    ])
    assert.deepEqual(await patched({ apiVersion: '' }, '?fieldValidation=Strict'), [
      422,
      ` ${refused}strict decoding error: unknown field "metadata"`,
    ])
    assert.equal((await patched({ kind: null }))[0], 200)
  })

  test('a group without a name is that of core kinds, and nothing keeps the slash', async () => {
    const { request } = running
    const map = (apiVersion: string) => ({
      apiVersion,
      kind: 'ConfigMap',
      metadata: { name: 'slash' },
    })
    for (const [method, path, headers, status] of [
      ['POST', MAPS, {}, 201],
      ['PUT', `${MAPS}/slash`, {}, 200],
      ['PATCH', `${MAPS}/slash`, MERGE_PATCH, 200],
      ['PATCH', `${MAPS}/slash?fieldManager=m`, APPLY, 200],
    ] as const) {
      const answer = await request(method, path, map('/v1'), headers)
      assert.deepEqual([answer.status, answer.value.apiVersion], [status, 'v1'], method + path)
    }
    assert.equal((await request('POST', `${MAPS}?dryRun=All`, map('/'))).status, 409)
    const { value } = await request('POST', MAPS, map('v1/'))
    assert.match(
      value.message,
      /^ConfigMap in version "" cannot be handled as a ConfigMap: Object 'apiVersion' is missing in /,
    )
    const options = { apiVersion: 'v1/', kind: 'DeleteOptions' }
    const kept = await request('DELETE', `${MAPS}/slash`, options)
    assert.equal(kept.status, 400)
    assert.match(kept.value.message, /^Object 'apiVersion' is missing in /)
  })

  test('Given no labels, when JSON-patched `add /metadata/labels/a`, then 422', async () => {
    const { request } = running
    await request('POST', MAPS, { metadata: { name: 'bare' } })
    const add = [{ op: 'add', path: '/metadata/labels/a', value: 'b' }]
    const refused = await request('PATCH', `${MAPS}/bare`, add, JSON_PATCH)
    assert.deepEqual(
      [refused.status, refused.value.message],
      [422, 'the server rejected our request due to an error in our request'],
    )
    assert.equal((await request('GET', `${MAPS}/bare`)).value.metadata.labels, undefined)
  })

  test('Given the same apply twice, then the second returns the same resourceVersion', async () => {
    const { request } = running
    const apply = (): Promise<AnyValue> =>
      request(
        'PATCH',
        `${MAPS}/applied?fieldManager=m`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } },
        APPLY,
      )
    const first = await apply()
    const second = await apply()
    assert.deepEqual([first.status, second.status], [201, 200])
    assert.deepEqual(second.value, first.value)
  })

  test('Given an apply with an unknown field, then 500 `field not declared in schema` even with fieldValidation=Ignore', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'odd' }, foo: 1 }
    for (const validation of ['', '&fieldValidation=Ignore']) {
      const path = `${MAPS}/odd?fieldManager=m${validation}`
      const { status, value } = await running.request('PATCH', path, body, APPLY)
      assert.equal(status, 500)
      assert.match(value.message, /\.foo: field not declared in schema$/)
    }
    assert.equal((await running.request('GET', `${MAPS}/odd`)).status, 404)
  })

  test('Given a patch that replaces pod tolerations by one, then the two default tolerations are back', async () => {
    const { request } = running
    await request('POST', PODS, pod('tolerant'))
    const own = { key: 'gpu', operator: 'Exists' }
    const { status, value } = await request(
      'PATCH',
      `${PODS}/tolerant`,
      { spec: { tolerations: [own] } },
      MERGE_PATCH,
    )
    const lost = (key: string): object => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })
    assert.deepEqual(
      [status, value.spec.tolerations],
      [200, [own, lost('not-ready'), lost('unreachable')]],
    )
  })
})

describe('creation', () => {
  test('Given a terminating object, when created again, then 409 `object is being deleted: ...`', async () => {
    const { request } = running
    const body = { metadata: { name: 'held', finalizers: ['example.com/hold'] } }
    await request('POST', MAPS, body)
    await request('DELETE', `${MAPS}/held`)
    const { status, value } = await request('POST', MAPS, body)
    assert.deepEqual(
      [status, value.reason, value.message],
      [409, 'AlreadyExists', 'object is being deleted: configmaps "held" already exists'],
    )
  })

  test('Given a headless Service without selector, then ipFamilies [IPv4, IPv6] and RequireDualStack even on a single-stack server', async () => {
    const { value } = await running.request('POST', `${NAMESPACE}/services`, {
      metadata: { name: 'headless' },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    })
    assert.deepEqual(
      [value.spec.ipFamilies, value.spec.ipFamilyPolicy, value.spec.clusterIPs],
      [['IPv4', 'IPv6'], 'RequireDualStack', ['None']],
    )
  })

  test('Given two field errors, then both appear in causes and in brackets in the message', async () => {
    const { status, value } = await running.request(
      'POST',
      PODS,
      pod('wrong', { restartPolicy: 'Sometimes' }, { image: '' }),
    )
    const image = 'spec.containers[0].image: Required value'
    const policy =
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'
    assert.equal(status, 422)
    assert.equal(value.message, `Pod "wrong" is invalid: [${image}, ${policy}]`)
    assert.deepEqual(
      value.details.causes.map(({ field }: AnyValue) => field),
      ['spec.containers[0].image', 'spec.restartPolicy'],
    )
  })

  test('Given a LimitRange default of 500m and a pod requesting 700m without limit, then 422 must be less than or equal to cpu limit of 500m', async () => {
    const { request } = await createTestServer()
    await request('POST', `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } })
    await request('POST', `${NAMESPACE}/limitranges`, {
      metadata: { name: 'limits' },
      spec: { limits: [{ type: 'Container', default: { cpu: '500m' } }] },
    })
    const greedy = pod('greedy', {}, { resources: { requests: { cpu: '700m' } } })
    const { status, value } = await request('POST', PODS, greedy)
    assert.deepEqual(
      [status, value.message],
      [
        422,
        'Pod "greedy" is invalid: spec.containers[0].resources.requests: Invalid value: "700m": must be less than or equal to cpu limit of 500m',
      ],
    )
  })
})

describe('deletion of pods', () => {
  test('Given a running pod deleted with 30 s, then 10 s, then 40 s, then deletionTimestamp is request + 10 s and the last call changes nothing', async () => {
    const { request, clock } = running
    await request('POST', PODS, pod('running', { nodeName: 'n1' }))
    await request('PATCH', `${PODS}/running/status`, { status: { phase: 'Running' } }, MERGE_PATCH)
    const remove = async (seconds: number): Promise<AnyValue> =>
      (await request('DELETE', `${PODS}/running?gracePeriodSeconds=${seconds}`)).value.metadata
    const graces = ({ deletionTimestamp, deletionGracePeriodSeconds }: AnyValue): unknown => [
      Date.parse(deletionTimestamp) - clock.nowMs(),
      deletionGracePeriodSeconds,
    ]
    assert.deepEqual(graces(await remove(30)), [30_000, 30])
    const shorter = await remove(10)
    assert.deepEqual(graces(shorter), [10_000, 10])
    assert.deepEqual(await remove(40), shorter)
  })

  test('Given an unscheduled pod deleted, then MODIFIED (grace 0, generation 2) and DELETED', async () => {
    const { request, watch } = running
    const { value } = await request('POST', PODS, pod('unscheduled'))
    const seen = await watch(
      `${PODS}?watch=true&fieldSelector=metadata.name%3Dunscheduled&resourceVersion=${value.metadata.resourceVersion}`,
    )
    await request('DELETE', `${PODS}/unscheduled`)
    assert.deepEqual(
      seen.events.map(({ type, object: { metadata } }) => [
        type,
        metadata.deletionGracePeriodSeconds,
        metadata.generation,
      ]),
      [
        ['MODIFIED', 0, 2],
        ['DELETED', 0, 2],
      ],
    )
    seen.stop()
  })
})

test('A new object has no version: refused when it would be stored, kept by a dry run, ignored when it is none', async () => {
  const server = await createTestServer()
  const create = (query: string, resourceVersion: string, name = 'x') =>
    server.request('POST', `${MAPS}${query}`, { metadata: { name, resourceVersion } })
  const refusal = 'resourceVersion should not be set on objects to be created'
  for (const version of ['5', '007']) {
    const { status, value } = await create('', version)
    assert.deepEqual([status, value.message], [500, refusal])
    const dry = await create('?dryRun=All', version)
    assert.deepEqual([dry.status, dry.value.metadata.resourceVersion], [201, version])
  }
  for (const version of ['0', '00', 'abc', '-1']) {
    const { status, value } = await create('', version, `m${version.length}${version.at(-1)}`)
    assert.deepEqual([status, /^[1-9]/.test(value.metadata.resourceVersion)], [201, true], version)
  }
  await server.request('POST', MAPS, { metadata: { name: 'there' } })
  assert.equal((await create('', '5', 'there')).status, 500)
  assert.equal((await create('?dryRun=All', '5', 'there')).status, 409)
  const put = await server.request('PUT', '/api/v1/namespaces/default/endpoints/new?dryRun=All', {
    metadata: { name: 'new', resourceVersion: '5' },
  })
  assert.deepEqual([put.status, put.value.metadata.resourceVersion], [201, '5'])
})

test('a generateName gets an ending, but that of an IPAddress, which is an address by itself', async () => {
  const { request } = await createTestServer()
  const map = await request('POST', MAPS, { metadata: { generateName: 'm-' } })
  assert.match(map.value.metadata.name, /^m-.{5}$/)
  const path = '/apis/networking.k8s.io/v1/ipaddresses'
  const parentRef = { resource: 'services', namespace: 'default', name: 'x' }
  const create = (generateName: string) =>
    request('POST', path, { metadata: { generateName }, spec: { parentRef } })
  const first = await create('192.168.9.7')
  assert.deepEqual([first.status, first.value.metadata.name], [201, '192.168.9.7'])
  const again = await create('192.168.9.7')
  assert.deepEqual([again.status, again.value.details.retryAfterSeconds], [409, 1])
  assert.match(again.value.message, /already exists, the server was not able to generate/)
  const wrong = await create('ip-')
  assert.match(wrong.value.message, /^IPAddress.networking.k8s.io "ip-" is invalid: \[/)
})

test('the label with a generated name is not judged with it', async () => {
  const { request } = await createTestServer()
  const create = (generateName: string) =>
    request('POST', '/api/v1/namespaces', { metadata: { generateName } })
  const { name, labels, managedFields } = (await create('n-')).value.metadata
  assert.deepEqual(labels, { 'kubernetes.io/metadata.name': name })
  assert.deepEqual(managedFields[0].fieldsV1, { 'f:metadata': { 'f:generateName': {} } })
  const fields = (await create('_-')).value.details.causes.map(({ field }: AnyValue) => field)
  assert.deepEqual(fields, ['metadata.name'])
})

test('what a dry run of 1.36 fills in: the finalizer of an attributes class, times of taints and of a gate, optional keys of files', async () => {
  const server = await createTestServer()
  const create = async (path: string, body: object): Promise<AnyValue> => {
    const { status, value } = await server.request('POST', `${path}?dryRun=All`, body)
    assert.equal(status, 201, value.message)
    return value
  }
  const attributes = await create('/apis/storage.k8s.io/v1/volumeattributesclasses', {
    metadata: { name: 'a' },
    driverName: 'd',
    parameters: { a: 'b' },
  })
  assert.deepEqual(attributes.metadata.finalizers, ['kubernetes.io/vac-protection'])
  const taint = { effect: 'NoSchedule', key: 'k' }
  const timeAdded = '2020-01-01T00:00:00Z'
  const slice = await create('/apis/resource.k8s.io/v1/resourceslices', {
    metadata: { name: 's' },
    spec: {
      driver: 'd',
      pool: { name: 'p', resourceSliceCount: 1 },
      nodeName: 'n',
      devices: [{ name: 'a', taints: [taint, { ...taint, timeAdded }] }],
    },
  })
  const [fresh, old] = slice.spec.devices[0].taints
  assert.deepEqual([fresh.timeAdded, old.timeAdded], [slice.metadata.creationTimestamp, timeAdded])
  await server.request('POST', `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } })
  const fileKeyRef = { volumeName: 'v', path: 'p', key: 'k' }
  const gated = await create(PODS, {
    metadata: { name: 'p' },
    spec: {
      schedulingGates: [{ name: 'a.b/c' }],
      automountServiceAccountToken: false,
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { fileKeyRef } }] }],
    },
  })
  assert.deepEqual(
    [
      gated.status.conditions[0].lastTransitionTime,
      gated.spec.containers[0].env[0].valueFrom.fileKeyRef.optional,
    ],
    [gated.metadata.creationTimestamp, false],
  )
})

test('a slice whose endpoints are given a topology forgets it and has changed', async () => {
  const { request } = running
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
  const endpoints = (deprecatedTopology?: object) => [
    { addresses: ['10.0.0.1'], deprecatedTopology },
  ]
  const body = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: endpoints({ a: 'b' }) }
  const seen = [(await request('POST', slices, body)).value]
  for (const topology of [{ a: 'b' }, { a: 'b' }, undefined]) {
    const patch = { endpoints: endpoints(topology) }
    seen.push((await request('PATCH', `${slices}/s`, patch, MERGE_PATCH)).value)
  }
  assert.deepEqual(
    seen.map(({ metadata }) => metadata.generation),
    [1, 2, 3, 3],
  )
  for (const { endpoints: shown } of seen) assert.equal('deprecatedTopology' in shown[0], false)
})

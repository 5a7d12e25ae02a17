import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'

test('the namespace of a body is looked at before its name', async () => {
  const { request } = await createTestServer()
  const put = async (metadata: unknown): Promise<string> =>
    (await request('PUT', '/api/v1/namespaces/default/configmaps/a', { metadata })).value.message
  const wrongNamespace =
    'the namespace of the provided object does not match the namespace sent on the request'
  assert.equal(await put({ name: 'b', namespace: 'x' }), wrongNamespace)
  assert.equal(await put({ namespace: 'x' }), wrongNamespace)
  assert.equal(
    await put({ name: 'b' }),
    'the name of the object (b) does not match the name on the URL (a)',
  )
})

test('a uid that is another one: a dry run names the key without its prefix', async () => {
  const { request } = await createTestServer()
  const maps = '/api/v1/namespaces/default/configmaps'
  await request('POST', maps, { metadata: { name: 'a' } })
  const put = async (query: string): Promise<string> =>
    (await request('PUT', `${maps}/a${query}`, { metadata: { name: 'a', uid: 'x' } })).value.message
  assert.match(await put(''), /, Key: \/registry\/configmaps\/default\/a, /)
  assert.match(await put('?dryRun=All'), /, Key: \/configmaps\/default\/a, /)
})

test('a Service whose type becomes one that nobody knows is refused for its type alone', async () => {
  const { request } = await createTestServer()
  const services = '/api/v1/namespaces/default/services'
  const types = '"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
  for (const [name, spec] of [
    ['a', { ports: [{ port: 80 }] }],
    ['b', { clusterIP: 'None', selector: { a: 'b' } }],
  ] as const) {
    await request('POST', services, { metadata: { name }, spec })
    const body = { metadata: { name }, spec: { ...spec, type: 'x' } }
    const { value } = await request('PUT', `${services}/${name}`, body)
    assert.equal(
      value.message,
      `Service "${name}" is invalid: spec.type: Unsupported value: "x": supported values: ${types}`,
    )
  }
})

const PRIORITIES = { groupPriorityMinimum: 1, versionPriority: 1 }
const ELSEWHERE = { insecureSkipTLSVerify: true, service: { name: 'x', namespace: 'default' } }

test('Given another uid, then the storage names the key under which kube-apiserver keeps the object', async () => {
  const { request } = await createTestServer()
  const namespaced = '/api/v1/namespaces/default'
  const labels = { a: 'b' }
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const controller = { selector: labels, template: { metadata: { labels }, spec } }
  const table: readonly [string, string, object][] = [
    ['/api/v1/nodes', 'minions/x', {}],
    [`${namespaced}/services`, 'services/specs/default/x', { spec: { ports: [{ port: 80 }] } }],
    [`${namespaced}/replicationcontrollers`, 'controllers/default/x', { spec: controller }],
    [`${namespaced}/configmaps`, 'configmaps/default/x', {}],
    [
      '/apis/apiregistration.k8s.io/v1/apiservices',
      'apiregistration.k8s.io/apiservices/v1.x.example.com',
      { spec: { group: 'x.example.com', version: 'v1', ...PRIORITIES, ...ELSEWHERE } },
    ],
  ]
  for (const [path, key, body] of table) {
    const name = key.split('/').at(-1)
    const made = await request('POST', path, { ...body, metadata: { name } })
    assert.equal(made.status, 201)
    const other = { ...made.value, metadata: { ...made.value.metadata, uid: 'other' } }
    for (const [query, prefix] of [
      ['', '/registry'],
      ['?dryRun=All', ''],
    ]) {
      const { status, value } = await request('PUT', `${path}/${name}${query}`, other)
      assert.equal(status, 409)
      assert.match(value.message, new RegExp(`Code: 4, Key: ${prefix}/${key}, ResourceVersion: 0`))
    }
  }
})

test('what is made by a PUT or an apply may name any version that is one', async () => {
  const { request } = await createTestServer()
  const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/a'
  const object = (resourceVersion: string): object => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a', resourceVersion },
    spec: {},
  })
  const put = (version: string) => request('PUT', `${path}?dryRun=All`, object(version))
  for (const [version, why] of [
    ['x', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['99999999999999999999', 'value out of range'],
  ] as const) {
    const { status, value } = await put(version)
    assert.equal(status, 500)
    assert.equal(value.message, `strconv.ParseUint: parsing "${version}": ${why}`)
  }
  assert.equal((await put('5')).status, 201)
})

test('each half of the rules of a kind looks at the metadata where it begins', async () => {
  const { request } = await createTestServer()
  const maps = '/api/v1/namespaces/default/configmaps'
  const volumes = '/api/v1/persistentvolumes'
  const classes = '/apis/storage.k8s.io/v1/storageclasses'
  const volume = (storage: string, path: string): object => ({
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path } },
  })
  const finalizer = 'metadata.finalizers[0]'
  const capacity = 'spec.capacity[storage]'
  for (const [path, before, after, expected] of [
    [
      classes,
      { provisioner: 'a/b' },
      { provisioner: 'a/b', reclaimPolicy: 'Foo' },
      [finalizer, 'reclaimPolicy', finalizer, 'reclaimPolicy'],
    ],
    [
      maps,
      { immutable: true },
      { immutable: true, data: { a: 'b', '!!': 'c' } },
      [finalizer, 'data', finalizer, 'data[!!]'],
    ],
    [
      volumes,
      volume('1Gi', '/x'),
      volume('-1', '/y'),
      [finalizer, capacity, capacity, finalizer, capacity, capacity, 'spec.persistentvolumesource'],
    ],
  ] as const) {
    await request('POST', path, { metadata: { name: 'a' }, ...before })
    const body = { metadata: { name: 'a', finalizers: ['bad'] }, ...after }
    const { status, value } = await request('PUT', `${path}/a`, body)
    assert.equal(status, 422)
    assert.deepEqual(
      value.details.causes.map(({ field }: { field: string }) => field),
      expected,
      path,
    )
  }
})

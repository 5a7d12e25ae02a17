import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, turn, type AnyValue, type TestServer } from '../testing/test-server.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const THINGS = '/apis/spec-x.example.com/v1/namespaces/default/things'
const JSON_MERGE = { 'content-type': 'application/merge-patch+json' }
const JSON_TYPE = { 'content-type': 'application/json' }

const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', maximum: 10 },
        color: { type: 'string', default: 'red' },
        replicas: { type: 'integer' },
        min: { type: 'integer' },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, phase: { type: 'string' } },
    },
  },
}

function version(name: string, changes: object = {}): object {
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  }
  return {
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: SCHEMA },
    subresources,
    ...changes,
  }
}

function definition(
  plural = 'things',
  names: object = {},
  versions: readonly object[] = [version('v1')],
): object {
  const kind = plural[0]!.toUpperCase() + plural.slice(1, -1)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.spec-x.example.com` },
    spec: {
      group: 'spec-x.example.com',
      scope: 'Namespaced',
      names: { plural, kind, ...names },
      versions,
    },
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

async function serverWith(...definitions: readonly object[]): Promise<TestServer> {
  const server = await createTestServer()
  for (const object of definitions) {
    const answer = await server.request('POST', DEFINITIONS, object)
    assert.equal(answer.status, 201, JSON.stringify(answer.value))
    await settle()
  }
  return server
}

const thing = (name: string, spec: object = {}): object => ({
  apiVersion: 'spec-x.example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
})

const conditions = (object: AnyValue): Record<string, string> =>
  Object.fromEntries(
    (object.status.conditions ?? []).map(({ type, status, reason }: AnyValue) => [
      type,
      `${status} ${reason}`,
    ]),
  )

test('POST a definition; a watcher on definitions sees ADDED without conditions, then MODIFIED with NamesAccepted and Established; afterwards GET of the list answers 200 with an empty ThingList.', async () => {
  const server = await createTestServer()
  const watch = await server.watch(`${DEFINITIONS}?watch=true`)
  await server.request('POST', DEFINITIONS, definition())
  await settle()
  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, conditions(object)]),
    [
      ['ADDED', {}],
      ['MODIFIED', { NamesAccepted: 'True NoConflicts', Established: 'False Installing' }],
      ['MODIFIED', { NamesAccepted: 'True NoConflicts', Established: 'True InitialNamesAccepted' }],
    ],
  )
  const list = await server.request('GET', THINGS)
  assert.deepEqual([list.status, list.value.kind, list.value.items], [200, 'ThingList', []])
  assert.equal(
    (
      await server.request(
        'GET',
        '/apis/apiregistration.k8s.io/v1/apiservices/v1.spec-x.example.com',
      )
    ).status,
    200,
  )
})

test('Two definitions of a group sharing a short name: the second has NamesAccepted False ShortNamesConflict, Established False NotAccepted, acceptedNames without shortNames; deleting the first establishes the second without another write.', async () => {
  const server = await serverWith(
    definition('things', { shortNames: ['t'] }),
    definition('tiles', { shortNames: ['t'] }),
  )
  const path = `${DEFINITIONS}/tiles.spec-x.example.com`
  const before = (await server.request('GET', path)).value
  assert.deepEqual(conditions(before), {
    NamesAccepted: 'False ShortNamesConflict',
    Established: 'False NotAccepted',
  })
  assert.equal(before.status.acceptedNames.shortNames, undefined)
  assert.equal((await server.request('GET', '/apis/spec-x.example.com/v1/tiles')).status, 404)
  await server.request('DELETE', `${DEFINITIONS}/things.spec-x.example.com`)
  await settle()
  const after = (await server.request('GET', path)).value
  assert.deepEqual(conditions(after), {
    NamesAccepted: 'True NoConflicts',
    Established: 'True InitialNamesAccepted',
  })
  assert.deepEqual(after.status.acceptedNames.shortNames, ['t'])
  assert.equal((await server.request('GET', '/apis/spec-x.example.com/v1/tiles')).status, 200)
})

test('Object with an unknown field: stored without it, warning `unknown field "spec.unk"` with fieldValidation=Warn, 400 with Strict.', async () => {
  const server = await serverWith(definition())
  const made = await server.request('POST', THINGS, thing('a', { size: 1, unk: 1 }))
  assert.deepEqual(made.value.spec, { size: 1, color: 'red' })
  assert.match(String(made.headers['warning']), /unknown field \\"spec\.unk\\"/)
  const strict = await server.request(
    'POST',
    `${THINGS}?fieldValidation=Strict`,
    thing('b', { unk: 1 }),
  )
  assert.equal(strict.status, 400)
  assert.equal(
    strict.value.message,
    'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.unk"',
  )
})

test('/status merge patch with spec change: spec unchanged, generation unchanged, status stored.', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, { ...thing('a', { size: 1 }), status: { phase: 'dropped' } })
  assert.equal((await server.request('GET', `${THINGS}/a`)).value.status, undefined)
  const patch = { metadata: { labels: { l: '1' } }, spec: { size: 2 }, status: { phase: 'Up' } }
  const { value } = await server.request('PATCH', `${THINGS}/a/status`, patch, JSON_MERGE)
  assert.deepEqual(
    [value.spec.size, value.status, value.metadata.generation, value.metadata.labels],
    [1, { phase: 'Up' }, 1, undefined],
  )
  const main = await server.request(
    'PATCH',
    `${THINGS}/a`,
    { spec: { size: 3 }, status: { phase: 'No' } },
    JSON_MERGE,
  )
  assert.deepEqual(
    [main.value.spec.size, main.value.status, main.value.metadata.generation],
    [3, { phase: 'Up' }, 2],
  )
})

test('PUT without resourceVersion: 422 with plural in the message.', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a'))
  const { status, value } = await server.request('PUT', `${THINGS}/a`, thing('a', { size: 2 }))
  assert.equal(status, 422)
  assert.equal(
    value.message,
    'things.spec-x.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  )
})

test('Tightened schema: label patch on an invalid object 200, spec patch of the same object node 422.', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a', { size: 9, min: 1 }))
  const tight = structuredClone(SCHEMA)
  tight.properties.spec.properties.size.maximum = 5
  const path = '/spec/versions/0/schema/openAPIV3Schema'
  const patch = [{ op: 'replace', path, value: tight }]
  await server.request('PATCH', `${DEFINITIONS}/things.spec-x.example.com`, patch, {
    'content-type': 'application/json-patch+json',
  })
  await settle()
  const codes: number[] = []
  for (const change of [
    { metadata: { labels: { l: '1' } } },
    { spec: { min: 2 } },
    { spec: { size: 8 } },
  ]) {
    codes.push((await server.request('PATCH', `${THINGS}/a`, change, JSON_MERGE)).status)
  }
  assert.deepEqual(codes, [200, 200, 422])
})

test('Strategic merge patch 415; scale subresource drives the object and its generation.', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a', { size: 1 }))
  const strategic = await server.request(
    'PATCH',
    `${THINGS}/a`,
    {},
    { 'content-type': 'application/strategic-merge-patch+json' },
  )
  assert.equal(strategic.status, 415)
  const unreadable = await server.request(
    'PATCH',
    `${THINGS}/a`,
    {},
    { 'content-type': 'application/json', accept: 'application/vnd.kubernetes.protobuf' },
  )
  assert.equal(unreadable.status, 415)
  const accept = 'text/html'
  for (const path of [THINGS, `${THINGS}//scale`, `${THINGS}//status`])
    for (const method of ['PUT', 'PATCH']) {
      const nameless = await server.request(method, path, {}, { ...JSON_MERGE, accept })
      assert.equal(nameless.value.message, 'name must be provided', `${method} ${path}`)
    }
  const missing = await server.request('GET', `${THINGS}/a/scale`)
  assert.deepEqual(
    [missing.status, missing.value.message],
    [500, 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'],
  )
  await server.request('PATCH', `${THINGS}/a`, { spec: { replicas: 1 } }, JSON_MERGE)
  const scaled = await server.request(
    'PATCH',
    `${THINGS}/a/scale`,
    { spec: { replicas: 4 } },
    JSON_MERGE,
  )
  assert.deepEqual([scaled.status, scaled.value.spec], [200, { replicas: 4 }])
  const { metadata, spec } = (await server.request('GET', `${THINGS}/a`)).value
  assert.deepEqual([spec.replicas, metadata.generation], [4, 3])
})

test('a scale that says no version leaves the replicas without an owner, and so do later writes through scale', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a', { replicas: 1 }))
  const path = `${THINGS}/a/scale?fieldManager=scaler`
  const owners = async (): Promise<readonly string[]> => {
    const { metadata } = (await server.request('GET', `${THINGS}/a`)).value
    return metadata.managedFields
      .filter(({ fieldsV1 }: AnyValue) => fieldsV1['f:spec']?.['f:replicas'] !== undefined)
      .map(({ manager, subresource }: AnyValue) => `${manager} ${subresource}`)
  }
  const apiVersion = 'autoscaling/v1'
  const scale = (replicas: number) => ({ metadata: { name: 'a' }, spec: { replicas } })
  await server.request('PUT', path, { apiVersion, ...scale(2) })
  assert.deepEqual(await owners(), ['scaler scale'])
  await server.request('PUT', path, { kind: 'Scale', ...scale(3) })
  assert.deepEqual(await owners(), [])
  await server.request('PUT', path, { apiVersion, kind: 'Scale', ...scale(4) })
  await server.request('PATCH', path, { spec: { replicas: 5 } }, JSON_MERGE)
  assert.deepEqual(await owners(), [])
})

test('the version in a scale is judged as that of the object, and a patch may name any uid', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a', { replicas: 1 }))
  const [apiVersion, path] = ['autoscaling/v1', `${THINGS}/a/scale`]
  const statuses = async (metadata: AnyValue): Promise<readonly number[]> => {
    const scale = { apiVersion, metadata: { name: 'a', ...metadata }, spec: { replicas: 2 } }
    const put = await server.request('PUT', path, scale)
    return [put.status, (await server.request('PATCH', path, scale, JSON_MERGE)).status]
  }
  assert.deepEqual(await statuses({ resourceVersion: '0' }), [422, 422])
  assert.deepEqual(await statuses({ resourceVersion: 'abc' }), [500, 500])
  assert.deepEqual(await statuses({ resourceVersion: '1' }), [409, 409])
  assert.deepEqual(await statuses({ uid: 'x' }), [409, 200])
})

test('whole numbers beyond int64 are no integers where replicas stand', async () => {
  const server = await serverWith(definition())
  for (const [written, shown] of [
    ['1e30', '1e+30'],
    ['-1e30', '-1e+30'],
    ['9223372036854775808', '9.223372036854776e+18'],
    ['2.5', '2.5'],
  ]) {
    const body = `{"apiVersion":"spec-x.example.com/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"replicas":${written}}}`
    const { value } = await server.request('POST', THINGS, body, JSON_TYPE)
    const why = `.spec.replicas: Invalid value: 0: .spec.replicas accessor error: ${shown} is of the type float64, expected int64`
    assert.ok(value.message.includes(why), value.message)
  }
})

test('a scale that the schema does not allow is refused as a write of the object', async () => {
  const replicas = { type: 'integer', maximum: 3 }
  const spec = { type: 'object', properties: { replicas } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const server = await serverWith(definition('things', {}, [version('v1', { schema })]))
  await server.request('POST', THINGS, thing('a', { replicas: 1 }))
  const scale = `${THINGS}/a/scale`
  const refused = await server.request('PATCH', scale, { spec: { replicas: 4 } }, JSON_MERGE)
  assert.equal(
    refused.value.message,
    'Thing.spec-x.example.com "a" is invalid: spec.replicas: Invalid value: 4: spec.replicas in body should be less than or equal to 3',
  )
})

test('Storage version switch: storedVersions gets the new one; removing the old version 422 until status is patched.', async () => {
  const server = await serverWith(definition('things', {}, [version('v1'), version('v2')]))
  const path = `${DEFINITIONS}/things.spec-x.example.com`
  const switched = {
    spec: { versions: [version('v1', { storage: false }), version('v2', { storage: true })] },
  }
  const after = await server.request('PATCH', path, switched, JSON_MERGE)
  assert.deepEqual(after.value.status.storedVersions, ['v1', 'v2'])
  const removal = { spec: { versions: [version('v2', { storage: true })] } }
  assert.equal((await server.request('PATCH', path, removal, JSON_MERGE)).status, 422)
  await settle()
  await server.request(
    'PATCH',
    `${path}/status`,
    { status: { storedVersions: ['v2'] } },
    JSON_MERGE,
  )
  assert.equal((await server.request('PATCH', path, removal, JSON_MERGE)).status, 200)
})

test('objects are read through every version, with its pruning and the defaults of the stored one', async () => {
  const narrow = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer' }, mood: { type: 'string', default: 'ok' } },
      },
    },
  }
  const server = await serverWith(
    definition('things', {}, [
      version('v1'),
      version('v2', { schema: { openAPIV3Schema: narrow } }),
    ]),
  )
  await server.request('POST', THINGS, thing('a', { size: 1, min: 2 }))
  const { value } = await server.request(
    'GET',
    '/apis/spec-x.example.com/v2/namespaces/default/things/a',
  )
  assert.deepEqual([value.apiVersion, value.spec], ['spec-x.example.com/v2', { size: 1 }])
  const created = await server.request(
    'POST',
    '/apis/spec-x.example.com/v2/namespaces/default/things',
    { ...thing('b', { size: 1 }), apiVersion: 'spec-x.example.com/v2' },
  )
  assert.deepEqual(created.value.spec, { size: 1 })
  const stored = await server.request('GET', `${THINGS}/b`)
  assert.deepEqual(stored.value.spec, { size: 1, color: 'red' })
})

test('a write through a version is defaulted and judged by the schema of that version, and stored by that of the storage version', async () => {
  const wide = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          mood: { type: 'string', enum: ['ok', 'bad'] },
          copies: { type: 'integer', default: 1 },
        },
        'x-kubernetes-validations': [
          { rule: 'self.size >= self.copies', message: 'size must cover copies' },
        ],
      },
    },
  }
  const server = await serverWith(
    definition('things', {}, [version('v1'), version('v2', { schema: { openAPIV3Schema: wide } })]),
  )
  const second = THINGS.replace('/v1/', '/v2/')
  const create = (spec: object, query = '') =>
    server.request('POST', `${second}${query}`, {
      ...thing('a', spec),
      apiVersion: 'spec-x.example.com/v2',
    })
  const refused = await create({ size: 1, mood: 'sad' })
  assert.match(refused.value.message, /spec.mood: Unsupported value: "sad"/)
  assert.match((await create({ size: 0 })).value.message, /size must cover copies/)
  const { status, value } = await create({ size: 1, mood: 'ok' })
  assert.deepEqual([status, value.spec.mood], [201, undefined], 'v1 knows no mood')
  const key = { collection: 'things.spec-x.example.com', key: 'default/a' }
  const stored = server.server.store.get(key)!.object as AnyValue
  assert.deepEqual(stored.apiVersion, 'spec-x.example.com/v1')
  assert.deepEqual(stored.spec, { size: 1 })
})

test('a watch of custom resources may end as it begins', async () => {
  const server = await serverWith(definition())
  const watch = await server.watch(`${THINGS}?watch=true&timeoutSeconds=-1`)
  assert.deepEqual([watch.events.map(({ type }) => type), watch.ended()], [['ERROR'], true])
})

test('Definition deletion with an instance that has a finalizer: Terminating True, creation 403, gone when the finalizer goes.', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, {
    ...thing('a'),
    metadata: { name: 'a', finalizers: ['x.example.com/f'] },
  })
  await server.request('POST', THINGS, thing('b'))
  const watch = await server.watch(`${THINGS}?watch=true`)
  const path = `${DEFINITIONS}/things.spec-x.example.com`
  const deleted = await server.request('DELETE', path)
  assert.equal(deleted.status, 200)
  assert.deepEqual(deleted.value.metadata.finalizers, [
    'customresourcecleanup.apiextensions.k8s.io',
  ])
  assert.equal(conditions(deleted.value)['Terminating'], 'True InstanceDeletionPending')
  await settle()
  const waiting = await server.request('GET', path)
  assert.equal(conditions(waiting.value)['Terminating'], 'True InstanceDeletionInProgress')
  const refused = await server.request('POST', THINGS, thing('c'))
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      403,
      'things.spec-x.example.com "c" is forbidden: create not allowed while custom resource definition is terminating',
    ],
  )
  const list = await server.request('GET', THINGS)
  assert.deepEqual(
    list.value.items.map(({ metadata }: AnyValue) => metadata.name),
    ['a'],
  )
  await server.request('PATCH', `${THINGS}/a`, { metadata: { finalizers: null } }, JSON_MERGE)
  await settle()
  assert.equal((await server.request('GET', path)).status, 404)
  const seen = watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`)
  assert.deepEqual(seen.slice(2), ['MODIFIED a', 'DELETED b', 'DELETED a'])
  assert.equal(watch.ended(), true)
  const gone = await server.request('GET', THINGS)
  assert.deepEqual([gone.status, gone.value], [404, '404 page not found\n'])
  assert.equal(
    (
      await server.request(
        'GET',
        '/apis/apiregistration.k8s.io/v1/apiservices/v1.spec-x.example.com',
      )
    ).status,
    404,
  )
})

test('a definition that was never established says so when it goes', async () => {
  const server = await serverWith(
    definition('things', { shortNames: ['th'] }),
    definition('thongs', { shortNames: ['th'] }),
  )
  const path = `${DEFINITIONS}/thongs.spec-x.example.com`
  const finalizers = { metadata: { finalizers: ['x.example.com/f'] } }
  await server.request('PATCH', path, finalizers, JSON_MERGE)
  await server.request('DELETE', path)
  await settle()
  const { value } = await server.request('GET', path)
  assert.deepEqual(value.metadata.finalizers, ['x.example.com/f'])
  assert.equal(conditions(value)['Terminating'], 'False NeverEstablished')
})

const ADMISSION = '/apis/admissionregistration.k8s.io/v1'

/** A policy that allows nothing of what `rules` match; answers what lifts it. */
async function forbid(
  server: TestServer,
  ...rules: readonly object[]
): Promise<() => Promise<void>> {
  const resourceRules = rules.map((rule) => ({ apiVersions: ['*'], ...rule }))
  const policy = { matchConstraints: { resourceRules }, validations: [{ expression: 'false' }] }
  const binding = { policyName: 'no', validationActions: ['Deny'] }
  for (const [kind, spec] of [
    ['validatingadmissionpolicies', policy],
    ['validatingadmissionpolicybindings', binding],
  ] as const) {
    const body = { metadata: { name: 'no' }, spec }
    assert.equal((await server.request('POST', `${ADMISSION}/${kind}`, body)).status, 201)
  }
  await settle()
  return async () => {
    await server.request('DELETE', `${ADMISSION}/validatingadmissionpolicybindings/no`)
    await settle()
  }
}

test('a definition and its instances go although deletions of these and updates of it are forbidden', async () => {
  const server = await serverWith(definition())
  await server.request('POST', THINGS, thing('a'))
  await forbid(
    server,
    { apiGroups: ['spec-x.example.com'], operations: ['*'], resources: ['*'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      operations: ['UPDATE'],
      resources: ['customresourcedefinitions'],
    },
  )
  assert.equal((await server.request('DELETE', `${THINGS}/a`)).status, 422)
  const path = `${DEFINITIONS}/things.spec-x.example.com`
  assert.equal((await server.request('DELETE', path)).status, 200)
  await settle()
  assert.equal((await server.request('GET', path)).status, 404)
})

test('a definition whose status could not be written is tried again', async () => {
  const server = await serverWith(definition())
  const lift = await forbid(server, {
    apiGroups: ['apiextensions.k8s.io'],
    operations: ['UPDATE'],
    resources: ['customresourcedefinitions/status'],
  })
  const path = `${DEFINITIONS}/things.spec-x.example.com`
  await server.request('DELETE', path)
  await settle()
  const waiting = await server.request('GET', path)
  assert.equal(conditions(waiting.value)['Terminating'], 'True InstanceDeletionPending')
  await lift()
  await server.clock.advance(5_000)
  await settle()
  assert.equal((await server.request('GET', path)).status, 404)
})

test('Selectable field list and watch; another version without it 400.', async () => {
  const selectable = { selectableFields: [{ jsonPath: '.spec.color' }] }
  const other = structuredClone(SCHEMA)
  delete (other.properties.spec.properties as AnyValue).min
  const server = await serverWith(
    definition('things', {}, [
      version('v1', selectable),
      version('v2', { schema: { openAPIV3Schema: other } }),
    ]),
  )
  await server.request('POST', THINGS, thing('a'))
  await server.request('POST', THINGS, thing('b', { color: 'blue' }))
  const list = await server.request('GET', `${THINGS}?fieldSelector=spec.color%3Dblue`)
  assert.deepEqual(
    list.value.items.map(({ metadata }: AnyValue) => metadata.name),
    ['b'],
  )
  const refused = await server.request(
    'GET',
    '/apis/spec-x.example.com/v2/things?fieldSelector=spec.color%3Dblue',
  )
  assert.deepEqual(
    [refused.status, refused.value.message],
    [400, 'field label not supported: spec.color'],
  )
})

test('Merge patch from Webhook to None without nulling `webhook`: 422.', async () => {
  const webhook = {
    clientConfig: { url: 'https://127.0.0.1:1/c' },
    conversionReviewVersions: ['v1'],
  }
  const object = definition() as AnyValue
  object.spec.conversion = { strategy: 'Webhook', webhook }
  const server = await serverWith(object)
  const path = `${DEFINITIONS}/things.spec-x.example.com`
  assert.equal(
    (
      await server.request(
        'PATCH',
        path,
        { spec: { conversion: { strategy: 'None' } } },
        JSON_MERGE,
      )
    ).status,
    422,
  )
  assert.equal(
    (
      await server.request(
        'PATCH',
        path,
        { spec: { conversion: { strategy: 'None', webhook: null } } },
        JSON_MERGE,
      )
    ).status,
    200,
  )
})

test('kinds in bodies: missing 400, another 422', async () => {
  const server = await serverWith(definition())
  const missing = await server.request('POST', THINGS, { metadata: { name: 'a' } })
  assert.deepEqual(
    [missing.status, /Object 'Kind' is missing in /.test(missing.value.message)],
    [400, true],
  )
  const other = await server.request('POST', THINGS, { ...thing('x'), kind: 'Foo' })
  assert.deepEqual(
    [other.status, other.value.message],
    [422, 'Foo.spec-x.example.com "x" is invalid: kind: Invalid value: "Foo": must be Thing'],
  )
  const versionless = { ...thing('x'), apiVersion: null }
  const refused = await server.request('POST', THINGS, JSON.stringify(versionless), {
    'content-type': 'application/json',
  })
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      400,
      'Thing in version "" cannot be handled as a Thing: .apiVersion accessor error: <nil> is of the type <nil>, expected string',
    ],
  )
  await server.request('POST', THINGS, thing('x'))
  const nothing = [{ op: 'replace', path: '/apiVersion', value: null }]
  const emptied = await server.request('PATCH', `${THINGS}/x`, JSON.stringify(nothing), {
    'content-type': 'application/json-patch+json',
  })
  assert.equal(emptied.status, 422)
  assert.match(
    emptied.value.message,
    /: \.apiVersion accessor error: <nil> is of the type <nil>, expected string$/,
  )
  for (const [apiVersion, status, end] of [
    [5, 422, 'cannot unmarshal number into Go struct field .apiVersion of type string'],
    ['a/b/c', 422, 'unexpected GroupVersion string: a/b/c'],
    ['a/', 500, "Object 'apiVersion' is missing in 'object has no apiVersion field'"],
    ['/v1', 422, 'apiVersion: Invalid value: "v1": must be spec-x.example.com/v1'],
  ] as const) {
    const patched = await server.request('PATCH', `${THINGS}/x`, { apiVersion }, JSON_MERGE)
    assert.deepEqual([patched.status, patched.value.message.slice(-end.length)], [status, end])
  }
})

test('another kind in an update is told after a missing object, a foreign uid and the version', async () => {
  const server = await serverWith(definition())
  const made = await server.request('POST', THINGS, thing('a'))
  const { resourceVersion } = made.value.metadata
  const merge = { 'content-type': 'application/merge-patch+json' }
  const foreign = (name: string, metadata: object = {}): object => ({
    ...thing(name),
    kind: 'Foo',
    metadata: { name, ...metadata },
  })
  const put = async (name: string, metadata: object = {}): Promise<readonly unknown[]> => {
    const { status, value } = await server.request(
      'PUT',
      `${THINGS}/${name}`,
      foreign(name, metadata),
    )
    return [status, value.details.kind]
  }
  assert.deepEqual(await put('gone', { resourceVersion }), [404, 'things'])
  assert.deepEqual(await put('a', { uid: 'zz', resourceVersion }), [409, 'things'])
  assert.deepEqual(await put('a'), [422, 'things'])
  assert.deepEqual(await put('a', { resourceVersion: '1' }), [409, 'things'])
  assert.deepEqual(await put('a', { resourceVersion }), [422, 'Foo'])
  const patch = { kind: 'Foo', metadata: { resourceVersion: '1' } }
  assert.equal((await server.request('PATCH', `${THINGS}/a`, patch, merge)).status, 409)
  const late = { kind: 'Foo', metadata: { resourceVersion } }
  assert.equal((await server.request('PATCH', `${THINGS}/a`, late, merge)).status, 422)
})

test('server-side apply follows the schema: unknown fields are refused, list types decide', async () => {
  const server = await serverWith(definition())
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const refused = await server.request(
    'PATCH',
    `${THINGS}/e?fieldManager=m`,
    thing('e', { zzz: 1 }),
    apply,
  )
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      500,
      'failed to create typed patch object (/e; spec-x.example.com/v1, Kind=Thing): .spec.zzz: field not declared in schema',
    ],
  )
  const made = await server.request(
    'PATCH',
    `${THINGS}/e?fieldManager=m`,
    thing('e', { size: 1 }),
    apply,
  )
  assert.equal(made.status, 201)
  assert.deepEqual(made.value.spec, { size: 1, color: 'red' })
  assert.deepEqual(
    made.value.metadata.managedFields.map(({ fieldsV1 }: AnyValue) => fieldsV1),
    [{ 'f:spec': { 'f:size': {} } }],
  )
})

test('the OpenAPI document has the schema, the list and paths that take fieldValidation', async () => {
  const server = await serverWith(definition())
  const { status, value } = await server.request('GET', '/openapi/v3/apis/spec-x.example.com/v1')
  assert.equal(status, 200)
  const document = typeof value === 'string' ? JSON.parse(value) : value
  assert.ok(document.components.schemas['com.example.spec-x.v1.Thing'].properties.metadata)
  assert.ok(document.components.schemas['com.example.spec-x.v1.ThingList'])
  const { patch } = document.paths[`${THINGS.replace('default', '{namespace}')}/{name}`]
  assert.equal(patch.operationId, 'patchSpecXExampleComV1NamespacedThing')
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], {
    group: 'spec-x.example.com',
    version: 'v1',
    kind: 'Thing',
  })
  assert.ok(patch.parameters.some(({ name }: AnyValue) => name === 'fieldValidation'))
})

test('the OpenAPI document names the types of what may be of two, selectable fields, and refers to nothing that it does not have', async () => {
  const both = { 'x-kubernetes-int-or-string': true }
  const embedded = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const properties = { name: { type: 'string' }, both, embedded }
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } }
  const server = await serverWith(
    definition('things', {}, [
      version('v1', {
        schema: { openAPIV3Schema: schema },
        selectableFields: [{ jsonPath: '.spec.name' }],
      }),
    ]),
  )
  const { value } = await server.request('GET', '/openapi/v3/apis/spec-x.example.com/v1')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const { schemas } = JSON.parse(text).components
  const kind = schemas['com.example.spec-x.v1.Thing']
  const list = schemas['com.example.spec-x.v1.ThingList']
  const { spec } = kind.properties
  assert.deepEqual(spec.properties.both.anyOf, [{ type: 'integer' }, { type: 'string' }])
  assert.deepEqual(spec.properties.embedded.required, ['kind', 'apiVersion'])
  for (const shown of [kind, list])
    assert.deepEqual(shown['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.name' }])
  const missing = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)]
    .map(([, name]) => name!)
    .filter((name) => !Object.hasOwn(schemas, name))
  assert.deepEqual(missing, [])
})

test('a list that becomes atomic is owned as a whole by those who owned its items', async () => {
  const listOf = (listType: string): AnyValue => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': listType },
        },
      },
    },
  })
  const withList = (listType: string): object =>
    definition('things', {}, [
      version('v1', { schema: { openAPIV3Schema: listOf(listType) }, subresources: {} }),
    ])
  const server = await serverWith(withList('set'))
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  await server.request('PATCH', `${THINGS}/e?fieldManager=m`, thing('e', { tags: ['x'] }), apply)
  const patch = { spec: (withList('atomic') as AnyValue).spec }
  await server.request('PATCH', `${DEFINITIONS}/things.spec-x.example.com`, patch, JSON_MERGE)
  await settle()
  const { value } = await server.request(
    'PATCH',
    `${THINGS}/e?fieldManager=n`,
    thing('e', { tags: ['y'] }),
    apply,
  )
  assert.equal(value.message, 'Apply failed with 1 conflict: conflict with "m": .spec.tags')
})

test('a write of the status keeps a field of the object that is called `__proto__`', async () => {
  const keeping = version('v1', {
    schema: { openAPIV3Schema: { ...SCHEMA, 'x-kubernetes-preserve-unknown-fields': true } },
  })
  const server = await serverWith(definition('things', {}, [keeping]))
  const sent = { ...thing('a'), ['__proto__']: { size: 1 } }
  const { metadata } = (await server.request('POST', THINGS, JSON.stringify(sent))).value
  const changed = { ...thing('a'), metadata, status: { phase: 'x' } }
  const { value } = await server.request('PUT', `${THINGS}/a/status`, changed)
  assert.deepEqual(value.status, { phase: 'x' })
  assert.deepEqual(Object.getOwnPropertyDescriptor(value, '__proto__')?.value, { size: 1 })
})

/** What an update of a custom resource is taken for: changed or not, fit for its schema or not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, turn, type AnyValue, type TestServer } from '../testing/test-server.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DEFINITION = `${DEFINITIONS}/parts.changed.example.com`
const PARTS = '/apis/changed.example.com/v1/namespaces/default/parts'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

const list = { type: 'array', items: { type: 'string' } }
const mapList = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
}
const atomicList = { type: 'array', items: mapList.items }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** `others`: the properties of v2, which is not stored. */
function versionsWith(properties: object, others: object = properties): readonly object[] {
  return [properties, others].map((own, index) => {
    const spec = { type: 'object', properties: own }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    const name = `v${index + 1}`
    return { name, served: true, storage: index === 0, schema, subresources: { status: {} } }
  })
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

async function serverWith(properties: object): Promise<TestServer> {
  const server = await createTestServer()
  const created = await server.request('POST', DEFINITIONS, {
    metadata: { name: 'parts.changed.example.com' },
    spec: {
      group: 'changed.example.com',
      scope: 'Namespaced',
      names: { plural: 'parts', kind: 'Part' },
      versions: versionsWith(properties),
    },
  })
  assert.equal(created.status, 201, JSON.stringify(created.value))
  await settle()
  return server
}

const part = (spec: object, metadata: object = {}): object => ({
  apiVersion: 'changed.example.com/v1',
  kind: 'Part',
  metadata: { name: 'x', ...metadata },
  spec,
})

async function redefine(
  server: TestServer,
  properties: object,
  others: object = properties,
): Promise<void> {
  const body = { spec: { versions: versionsWith(properties, others) } }
  const answer = await server.request('PATCH', DEFINITION, body, MERGE)
  assert.equal(answer.status, 200, JSON.stringify(answer.value))
  await settle()
}

const patch = (server: TestServer, body: object): Promise<AnyValue> =>
  server.request('PATCH', `${PARTS}/x`, body, MERGE)

const apply = (server: TestServer, manager: string, spec: object): Promise<AnyValue> =>
  server.request('PATCH', `${PARTS}/x?fieldManager=${manager}&force=true`, part(spec), APPLY)

test('an empty list or map is another value than none, so the generation grows', async () => {
  const server = await serverWith({ list, map: { type: 'object' } })
  await server.request('POST', PARTS, part({}))
  const generations: number[] = []
  for (const spec of [{ list: [] }, { map: {} }, { map: {} }, { list: null }])
    generations.push((await patch(server, { spec })).value.metadata.generation)
  assert.deepEqual(generations, [2, 3, 3, 4])
})

test('what a newer schema prunes and defaults is no change of the object', async () => {
  const server = await serverWith({ a: { type: 'string' }, b: { type: 'string' } })
  await server.request('POST', PARTS, part({ a: '1', b: '1' }))
  await redefine(server, { a: { type: 'string' }, c: { type: 'integer', default: 1 } })
  const labelled = await patch(server, { metadata: { labels: { l: 'x' } } })
  assert.deepEqual([labelled.value.metadata.generation, labelled.value.spec], [1, { a: '1', c: 1 }])
})

test('fields without a schema correspond to nothing stored, so what holds them is not tolerated', async () => {
  const known = { type: 'object', properties: { x: { type: 'string' } } }
  const embedded = { ...open, 'x-kubernetes-embedded-resource': true }
  const properties = { known, open, embedded, mapList, list }
  const server = await serverWith(properties)
  const spec = {
    known: { x: '1' },
    open: { y: 1 },
    embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
    mapList: [{ k: 'a' }, { k: 'b' }],
    list: ['a'],
  }
  await server.request('POST', PARTS, part(spec))
  const fewer = { maxItems: 0 }
  const more = { minProperties: 5 }
  await redefine(server, {
    known: { ...known, ...more },
    open: { ...open, ...more },
    embedded: { ...embedded, ...more },
    mapList: { ...mapList, ...fewer },
    list: { ...list, ...fewer },
  })
  const refused = await patch(server, { metadata: { labels: { l: 'x' } } })
  assert.deepEqual(
    refused.value.details.causes.map(({ field }: AnyValue) => field),
    ['spec.embedded', 'spec.open'],
  )
  const reordered = { open: null, embedded: null, mapList: [{ k: 'b' }, { k: 'a' }] }
  assert.equal((await patch(server, { spec: reordered })).status, 200)
})

test('broken rules are tolerated in the same places', async () => {
  const rules = [{ rule: 'false', message: 'no' }]
  const known = { type: 'object', properties: { x: { type: 'string' } } }
  const server = await serverWith({ known, open })
  await server.request('POST', PARTS, part({ known: { x: '1' }, open: { y: 1 } }))
  const ruled = (schema: object): object => ({ ...schema, 'x-kubernetes-validations': rules })
  await redefine(server, { known: ruled(known), open: ruled(open) })
  const refused = await patch(server, { metadata: { labels: { l: 'x' } } })
  assert.deepEqual(
    refused.value.details.causes.map(({ field }: AnyValue) => field),
    ['spec.open'],
  )
})

test('rules are not run on objects whose metadata lacks something, and that is said', async () => {
  const server = await serverWith({
    a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true' }] },
  })
  const nameless = await server.request('POST', PARTS, part({ a: 1 }, { name: '' }))
  assert.deepEqual(
    nameless.value.details.causes.map(({ field }: AnyValue) => field),
    ['metadata.name', '<nil>'],
  )
})

test('values of additionalProperties true lose their own fields', async () => {
  const server = await serverWith({ map: { type: 'object', additionalProperties: true } })
  const spec = { map: { plain: 1, deep: { q: 1 }, list: [{ q: 1 }, 2] } }
  const created = await server.request('POST', PARTS, part(spec))
  assert.deepEqual(created.value.spec, { map: { plain: 1, deep: {}, list: [{}, 2] } })
  assert.deepEqual(created.headers['warning'], [
    '299 - "unknown field \\"spec.map.deep.q\\""',
    '299 - "unknown field \\"spec.map.list[0].q\\""',
  ])
})

test('whoever adds a finalizer that names no domain is warned', async () => {
  const server = await serverWith({})
  const warned = (name: string, path = ''): string =>
    `299 - "metadata.finalizers: \\"${name}\\": prefer a domain-qualified finalizer name ${path}to avoid accidental conflicts with other finalizer writers"`
  const finalizers = ['b', 'a', 'x.io', 'x.io/c', 'foregroundDeletion']
  const created = await server.request('POST', PARTS, part({}, { finalizers }))
  const named = warned('x.io', 'including a path (/) ')
  assert.deepEqual(created.headers['warning'], [warned('a'), warned('b'), named])
  const added = await patch(server, { metadata: { finalizers: [...finalizers, 'z'] } })
  assert.deepEqual(added.headers['warning'], [warned('z')])
  const kept = await patch(server, { metadata: { labels: { l: 'x' } } })
  assert.equal(kept.headers['warning'], undefined)
})

test('a list among the values of a map that loses all its items stays empty when somebody owns it', async () => {
  const server = await serverWith({ map: { type: 'object', additionalProperties: mapList } })
  await apply(server, 'm', { map: { l: [{ k: 'a' }] } })
  const emptied = await apply(server, 'm', { map: { l: [] } })
  assert.deepEqual([emptied.status, emptied.value.spec], [200, { map: { l: [] } }])
})

test('objects that their schema does not describe are not tracked, and nothing can be applied to them', async () => {
  const sets = {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      properties: { q: { type: 'string' } },
    },
  }
  const server = await serverWith({ sets, b: { type: 'string' } })
  const created = await server.request('POST', PARTS, part({ sets: [{ q: '1' }, { q: '2' }] }))
  assert.equal(created.value.metadata.managedFields, undefined)
  const problem = `.spec.sets: element 0: associative list without keys has an element that's a map type`
  const shown = 'default/x; changed.example.com/v1, Kind=Part'
  const untracked = await apply(server, 'm', { b: '1' })
  assert.deepEqual(
    [untracked.status, untracked.value.message],
    [
      500,
      `failed to create manager for existing fields: failed to convert new object (${shown}) to smd typed: ${problem}`,
    ],
  )
})

test('an object that was applied and whose schema has changed its types since is refused as the stored one', async () => {
  const server = await serverWith({ a: { type: 'string' }, b: { type: 'string' } })
  await apply(server, 'm', { a: '1', b: '1' })
  await redefine(server, { a: { type: 'integer' }, b: { type: 'string' } })
  const refused = await apply(server, 'm', { b: '2' })
  assert.deepEqual(
    [refused.status, refused.value.message],
    [
      500,
      'failed to create typed live object (default/x; changed.example.com/v1, Kind=Part): .spec.a: expected numeric (int or float), got string',
    ],
  )
})

test('an object whose lists held something twice already may hold more, wherever that is', async () => {
  const server = await serverWith({ a: mapList, b: mapList })
  const twice = [{ k: '1' }, { k: '1' }]
  const refused = await server.request('POST', PARTS, part({ a: twice }))
  assert.equal(refused.status, 422)
  await redefine(server, { a: atomicList, b: mapList })
  await server.request('POST', PARTS, part({ a: twice }))
  await redefine(server, { a: mapList, b: mapList })
  const answer = await server.request('PATCH', `${PARTS}/x`, { spec: { b: twice } }, MERGE)
  assert.equal(answer.status, 200, JSON.stringify(answer.value.message))
  await server.request('PATCH', `${PARTS}/x`, { spec: { a: null, b: null } }, MERGE)
  const again = await server.request('PATCH', `${PARTS}/x`, { spec: { b: twice } }, MERGE)
  assert.deepEqual(
    [again.status, again.value.message],
    [422, 'Part.changed.example.com "x" is invalid: spec.b[1]: Duplicate value: {"k":"1"}'],
  )
})

test('what an apply makes has to fit the other versions in which somebody owns something, with nothing there twice', async () => {
  const server = await serverWith({ a: atomicList, b: { type: 'string' } })
  await redefine(
    server,
    { a: atomicList, b: { type: 'string' } },
    { a: mapList, c: { type: 'string' } },
  )
  const inVersion = (
    version: string,
    manager: string,
    spec: object,
  ): Promise<{ value: AnyValue }> =>
    server.request(
      'PATCH',
      `${PARTS.replace('v1', version)}/x?fieldManager=${manager}&force=true`,
      { ...part(spec), apiVersion: `changed.example.com/${version}` },
      APPLY,
    )
  await inVersion('v2', 'm2', { a: [{ k: '1' }] })
  const twice = await inVersion('v1', 'm1', { a: [{ k: '2' }, { k: '2' }] })
  assert.equal(
    twice.value.message,
    'failed to convert new object: .spec.a: duplicate entries for key [k="2"]',
  )
  await inVersion('v1', 'm1', { a: [{ k: '1' }] })
  const pruned = await inVersion('v1', 'm1', { a: [{ k: '2' }, { k: '2' }] })
  assert.equal(
    pruned.value.message,
    'failed to prune fields: failed add back owned items: failed to convert merged object at version changed.example.com/v2: .spec.a: duplicate entries for key [k="2"]',
  )
  const last = await inVersion('v2', 'm1', { c: 'x' })
  assert.equal(
    last.value.message,
    'failed to prune fields: failed to convert merged object to last applied version: .spec.c: field not declared in schema',
  )
})

test('unknown fields are told of the metadata first and of what is embedded last, each in the order of the paths', async () => {
  const embedded = { ...open, 'x-kubernetes-embedded-resource': true }
  const server = await serverWith({ m: { type: 'object', additionalProperties: embedded } })
  const resource = { apiVersion: 'v1', kind: 'A', metadata: { u: 1, a: 1 } }
  const body = part({ z: 1, a: 1, m: { k: resource } }, { bogus: 1, bad: 1 })
  const refused = await server.request('POST', `${PARTS}?fieldValidation=Strict`, body)
  const fields = [...refused.value.message.matchAll(/field "([^"]*)"/g)].map(([, field]) => field)
  assert.deepEqual(fields, [
    'metadata.bad',
    'metadata.bogus',
    'spec.a',
    'spec.z',
    'spec.m[k].metadata.a',
    'spec.m[k].metadata.u',
  ])
})

test('what is left of an item that goes goes with it, though an updater owns it: a map stays empty, a list goes with its field', async () => {
  const text = { type: 'string' }
  const items = { ...mapList, items: { ...mapList.items, properties: { k: text, v: text } } }
  const objects = {
    type: 'object',
    additionalProperties: { type: 'object', properties: { p: text } },
  }
  const nested = {
    ...mapList,
    items: { ...mapList.items, properties: { k: text, in: items } },
  }
  const server = await serverWith({ a: text, items, objects, nested })
  const rows: readonly (readonly [string, object, object, object, object])[] = [
    ['items', { items: [{ k: '1' }] }, { items: [{ k: '1', v: '2' }] }, {}, { a: 'x' }],
    [
      'objects',
      { objects: { k: { p: '1' } } },
      { objects: { k: { p: '2' } } },
      {},
      { a: 'x', objects: {} },
    ],
    [
      'nested',
      { nested: [{ k: '1', in: [{ k: '1' }] }] },
      { nested: [{ k: '1', in: [{ k: '1', v: '2' }] }] },
      { nested: [{ k: '1' }] },
      { a: 'x', nested: [{ k: '1' }] },
    ],
  ]
  for (const [name, applied, patched, then, left] of rows) {
    await apply(server, 'applier', applied)
    await patch(server, { spec: patched })
    const answer = await apply(server, 'applier', { a: 'x', ...then })
    assert.deepEqual([answer.status, answer.value.spec], [200, left], name)
    await server.request('DELETE', `${PARTS}/x`)
  }
})

test('a list that an updater owns empty goes with the last item that was applied', async () => {
  const set = { ...list, 'x-kubernetes-list-type': 'set' }
  const map = { type: 'object', additionalProperties: { type: 'string' } }
  const server = await serverWith({ a: { type: 'string' }, set, map })
  await server.request('POST', PARTS, part({ set: [], map: {} }))
  await apply(server, 'applier', { set: ['x'], map: { k: 'x' } })
  const answer = await apply(server, 'applier', { a: 'x' })
  assert.deepEqual(answer.value.spec, { a: 'x', map: {} })
})

test('an empty list of managedFields is none, and one empty entry asks for no tracking', async () => {
  const server = await serverWith({ a: { type: 'string' } })
  await apply(server, 'applier', { a: 'x' })
  const kept = await patch(server, { metadata: { managedFields: [] } })
  assert.equal(kept.value.metadata.managedFields.length, 1)
  const reset = await patch(server, { metadata: { managedFields: [{}] } })
  assert.equal(reset.value.metadata.managedFields, undefined)
})

test('a rule that fails to run refuses an object though nothing changed; one that is broken warns', async () => {
  const server = await serverWith({ o: open })
  await server.request('POST', PARTS, part({ o: { x: 1 } }))
  const integer = { type: 'integer' }
  const withRule = (rule: string): object => ({
    o: {
      type: 'object',
      properties: { x: integer, y: integer },
      'x-kubernetes-validations': [{ rule }],
    },
  })
  await redefine(server, withRule('self.x > 1'))
  const label = (value: string): Promise<AnyValue> =>
    patch(server, { metadata: { labels: { a: value } } })
  const broken = await label('1')
  assert.equal(broken.status, 200)
  assert.match(String(broken.headers.warning), /spec\.o: Invalid value: failed rule: self\.x > 1/)
  await redefine(server, withRule('self.y > 1'))
  const failing = await label('2')
  assert.equal(failing.status, 422)
  assert.match(failing.value.message, /spec\.o: Invalid value: "object": no such key: y/)
})

test('items of a map list that are no objects correspond to nothing: they are refused', async () => {
  const server = await serverWith({ mapList: list, other: list })
  await server.request('POST', PARTS, part({ mapList: ['x'] }))
  await redefine(server, { mapList, other: list })
  const { status, value } = await patch(server, { spec: { other: ['y'] } })
  assert.equal(status, 422)
  assert.match(value.message, /spec\.mapList\[0\] in body must be of type object: "string"/)
})

test('what apply merged of unknown fields is lost, and counts for the generation each time', async () => {
  const k = { type: 'object', properties: { z: { type: 'string' } } }
  const server = await serverWith({ open: { ...open, properties: { k } } })
  await apply(server, 'm', { open: { k: {} } })
  const seen: unknown[] = []
  for (const spec of [{ open: { k: { w: 1 } } }, { open: { k: { w: 1 } } }, { open: { k: {} } }]) {
    const { value } = await apply(server, 'm', spec)
    seen.push([value.metadata.generation, value.spec.open])
  }
  assert.deepEqual(seen, [
    [2, { k: {} }],
    [3, { k: {} }],
    [3, { k: {} }],
  ])
})

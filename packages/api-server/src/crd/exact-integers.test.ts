import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBody } from '../http/encode.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { createTestServer, type AnyValue, type TestServer } from '../testing/test-server.ts'

const THINGS = '/apis/example.com/v1/namespaces/default/things'
const JSON_TYPE = { 'content-type': 'application/json' }
const GREATEST = '9223372036854775807'

async function withDefinition(): Promise<TestServer> {
  const server = await createTestServer()
  const integer = { type: 'integer', format: 'int64' }
  const rules = [{ rule: 'self.limit != 9007199254740995', message: 'CEL sees every digit' }]
  const spec = {
    type: 'object',
    'x-kubernetes-validations': rules,
    properties: {
      limit: integer,
      bounded: { ...integer, maximum: 100 },
      odd: { ...integer, multipleOf: 2 },
      preset: { ...integer, default: 9007199254740993n },
      either: { 'x-kubernetes-int-or-string': true },
      set: { type: 'array', items: integer, 'x-kubernetes-list-type': 'set' },
      text: { type: 'string' },
      number: { type: 'number' },
    },
  }
  const created = await server.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    },
  )
  assert.equal(created.status, 201, stringifyExact(created.value))
  await server.clock.advance(6000)
  return server
}

const thing = (name: string, spec: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`

/** The spec as it is written to a client on the network. */
async function written(value: AnyValue): Promise<string> {
  const [bytes] = await encodeBody({ kind: 'object', value: value.spec }, 'application/json', false)
  return bytes!.toString().trimEnd()
}

test('integers of custom resources are read, stored and returned exactly', async () => {
  const { request } = await withDefinition()
  const spec = `{"limit":${GREATEST},"either":-9223372036854775808,"set":[9007199254740993,9007199254740992]}`
  const created = await request('POST', THINGS, thing('a', spec), JSON_TYPE)
  assert.equal(created.status, 201, stringifyExact(created.value.message))
  const { value } = await request('GET', `${THINGS}/a`)
  assert.equal(await written({ spec: { ...value.spec, preset: undefined } }), spec)
  assert.equal(
    await written({ spec: { preset: value.spec.preset } }),
    '{"preset":9007199254740993}',
  )
  const list = (await request('GET', THINGS)).value
  assert.equal(list.items[0].spec.limit, BigInt(GREATEST))
})

test('patches and apply change one digit, and the same again writes nothing', async () => {
  const { request } = await withDefinition()
  await request('POST', THINGS, thing('a', `{"limit":${GREATEST}}`), JSON_TYPE)
  const patched = await request('PATCH', `${THINGS}/a`, '{"spec":{"limit":9223372036854775806}}', {
    'content-type': 'application/merge-patch+json',
  })
  assert.equal(patched.value.spec.limit, 9223372036854775806n)
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const yaml = `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {limit: 9223372036854775806, set: [9007199254740993]}\n`
  const applied = await request('PATCH', `${THINGS}/a?fieldManager=me`, yaml, apply)
  assert.equal(applied.status, 200, stringifyExact(applied.value.message))
  assert.deepEqual(applied.value.spec.set, [9007199254740993n])
  const entry = applied.value.metadata.managedFields.find(
    ({ manager }: AnyValue) => manager === 'me',
  )
  assert.deepEqual(entry.fieldsV1['f:spec']['f:set'], { 'v:9007199254740993': {} })
  const again = await request('PATCH', `${THINGS}/a?fieldManager=me`, yaml, apply)
  assert.equal(again.value.metadata.resourceVersion, applied.value.metadata.resourceVersion)
})

test('validation and rules see every digit', async () => {
  const { request } = await withDefinition()
  const refused = async (spec: string): Promise<string> => {
    const { status, value } = await request('POST', THINGS, thing('a', spec), JSON_TYPE)
    assert.equal(status, 422, stringifyExact(value))
    return value.details.causes[0].message
  }
  assert.equal(
    await refused(`{"limit":1,"bounded":${GREATEST}}`),
    `Invalid value: ${GREATEST}: spec.bounded in body should be less than or equal to 100`,
  )
  assert.match(await refused(`{"limit":1,"odd":${GREATEST}}`), /should be a multiple of 2/)
  assert.match(await refused('{"limit":9007199254740995}'), /CEL sees every digit/)
  assert.match(await refused(`{"limit":1,"text":${GREATEST}}`), /must be of type string: "integer"/)
  assert.match(
    await refused('{"limit":1,"set":[9007199254740993,9007199254740993]}'),
    /Duplicate value: 9007199254740993/,
  )
  const near = thing('b', '{"limit":9007199254740996,"set":[9007199254740993,9007199254740992]}')
  assert.equal((await request('POST', THINGS, near, JSON_TYPE)).status, 201)
})

test('beyond 64 bits a number is floating point, and no integer field takes it', async () => {
  const { request } = await withDefinition()
  const body = thing('a', '{"limit":1,"number":9223372036854775808}')
  const { status, value } = await request('POST', THINGS, body, JSON_TYPE)
  assert.deepEqual([status, value.spec?.number], [201, 2 ** 63])
})

test('built-in kinds: int64 to its last digit, no more; int32 and quantities as ever', async () => {
  const { request, clock } = await createTestServer()
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const pods = '/api/v1/namespaces/default/pods'
  const pod = (name: string, seconds: string, memory = '1'): string =>
    `{"metadata":{"name":"${name}"},"spec":{"terminationGracePeriodSeconds":${seconds},"nodeName":"n1","containers":[{"name":"a","image":"a","resources":{"requests":{"memory":${memory}}}}]}}`
  const created = await request('POST', pods, pod('a', GREATEST, '9007199254740993'), JSON_TYPE)
  assert.equal(created.value.spec.terminationGracePeriodSeconds, BigInt(GREATEST))
  assert.equal(created.value.spec.containers[0].resources.requests.memory, '9007199254740993')
  const over = await request('POST', pods, pod('b', '9223372036854775808'), JSON_TYPE)
  assert.equal(over.status, 400)
  assert.match(over.value.message, /cannot unmarshal number .* of type int64/)
  const deleted = await request('DELETE', `${pods}/a`)
  assert.deepEqual(
    [deleted.status, deleted.value.metadata.deletionTimestamp, deleted.value.metadata.generation],
    [200, '9999-12-31T23:59:59Z', 2],
  )
  assert.equal(deleted.value.metadata.deletionGracePeriodSeconds, BigInt(GREATEST))
  const shorter = await request('DELETE', `${pods}/a?gracePeriodSeconds=5`)
  assert.equal(shorter.value.metadata.deletionGracePeriodSeconds, 1)
  assert.ok(Date.parse(shorter.value.metadata.deletionTimestamp) <= clock.nowMs())
  const map = '{"metadata":{"name":"m","generation":9007199254740993}}'
  const stored = await request('POST', '/api/v1/namespaces/default/configmaps', map, JSON_TYPE)
  assert.equal(stored.value.metadata.generation, 9007199254740993n)
  const port = '{"metadata":{"name":"s"},"spec":{"ports":[{"port":9007199254740993}]}}'
  const refused = await request('POST', '/api/v1/namespaces/default/services', port, JSON_TYPE)
  assert.match(refused.value.message, /cannot unmarshal number 9007199254740993 .* of type int32/)
})

test('int64 fields of built-in kinds: compared, printed in differences, counted against quotas', async () => {
  const { request } = await createTestServer()
  const namespace = '/api/v1/namespaces/default'
  const send = (path: string, body: string, method = 'POST', type = 'application/json') =>
    request(method, path, body, { 'content-type': type })
  const merge = 'application/merge-patch+json'
  await send(`${namespace}/serviceaccounts`, '{"metadata":{"name":"default"}}')
  const tolerations = `"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":${GREATEST}}]`
  await send(
    '/apis/node.k8s.io/v1/runtimeclasses',
    `{"metadata":{"name":"rc"},"handler":"x","scheduling":{${tolerations}}}`,
  )
  const containers = '"containers":[{"name":"a","image":"a"}]'
  const pod = (name: string, spec: string): string =>
    `{"metadata":{"name":"${name}"},"spec":{${containers},${spec}}}`
  const grace = `"terminationGracePeriodSeconds":${GREATEST},"runtimeClassName":"rc",${tolerations}`
  assert.equal((await send(`${namespace}/pods`, pod('p', grace))).status, 201)
  const changed = await send(`${namespace}/pods/p`, '{"spec":{"hostname":"other"}}', 'PATCH', merge)
  assert.equal(changed.status, 422)
  assert.match(changed.value.message, /Forbidden: pod updates may not change fields other than/)
  const shorter = await send(
    `${namespace}/pods/p`,
    '{"spec":{"terminationGracePeriodSeconds":1}}',
    'PATCH',
    merge,
  )
  assert.ok(shorter.value.message.includes(`"TerminationGracePeriodSeconds": ${GREATEST}`))
  for (const [spec, why] of [
    [
      `"securityContext":{"runAsUser":${GREATEST}}`,
      `spec.securityContext.runAsUser: Invalid value: ${GREATEST}: must be between 0 and 2147483647, inclusive`,
    ],
    [
      `"securityContext":{"fsGroup":-${GREATEST}}`,
      `spec.securityContext.fsGroup: Invalid value: -${GREATEST}: must be between 0 and 2147483647, inclusive`,
    ],
  ] as const) {
    const { value } = await send(`${namespace}/pods`, pod('q', spec))
    assert.equal(value.message, `Pod "q" is invalid: ${why}`)
  }
  const claim = `{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d","allocationMode":"ExactCount","count":${GREATEST}}}]}}}`
  const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims'
  const hard = { 'd.deviceclass.resource.k8s.io/devices': '5' }
  await request('POST', `${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } })
  const used = { 'd.deviceclass.resource.k8s.io/devices': '0' }
  await send(
    `${namespace}/resourcequotas/q/status`,
    JSON.stringify({ status: { hard, used } }),
    'PATCH',
    merge,
  )
  const refused = await send(claims, claim)
  assert.equal(refused.status, 403)
  assert.ok(refused.value.message.includes(GREATEST), refused.value.message)
})

test('an integer that a double cannot hold is called a number where a text is wanted', async () => {
  const server = await withDefinition()
  const bodies = {
    apiVersion: '{"apiVersion":9007199254740993,"kind":"Thing"}',
    kind: '{"apiVersion":"example.com/v1","kind":9007199254740993}',
  }
  for (const [field, body] of Object.entries(bodies)) {
    const refused = await server.request('POST', THINGS, body, JSON_TYPE)
    assert.equal(refused.status, 400)
    assert.match(
      refused.value.message,
      new RegExp(`cannot unmarshal number into Go struct field .${field} of type string`),
    )
  }
})

test('what apply reads as YAML is read so in JSON, too: whole numbers of int64 are integers, what no double holds is a text', async () => {
  const { request } = await withDefinition()
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const path = `${THINGS}/a?fieldManager=me`
  const applied = await request('PATCH', path, thing('a', '{"limit":9.2e18,"text":1e400}'), apply)
  assert.equal(applied.status, 201, stringifyExact(applied.value.message))
  assert.equal(
    await written({ spec: { limit: applied.value.spec.limit, text: applied.value.spec.text } }),
    '{"limit":9200000000000000000,"text":"1e400"}',
  )
  const number = thing('a', '{"number":1e400}')
  const { status, value } = await request('PATCH', path, number, apply)
  assert.deepEqual(
    [status, value.message],
    [
      500,
      'failed to create typed patch object (/a; example.com/v1, Kind=Thing): .spec.number: expected numeric (int or float), got string',
    ],
  )
})

test('a whole number that is sent as a fraction is another one than the integer that is stored: a change each time', async () => {
  const { request } = await withDefinition()
  await request('POST', THINGS, thing('a', '{"limit":1,"number":3}'), JSON_TYPE)
  const merge = { 'content-type': 'application/merge-patch+json' }
  const json = { 'content-type': 'application/json-patch+json' }
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const path = `${THINGS}/a?fieldManager=me`
  const add = (value: string) => `[{"op":"add","path":"/spec/number","value":${value}}]`
  for (const [body, type, generation] of [
    ['{"spec":{"number":3}}', merge, 1],
    ['{"spec":{"number":3.0}}', merge, 2],
    [add('3e0'), json, 3],
    [add('3'), json, 3],
    [thing('a', '{"number":3.0}'), apply, 3],
    ['{"spec":{"number":3.5}}', merge, 4],
    ['{"spec":{"number":35e-1}}', merge, 4],
  ] as const) {
    const { status, value } = await request('PATCH', path, body, type)
    assert.deepEqual([status, value.metadata.generation], [200, generation], body)
  }
  const { value: before } = await request('GET', path)
  const put = stringifyExact(before).replace('"number":3.5', '"number":4.0')
  const replaced = await request('PUT', path, put, JSON_TYPE)
  assert.equal(replaced.value.metadata.generation, 5)
  assert.equal(replaced.value.spec.number, 4)
  const again = stringifyExact(replaced.value).replace('"number":4', '"number":4e0')
  const { value } = await request('PUT', path, again, JSON_TYPE)
  assert.equal(value.metadata.generation, 6)
  assert.deepEqual(
    value.metadata.managedFields.length,
    replaced.value.metadata.managedFields.length,
  )
})

test('a whole number that was sent with an exponent is an int64 once it is stored: who applies it changes nothing', async () => {
  const { request } = await withDefinition()
  await request('POST', THINGS, thing('a', '{"limit":1,"number":9.2e18}'), JSON_TYPE)
  const { value: stored } = await request('GET', `${THINGS}/a`)
  assert.equal(stored.spec.number, 9_200_000_000_000_000_000n)
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const same = thing('a', '{"number":9200000000000000000}')
  const applied = await request('PATCH', `${THINGS}/a?fieldManager=me`, same, apply)
  assert.equal(applied.status, 200, stringifyExact(applied.value.message))
  assert.equal(applied.value.metadata.generation, 1)
})

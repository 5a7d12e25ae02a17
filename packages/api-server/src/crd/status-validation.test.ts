import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, turn } from '../testing/test-server.ts'

const GROUP = 'statuses.example.com'
const embedded = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}
const status = {
  type: 'object',
  maxProperties: 2,
  required: ['r'],
  oneOf: [{ required: ['b'] }, { required: ['c'] }],
  properties: {
    r: { type: 'integer' },
    b: { type: 'integer', maximum: 5 },
    c: { type: 'string', enum: ['x'] },
    l: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
    e: embedded,
  },
  'x-kubernetes-validations': [{ rule: 'self.r != 7' }],
}
const definition = {
  metadata: { name: `ws.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'ws', kind: 'Ws' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { status } } },
      },
    ],
  },
}

const APPLY = { 'content-type': 'application/apply-patch+yaml' }
const RULES_NOT_CHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
const ONE_OF = 'status: Invalid value: "": "" must validate one and only one schema (oneOf).'

test('a write of the status is judged as one of the recorded server', async () => {
  const { request } = await createTestServer()
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await turn()
  const path = `/apis/${GROUP}/v1/ws`
  const object = { apiVersion: `${GROUP}/v1`, kind: 'Ws', metadata: { name: 'x' } }
  await request('POST', path, object)
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{ r: 1, b: 1 }, []],
    [{ r: 7, b: 1 }, ['status: Invalid value: failed rule: self.r != 7']],
    [{ r: 1, b: 9 }, ['status.b: Invalid value: 9: b in body should be less than or equal to 5']],
    [
      { r: 7, b: 'x' },
      [
        RULES_NOT_CHECKED,
        'status.b: Invalid value: "string": b in body must be of type integer: "string"',
      ],
    ],
    [
      5,
      [
        RULES_NOT_CHECKED,
        `${ONE_OF} Found 2 valid alternatives`,
        'status: Invalid value: "integer":  in body must be of type object: "integer"',
      ],
    ],
    [
      { r: 1, b: 1, e: { kind: 'a b', apiVersion: '' } },
      [RULES_NOT_CHECKED, 'status: Too many: 3: must have at most 2 items'],
    ],
    [
      { r: 1, b: 1, l: [1, 1] },
      [
        RULES_NOT_CHECKED,
        'status.l[1]: Duplicate value: 1',
        'status: Too many: 3: must have at most 2 items',
      ],
    ],
  ]
  for (const [given, expected] of cases) {
    const { value } = await request(
      'PATCH',
      `${path}/x/status?dryRun=All`,
      { status: given },
      { 'content-type': 'application/merge-patch+json' },
    )
    const causes: readonly { field: string; message: string }[] = value.details?.causes ?? []
    const told = causes.map(({ field, message }) => `${field}: ${message}`)
    assert.deepEqual(told.toSorted(), expected.toSorted(), JSON.stringify(given))
  }
})

test('a null that is applied where no status is stays a null that nobody is shown, and is refused where one is', async () => {
  const { request } = await createTestServer()
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await turn()
  const path = `/apis/${GROUP}/v1/ws`
  const object = { apiVersion: `${GROUP}/v1`, kind: 'Ws', metadata: { name: 'y' } }
  await request('POST', path, object)
  const apply = (given: unknown) =>
    request('PATCH', `${path}/y/status?fieldManager=m`, { ...object, status: given }, APPLY)
  for (let times = 0; times < 2; times++) {
    const { status: code, value } = await apply(null)
    assert.deepEqual([code, 'status' in value], [200, false])
    assert.deepEqual(value.metadata.managedFields.at(-1).fieldsV1, { 'f:status': {} })
  }
  assert.equal((await apply({ r: 1, b: 1 })).status, 200)
  assert.equal((await apply(null)).status, 422)
})

/** As kube-apiserver 1.36.2 answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, statusErrors, updateErrors } from '../fixtures.ts'

const REQUEST = {
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  namespaced: false,
}
const asking = (spec: object = {}): object => ({ spec: { driver: 'd.example.com', ...spec } })
const condition = (type: string, status = 'True'): object => ({
  type,
  status,
  reason: 'R',
  message: '',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})
const POOL = {
  driver: 'd.example.com',
  poolName: 'p',
  generation: 1,
  resourceSliceCount: 1,
  totalDevices: 3,
  allocatedDevices: 1,
  availableDevices: 2,
  unavailableDevices: 0,
}

const CASES: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['a driver', asking(), []],
  ['a pool of a driver with capitals', asking({ driver: 'D.Example', poolName: 'p/q' }), []],
  ['nothing', {}, ['spec.driver: Required value']],
  [
    'no driver',
    asking({ driver: 'D_' }),
    [
      /^spec\.driver: Invalid value: "D_": an RFC 1123 subdomain must consist of alphanumeric characters, .*\(e\.g\. 'Example\.com', regex/,
    ],
  ],
  [
    'an empty pool',
    asking({ poolName: '' }),
    ['spec.poolName: Invalid value: "": segment 0: must not be empty'],
  ],
  [
    'a pool with an empty part',
    asking({ poolName: 'a//b' }),
    ['spec.poolName: Invalid value: "a//b": segment 1: must not be empty'],
  ],
  [
    'a long pool',
    asking({ poolName: 'a'.repeat(254) }),
    [
      'spec.poolName: Too long: may not be more than 253 bytes',
      /segment 0: must be no more than 253 bytes$/,
    ],
  ],
  [
    'no limit',
    asking({ limit: 0 }),
    ['spec.limit: Invalid value: 0: must be greater than or equal to 1'],
  ],
  [
    'a high limit',
    asking({ limit: 1001 }),
    ['spec.limit: Invalid value: 1001: must be less than or equal to 1000'],
  ],
]
const STATUSES: readonly (readonly [string, object, readonly string[]])[] = [
  ['a pool', { poolCount: 1, pools: [POOL], conditions: [condition('Complete')] }, []],
  ['no count', {}, ['status.poolCount: Required value']],
  [
    'less than none',
    { poolCount: -1, pools: [{ ...POOL, generation: -1, resourceSliceCount: 0 }] },
    [
      'status.poolCount: Invalid value: -1: must be greater than or equal to 0',
      'status.pools[0].generation: Invalid value: -1: must be greater than or equal to 0',
      'status.pools[0].resourceSliceCount: Invalid value: 0: must be greater than or equal to 1',
    ],
  ],
  [
    'an empty pool',
    { poolCount: 1, pools: [{}] },
    [
      'status.pools[0].driver: Required value',
      'status.pools[0].poolName: Required value',
      'status.pools[0].generation: Required value',
    ],
  ],
  [
    'a long problem',
    { poolCount: 1, pools: [{ ...POOL, validationError: 'x'.repeat(257) }] },
    ['status.pools[0].validationError: Too long: may not be more than 256 bytes'],
  ],
  [
    'a condition twice',
    { poolCount: 0, conditions: [condition('A'), condition('A')] },
    [
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[1]: Duplicate value: {"type":"A","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"R","message":""}',
    ],
  ],
  [
    'eleven conditions',
    { poolCount: 0, conditions: Array.from({ length: 11 }, (_, at) => condition(`A${at}`)) },
    ['status.conditions: Too many: 11: must have at most 10 items'],
  ],
  [
    'what is wrong with conditions, first, and how many there are, last',
    {
      conditions: Array.from({ length: 11 }, (_, at) => condition(at === 9 ? 'A8' : `A${at}`)),
    },
    [
      'status.conditions[9].type: Duplicate value: "A8"',
      'status.poolCount: Required value',
      'status.conditions: Too many: 11: must have at most 10 items',
    ],
  ],
]
for (const [title, object, wanted] of CASES) {
  test(`a request: ${title}`, () => {
    const found = createErrors(REQUEST, object)
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [index, text] of wanted.entries())
      if (typeof text === 'string') assert.equal(found[index], text)
      else assert.match(found[index]!, text)
  })
}
for (const [title, status, wanted] of STATUSES) {
  test(`an answer: ${title}`, () =>
    assert.deepEqual(statusErrors(REQUEST, asking(), { ...asking(), status }), wanted))
}

test('what is asked cannot change, and it is answered once', () => {
  assert.deepEqual(updateErrors(REQUEST, asking(), asking({ limit: 7 })), [
    'spec: Invalid value: null: field is immutable',
  ])
  const answered = { ...asking(), status: { poolCount: 1 } }
  assert.deepEqual(statusErrors(REQUEST, answered, answered), [])
  assert.deepEqual(statusErrors(REQUEST, answered, { ...asking(), status: { poolCount: 2 } }), [
    'status: Invalid value: {"PoolCount":2,"Pools":null,"Conditions":null}: field is immutable',
  ])
  assert.deepEqual(statusErrors(REQUEST, answered, asking()), [
    'status: Invalid value: null: field is immutable',
  ])
})

const PATH = '/apis/resource.k8s.io/v1alpha3/resourcepoolstatusrequests'
const MERGE = { 'content-type': 'application/merge-patch+json' }

test('a table tells what is left, once it is known', async () => {
  const runtimeConfig = { 'resource.k8s.io/v1alpha3': true }
  const { request } = await createTestServer({ runtimeConfig })
  const cellsOf = async (name: string, status?: object): Promise<readonly unknown[]> => {
    const created = await request('POST', PATH, { metadata: { name }, ...asking() })
    assert.deepEqual([created.status, created.value.status], [201, undefined])
    if (status !== undefined) await request('PATCH', `${PATH}/${name}/status`, { status }, MERGE)
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { value } = await request('GET', `${PATH}/${name}`, undefined, { accept })
    return value.rows[0].cells.slice(2, 9)
  }
  assert.deepEqual(await cellsOf('a'), ['-', '-', '-', '-', '-', 0, 'Pending'])
  const faulty = { driver: 'd', poolName: 'q', generation: 1, validationError: 'x' }
  assert.deepEqual(
    await cellsOf('b', {
      poolCount: 5,
      pools: [POOL, faulty],
      conditions: [condition('Complete')],
    }),
    ['3', '2', '1', '0', '1', 5, 'Complete (2/5 pools)'],
  )
  assert.deepEqual(
    await cellsOf('c', { poolCount: 1, pools: [POOL], conditions: [condition('Failed')] }),
    ['-', '-', '-', '-', '-', 1, 'Failed'],
  )
})

test('its gate lets the controller answer', async () => {
  const role =
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:resourcepoolstatusrequest-controller'
  const { request } = await createTestServer({ featureGates: { DRAResourcePoolStatus: true } })
  assert.equal((await request('GET', role)).value.rules.length, 5)
  assert.equal((await (await createTestServer()).request('GET', role)).status, 404)
})

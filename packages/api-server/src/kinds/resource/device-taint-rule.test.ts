import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, statusErrors } from '../fixtures.ts'

const RULE = {
  group: 'resource.k8s.io',
  version: 'v1beta2',
  kind: 'DeviceTaintRule',
  namespaced: false,
}
const TAINT = { key: 'example.com/bad', effect: 'NoExecute' }
const selecting = (deviceSelector: object): object => ({ spec: { deviceSelector, taint: TAINT } })
const tainting = (taint: object): object => ({ spec: { taint: { ...TAINT, ...taint } } })
const NO_LABEL = /spec\.deviceSelector\.device: Invalid value: "": a lowercase RFC 1123 label must/

/** As kube-apiserver 1.36.2 answered. */
const CASES: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['a taint for no device', tainting({}), []],
  ['a taint for every device', selecting({}), []],
  [
    'a taint for one device',
    selecting({ driver: 'D.example.com', pool: 'p/a', device: 'dev-0' }),
    [],
  ],
  [
    'nothing',
    {},
    [
      /^spec\.taint\.key: Invalid value: "": name part must be non-empty$/,
      /^spec\.taint\.key: Invalid value: "": name part must consist of/,
      'spec.taint.effect: Required value',
    ],
  ],
  [
    'an effect of nodes',
    tainting({ effect: 'PreferNoSchedule' }),
    [
      'spec.taint.effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule", "None"',
    ],
  ],
  ['an empty driver', selecting({ driver: '' }), ['spec.deviceSelector.driver: Required value']],
  [
    'a long driver',
    selecting({ driver: 'a'.repeat(64) }),
    ['spec.deviceSelector.driver: Too long: may not be more than 63 bytes'],
  ],
  ['an empty pool', selecting({ pool: '' }), ['spec.deviceSelector.pool: Required value']],
  ['an empty device', selecting({ device: '' }), [NO_LABEL]],
]
for (const [title, object, wanted] of CASES) {
  test(`a rule: ${title}`, () => {
    const found = createErrors(RULE, object)
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [index, text] of wanted.entries())
      if (typeof text === 'string') assert.equal(found[index], text)
      else assert.match(found[index]!, text)
  })
}

const condition = (type: string): object => ({
  type,
  status: 'True',
  reason: 'R',
  message: '',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})

test('a rule tells of eight conditions at most', () => {
  const conditions = Array.from({ length: 9 }, (_, index) => condition(`C${index}`))
  const of = (count: number): object => ({
    ...tainting({}),
    status: { conditions: conditions.slice(0, count) },
  })
  assert.deepEqual(statusErrors(RULE, tainting({}), of(8)), [])
  assert.deepEqual(statusErrors(RULE, tainting({}), of(9)), [
    'status.conditions: Too many: 9: must have at most 8 items',
  ])
  const twice = {
    ...tainting({}),
    status: { conditions: [...conditions.slice(0, 8), condition('C7')] },
  }
  assert.deepEqual(statusErrors(RULE, tainting({}), twice), [
    'status.conditions[8].type: Duplicate value: "C7"',
    'status.conditions: Too many: 9: must have at most 8 items',
  ])
})

const V1BETA2 = '/apis/resource.k8s.io/v1beta2/devicetaintrules'
const V1ALPHA3 = '/apis/resource.k8s.io/v1alpha3/devicetaintrules'
const ON = {
  runtimeConfig: { 'resource.k8s.io/v1beta2': true, 'resource.k8s.io/v1alpha3': true },
  featureGates: { DRADeviceTaintRules: true },
}
const MERGE = { 'content-type': 'application/merge-patch+json' }
const LONG_AGO = '2024-01-01T00:00:00Z'
const OTHER = '2025-01-01T00:00:00Z'

/** What a patch of a taint that began long ago leaves as its time. */
const TIMES: readonly (readonly [object, string | 'now'])[] = [
  [{ key: 'other' }, LONG_AGO],
  [{ value: 'v' }, LONG_AGO],
  [{ effect: 'None' }, 'now'],
  [{ effect: 'None', timeAdded: LONG_AGO }, 'now'],
  [{ effect: 'None', timeAdded: OTHER }, OTHER],
  [{ timeAdded: null }, 'now'],
]
for (const [patch, wanted] of TIMES) {
  test(`a taint with ${JSON.stringify(patch)} has begun ${wanted}`, async () => {
    const { request, clock } = await createTestServer(ON)
    const body = { metadata: { name: 'r' }, ...tainting({ timeAdded: LONG_AGO }) }
    assert.equal((await request('POST', V1BETA2, body)).status, 201)
    const { value } = await request('PATCH', `${V1BETA2}/r`, { spec: { taint: patch } }, MERGE)
    const now = new Date(clock.nowMs()).toISOString().replace(/\.\d+/, '')
    assert.equal(value.spec.taint.timeAdded, wanted === 'now' ? now : wanted)
  })
}

test('who creates a rule owns the time of its taint, and who applies it does not', async () => {
  const { request } = await createTestServer(ON)
  const rule = (name: string): object => ({
    apiVersion: 'resource.k8s.io/v1beta2',
    kind: 'DeviceTaintRule',
    metadata: { name },
    ...tainting({}),
  })
  const created = await request('POST', V1BETA2, rule('a'))
  const apply = { 'content-type': 'application/apply-patch+yaml' }
  const applied = await request('PATCH', `${V1BETA2}/b?fieldManager=m`, rule('b'), apply)
  assert.equal(applied.status, 201)
  for (const [answer, owned] of [
    [created, ['f:effect', 'f:key', 'f:timeAdded']],
    [applied, ['f:effect', 'f:key']],
  ] as const) {
    assert.ok(answer.value.spec.taint.timeAdded)
    const [entry] = answer.value.metadata.managedFields
    assert.deepEqual(Object.keys(entry.fieldsV1['f:spec']['f:taint']), owned)
  }
})

test('both versions are one object, of which the older one warns', async () => {
  const { request } = await createTestServer(ON)
  await request('POST', V1BETA2, { metadata: { name: 'r' }, ...tainting({}) })
  const { value, headers } = await request('GET', `${V1ALPHA3}/r`)
  assert.deepEqual(
    [value.apiVersion, value.kind, value.spec.taint.effect],
    ['resource.k8s.io/v1alpha3', 'DeviceTaintRule', 'NoExecute'],
  )
  assert.match(
    String(headers['warning']),
    /resource\.k8s\.io\/v1alpha3 DeviceTaintRule is deprecated in v1\.36\+, unavailable in v1\.39\+/,
  )
  await request('PATCH', `${V1ALPHA3}/r`, { spec: { taint: { value: 'v' } } }, MERGE)
  assert.equal((await request('GET', `${V1BETA2}/r`)).value.spec.taint.value, 'v')
})

test('a write of the status leaves metadata alone', async () => {
  const { request } = await createTestServer(ON)
  await request('POST', V1BETA2, { metadata: { name: 'r' }, ...tainting({}) })
  const body = { metadata: { labels: { a: '-' } }, status: { conditions: [condition('C')] } }
  const { status, value } = await request('PATCH', `${V1BETA2}/r/status`, body, MERGE)
  assert.equal(status, 200)
  assert.equal(value.metadata.labels, undefined)
  assert.equal(value.status.conditions[0].type, 'C')
})

test('claims of the older version are those of v1', async () => {
  const { request } = await createTestServer(ON)
  const of = (version: string): string =>
    `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`
  const spec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } }
  const created = await request('POST', of('v1beta2'), { metadata: { name: 'a' }, spec })
  assert.deepEqual([created.status, created.value.apiVersion], [201, 'resource.k8s.io/v1beta2'])
  const { value } = await request('GET', `${of('v1')}/a`)
  assert.equal(value.apiVersion, 'resource.k8s.io/v1')
  assert.equal(value.spec.devices.requests[0].exactly.allocationMode, 'ExactCount')
  assert.equal((await request('GET', of('v1beta2'))).value.items.length, 1)
})

test('a table tells of the taint, but none of the status', async () => {
  const { request } = await createTestServer(ON)
  const body = { metadata: { name: 'r' }, ...tainting({ value: 'v' }) }
  await request('POST', V1BETA2, body)
  const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const table = await request('GET', V1BETA2, undefined, asTable)
  assert.equal((await request('GET', `${V1BETA2}/r/status`, undefined, asTable)).status, 406)
  assert.deepEqual(table.value.rows[0].cells, [
    'r',
    'example.com/bad',
    'v',
    'NoExecute',
    '0s',
    '0s',
  ])
})

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

test('without the gate there are rules too, but no role says anything of them', async () => {
  const { request } = await createTestServer({ runtimeConfig: ON.runtimeConfig })
  assert.equal((await request('GET', V1BETA2)).status, 200)
  assert.equal((await request('GET', '/apis/resource.k8s.io/v1beta2/deviceclasses')).status, 200)
  const { rules } = (await request('GET', `${ROLES}/system:kube-scheduler`)).value
  assert.equal(JSON.stringify(rules).includes('devicetaintrules'), false)
})

test('with the gate the controller may write of rules, and the scheduler may read them', async () => {
  const { request } = await createTestServer(ON)
  const rulesOf = async (role: string) => (await request('GET', `${ROLES}/${role}`)).value.rules
  const read = {
    verbs: ['get', 'list', 'watch'],
    apiGroups: ['resource.k8s.io'],
    resources: ['devicetaintrules'],
  }
  const write = {
    verbs: ['patch', 'update'],
    apiGroups: ['resource.k8s.io'],
    resources: ['devicetaintrules/status'],
  }
  const controller = await rulesOf('system:controller:device-taint-eviction-controller')
  assert.deepEqual(controller.slice(-2), [write, read])
  assert.deepEqual((await rulesOf('system:kube-scheduler')).at(-2), read)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, created, statusErrors, updateErrors } from '../fixtures.ts'

const MERGE = { 'content-type': 'application/merge-patch+json' }

const PV = { group: '', version: 'v1', kind: 'PersistentVolume', namespaced: false }
const CLAIM = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }
const NODE = { group: '', version: 'v1', kind: 'Node', namespaced: false }
const LIMIT_RANGE = { group: '', version: 'v1', kind: 'LimitRange' }
const volume = (spec: Draft): Draft => ({
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
})
const claim = (spec: Draft = {}): Draft => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
})

test('rules of persistent volumes', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{}, ['spec: Required value: must specify a volume type']],
    [
      { nfs: { server: 'a', path: 'b' } },
      ['spec.nfs.path: Invalid value: "b": must be an absolute path'],
    ],
    [
      { hostPath: { path: '/.' }, persistentVolumeReclaimPolicy: 'Recycle' },
      [
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      { hostPath: { path: '/a' }, nfs: { server: 'a', path: '/b' } },
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      { hostPath: { path: '/a' }, local: { path: '/a' } },
      ['spec.local: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      { capacity: { storage: '-1' }, hostPath: { path: '/a' } },
      [
        'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    [{ csi: { driver: 'a', volumeHandle: '' } }, ['spec.csi.volumeHandle: Required value']],
    [
      { local: { path: '/a' } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(createErrors(PV, volume(spec)), expected, JSON.stringify(spec))
})

test('rules of claims', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ accessModes: [] }, ['spec.accessModes: Required value: at least 1 access mode is required']],
    [
      { accessModes: ['X'] },
      [
        'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [{ resources: {} }, ['spec.resources[storage]: Required value']],
    [
      { resources: { requests: { storage: '0' } } },
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [{ dataSource: { kind: 'Foo', name: 'x' } }, []],
    [
      {
        dataSource: { kind: 'PersistentVolumeClaim', name: 'x' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'y' },
      },
      ['spec: Invalid value: {}: must match dataSourceRef'],
    ],
    [
      { dataSourceRef: { apiGroup: 'a.b', kind: '', name: '' } },
      [
        'spec.dataSource.name: Required value',
        'spec.dataSource.kind: Required value',
        'spec.dataSourceRef.name: Required value',
        'spec.dataSourceRef.kind: Required value',
      ],
    ],
    [
      { volumeMode: 'x' },
      ['spec.volumeMode: Unsupported value: "x": supported values: "Block", "Filesystem"'],
    ],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(createErrors(CLAIM, claim(spec)), expected, JSON.stringify(spec))
})

test('Given one data source of a claim, then the other is filled; one in another namespace stays alone.', () => {
  const source = { apiGroup: 'example.com', kind: 'Backup', name: 'b' }
  assert.deepEqual(created(CLAIM, claim({ dataSourceRef: source })).spec.dataSource, source)
  const elsewhere = { ...source, namespace: 'other' }
  assert.equal(created(CLAIM, claim({ dataSourceRef: elsewhere })).spec.dataSource, undefined)
  assert.equal(created(CLAIM, claim({ dataSource: source })).spec.dataSource, undefined)
})

test('what may change in a claim', () => {
  const shrunk = updateErrors(
    CLAIM,
    claim(),
    claim({ resources: { requests: { storage: '1Gi' } } }),
  )
  assert.equal(shrunk.length, 1)
  assert.match(shrunk[0]!, /^spec: Forbidden: spec is immutable after creation except/)
  const blocks = updateErrors(CLAIM, claim(), claim({ volumeMode: 'Block' }))
  assert.equal(blocks[1], 'volumeMode: Invalid value: "Block": field is immutable')
})

test('Given a claim whose volume has a class of attributes, then it may ask for another one, and not for none.', async () => {
  const { request } = await createTestServer()
  const path = '/api/v1/namespaces/ns/persistentvolumeclaims'
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'ns' } })
  const answers = async (asked: string | undefined, status: Draft): Promise<unknown[]> => {
    const { spec } = claim({ volumeName: 'v', volumeAttributesClassName: asked })
    await request('POST', path, { metadata: { name: 'c' }, spec })
    await request('PATCH', `${path}/c/status`, { status: { phase: 'Bound', ...status } }, MERGE)
    const all: unknown[] = []
    for (const volumeAttributesClassName of [null, '', 'silver']) {
      const wanted = { spec: { volumeAttributesClassName } }
      const { value } = await request('PATCH', `${path}/c?dryRun=All`, wanted, MERGE)
      all.push(value.details?.causes.map((cause: Draft) => `${cause.field}: ${cause.message}`))
    }
    await request('PATCH', `${path}/c`, { metadata: { finalizers: null } }, MERGE)
    await request('DELETE', `${path}/c`)
    return all
  }
  const refused = (what: string): string[] => [
    `spec.volumeAttributesClassName: Forbidden: update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`,
  ]
  const [toNone, toEmpty] = [refused('nil'), refused('empty string')]
  const applied = { currentVolumeAttributesClassName: 'gold' }
  assert.deepEqual(await answers('gold', applied), [toNone, toEmpty, undefined])
  assert.deepEqual(await answers('gold', {}), [undefined, undefined, undefined])
  // What does not change is not asked.
  assert.deepEqual(await answers('', applied), [toNone, undefined, undefined])
  assert.deepEqual(await answers(undefined, applied), [undefined, toEmpty, undefined])
})

test('Given a volume with a class of attributes, then it may have another one, and not none.', () => {
  const csi = { driver: 'a', volumeHandle: 'b' }
  const of = (volumeAttributesClassName?: string): Draft =>
    volume({ csi, volumeAttributesClassName })
  const none = (before?: string): string[] => updateErrors(PV, of(before), of())
  assert.deepEqual(none('gold'), [
    'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
  ])
  assert.deepEqual([none(), updateErrors(PV, of(), of('gold'))], [[], []])
  assert.deepEqual(updateErrors(PV, of('gold'), of('silver')), [])
})

test('Given a volume of a CSI driver, then the secret to expand it may be added, and nothing else of its source changes.', () => {
  const of = (more: Draft): Draft => volume({ csi: { driver: 'a', volumeHandle: 'b', ...more } })
  const secret = (name: string): Draft => ({ name, namespace: 'n' })
  const expand = (name: string): Draft => ({ controllerExpandSecretRef: secret(name) })
  const lines = (before: Draft, after: Draft): string[] =>
    updateErrors(PV, of(before), of(after)).flatMap((text) =>
      text.split('\n').filter((line) => /^[-+]/.test(line)),
    )
  assert.deepEqual(lines({}, expand('s')), [])
  assert.deepEqual(lines(expand('s'), expand('t')), ['-   "Name": "s",', '+   "Name": "t",'])
  assert.equal(lines(expand('s'), {}).at(-1), '+  "ControllerExpandSecretRef": null,')
  // What may be added is not told of beside what may not.
  assert.deepEqual(lines({}, { ...expand('s'), volumeHandle: 'c' }), [
    '-  "VolumeHandle": "b",',
    '+  "VolumeHandle": "c",',
  ])
  assert.equal(lines({}, { nodeExpandSecretRef: secret('s') })[0], '-  "NodeExpandSecretRef": null')
})

test('Given a volume with node affinity, when that changes, then the inner form is printed.', () => {
  const local = (key: string): Draft =>
    volume({
      local: { path: '/a' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
      },
    })
  assert.deepEqual(updateErrors(PV, local('a'), local('b')), [
    'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA',
  ])
})

test('rules of nodes', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [
      { podCIDR: 'x', podCIDRs: ['10.0.0.0/24'] },
      [
        'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      { podCIDRs: ['10.0.0.0/24', 'x'] },
      [
        'spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)',
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","x"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] },
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(createErrors(NODE, { spec }), expected, JSON.stringify(spec))
})

test('rules of limit ranges', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { type: 'Container', max: { cpu: '1' }, default: { cpu: '2' } },
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max value 1',
        'spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
      ],
    ],
    [
      { type: 'Pod', default: { cpu: '2' } },
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      { type: 'x' },
      ['spec.limits[0].type: Invalid value: "x": must be a standard limit type or fully qualified'],
    ],
    [
      { type: 'PersistentVolumeClaim' },
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
  ]
  for (const [limit, expected] of cases)
    assert.deepEqual(
      createErrors(LIMIT_RANGE, { spec: { limits: [limit] } }),
      expected,
      JSON.stringify(limit),
    )
})

test('images of a node without names belong to whoever sent them, until somebody sends other ones or an empty list', async () => {
  const { request } = await createTestServer()
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { a: 'b' } } }
  await request('POST', '/api/v1/nodes', node)
  const ownerAfter = async (manager: string, status: object): Promise<unknown> => {
    const path = `/api/v1/nodes/n/status?fieldManager=${manager}`
    const { value } = await request('PATCH', path, { status }, MERGE)
    assert.deepEqual(value.status.images, [{ names: null, sizeBytes: 1 }])
    const owners = value.metadata.managedFields as Draft[]
    return owners.find(({ fieldsV1 }) => fieldsV1['f:status']?.['f:images'] !== undefined)?.[
      'manager'
    ]
  }
  assert.equal(await ownerAfter('a', { images: [{ names: [], sizeBytes: 1 }] }), 'a')
  assert.equal(await ownerAfter('b', {}), 'a')
  assert.equal(await ownerAfter('c', { images: [{ sizeBytes: 1 }] }), 'a')
  assert.equal(await ownerAfter('d', { images: [{ names: [], sizeBytes: 1 }] }), 'd')
})

test('what is wrong with a declared feature: first its place, then its name', () => {
  const status = { declaredFeatures: ['b', 'a', 'a'] }
  const shown = statusErrors(NODE, {}, { status }).map((text) => text.slice(0, 63))
  assert.deepEqual(shown, [
    'status.declaredFeatures[0]: Invalid value: "b": invalid feature',
    'status.declaredFeatures[1]: Invalid value: "a": list must be so',
    'status.declaredFeatures[1]: Invalid value: "a": invalid feature',
    'status.declaredFeatures[2]: Duplicate value: "a"',
    'status.declaredFeatures[2]: Invalid value: "a": invalid feature',
  ])
})

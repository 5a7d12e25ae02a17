/** As kube-apiserver 1.36.2 answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, statusErrors } from '../fixtures.ts'

const VERSION = {
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  kind: 'StorageVersion',
  namespaced: false,
}
const NO_LABEL =
  /^metadata\.name: Invalid value: "[^"]*": the resource segment a DNS-1035 label must/
const NAMES: readonly (readonly [string, RegExp | undefined])[] = [
  ['apps.deployments', undefined],
  ['rbac.authorization.k8s.io.roles', undefined],
  [`${'a'.repeat(250)}.bcd`, undefined],
  ['deployments', /: name must be in the form of <group>\.<resource>$/],
  ['A_.x', /: the group segment a lowercase RFC 1123 subdomain must/],
  ['a.1x', NO_LABEL],
  ['x.', NO_LABEL],
  [`a.${'b'.repeat(64)}`, /: the resource segment must be no more than 63 characters$/],
]
for (const [name, wanted] of NAMES) {
  test(`the name ${name.slice(0, 40)}`, () => {
    const found = createErrors(VERSION, { metadata: { name } })
    assert.equal(found.length, wanted === undefined ? 0 : 1, found.join('\n'))
    if (wanted !== undefined) assert.match(found[0]!, wanted)
  })
}

const server = (more: object = {}): object => ({
  apiServerID: 's1',
  encodingVersion: 'v1',
  decodableVersions: ['v1'],
  ...more,
})
const V1 = { commonEncodingVersion: 'v1' }
const COMMON = 'status.commonEncodingVersion: Invalid value'
const NONE =
  'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
const two = [
  server(),
  server({ apiServerID: 's2', encodingVersion: 'v2', decodableVersions: ['v1', 'v2'] }),
]
const condition = (more: object = {}): object => ({
  type: 'A',
  status: 'True',
  reason: 'R',
  message: 'm',
  ...more,
})
const AT = 'status.storageVersions[0]'

const STATUSES: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['nothing', {}, []],
  ['one server', { storageVersions: [server({ servedVersions: ['v1'] })], ...V1 }, []],
  ['two that do not agree', { storageVersions: two }, []],
  ['two, and a version of all', { storageVersions: two, ...V1 }, [`${COMMON}: "v1": ${NONE}`]],
  ['a version of nobody', V1, [`${COMMON}: "v1": ${NONE}`]],
  [
    'no version of all',
    { storageVersions: [server()] },
    [`${COMMON}: null: the common encoding version is v1`],
  ],
  [
    'another version of all',
    { storageVersions: [server()], commonEncodingVersion: '' },
    [`${COMMON}: "": the actual common encoding version is v1`],
  ],
  [
    'a version that the server cannot read',
    { storageVersions: [server({ decodableVersions: null, servedVersions: ['v2'] })], ...V1 },
    [
      `${AT}.decodableVersions: Invalid value: null: decodableVersions must include encodingVersion v1`,
      `${AT}.servedVersions[0]: Invalid value: "v2": individual served version : v2 must be included in decodableVersions : []`,
    ],
  ],
  [
    'a server twice, without a name',
    { storageVersions: [server(), server()], ...V1 },
    ['status.storageVersions[1].apiServerID: Duplicate value: "s1"'],
  ],
  [
    'versions that are none',
    {
      storageVersions: [
        server({ decodableVersions: ['v1', '/v1', 'A_/v1', 'a/V_', 'a/b/c', '', '/'] }),
      ],
      ...V1,
    },
    [
      `${AT}.decodableVersions[1]: Invalid value: "/v1": group part: must be non-empty`,
      /\[2\]: Invalid value: "A_\/v1": group part: a lowercase RFC 1123 subdomain must/,
      /\[3\]: Invalid value: "a\/V_": version part: a DNS-1035 label must/,
      /\[4\]: Invalid value: "a\/b\/c": an apiVersion is a DNS-1035 label, which must/,
      `${AT}.decodableVersions[5]: Invalid value: "": version part: must be non-empty`,
      `${AT}.decodableVersions[6]: Invalid value: "/": group part: must be non-empty,version part: must be non-empty`,
    ],
  ],
  [
    'conditions',
    { conditions: [condition(), condition({ reason: '', message: '' })] },
    [
      'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
      'status[1].reason: Required value',
      'status[1].message: Required value',
    ],
  ],
]
for (const [title, status, wanted] of STATUSES) {
  test(`a status: ${title}`, () => {
    const found = statusErrors(VERSION, {}, { status })
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [index, text] of wanted.entries())
      if (typeof text === 'string') assert.equal(found[index], text)
      else assert.match(found[index]!, text)
  })
}

const PATH = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions'
const ON = {
  runtimeConfig: { 'internal.apiserver.k8s.io/v1alpha1': true },
  featureGates: { StorageVersionAPI: true },
  hostname: 'here',
}

test('a server says at its start in which versions it keeps what', async () => {
  const { request } = await createTestServer(ON)
  const statusOf = async (name: string) => (await request('GET', `${PATH}/${name}`)).value.status
  const { storageVersions, commonEncodingVersion, conditions } = await statusOf(
    'admissionregistration.k8s.io.mutatingadmissionpolicies',
  )
  const group = 'admissionregistration.k8s.io'
  const [{ apiServerID, ...versions }] = storageVersions
  assert.match(apiServerID, /^apiserver-[a-z2-7]{26}$/)
  assert.deepEqual(versions, {
    encodingVersion: `${group}/v1beta1`,
    decodableVersions: [`${group}/v1`, `${group}/v1beta1`, `${group}/v1alpha1`],
    servedVersions: [`${group}/v1`],
  })
  assert.equal(commonEncodingVersion, `${group}/v1beta1`)
  assert.deepEqual(
    conditions.map(({ type, status, reason }: Record<string, string>) => [type, status, reason]),
    [['AllEncodingVersionsEqual', 'True', 'CommonEncodingVersionSet']],
  )
  const events = await statusOf('core.events')
  assert.deepEqual(events.storageVersions[0].decodableVersions, ['v1', 'events.k8s.io/v1'])
  const { items } = (await request('GET', PATH)).value
  assert.equal(items.length, 59)
  const table = await request('GET', `${PATH}/core.pods`, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  assert.deepEqual(table.value.rows[0].cells, ['core.pods', 'v1', `${apiServerID}=v1`, '0s'])
})

test('versions that a server can read count, also where it serves others only', async () => {
  const versions = ['coordination.k8s.io/v1beta1', 'resource.k8s.io/v1beta2']
  const asked = [...versions, 'certificates.k8s.io/v1beta1'].map((version) => [version, true])
  const { request } = await createTestServer({
    ...ON,
    runtimeConfig: { ...ON.runtimeConfig, ...Object.fromEntries(asked) },
    featureGates: { ...ON.featureGates, ClusterTrustBundle: true },
  })
  for (const [name, early, late] of [
    ['coordination.k8s.io.leasecandidates', 'v1alpha2', 'v1beta1'],
    ['resource.k8s.io.devicetaintrules', 'v1alpha3', 'v1beta2'],
    ['certificates.k8s.io.clustertrustbundles', 'v1alpha1', 'v1beta1'],
  ] as const) {
    const { status } = (await request('GET', `${PATH}/${name}`)).value
    const [{ decodableVersions, servedVersions }] = status.storageVersions
    const group = name.slice(0, name.lastIndexOf('.'))
    assert.deepEqual(decodableVersions, [`${group}/${late}`, `${group}/${early}`])
    assert.deepEqual(servedVersions, [`${group}/${late}`])
  }
})

test('what another server says stays, and a former life of its own does not', async () => {
  const first = await createTestServer(ON)
  const url = `${PATH}/core.pods`
  const { storageVersions } = (await first.request('GET', url)).value.status
  const other = { apiServerID: 'other', encodingVersion: 'v2', decodableVersions: ['v2'] }
  const status = { storageVersions: [...storageVersions, other], commonEncodingVersion: null }
  const patch = { 'content-type': 'application/merge-patch+json' }
  const written = await first.request('PATCH', `${url}/status`, { status }, patch)
  assert.equal(written.status, 200)
  await first.server.stop(0)
  const second = await createTestServer({ ...ON, store: first.server.store, clock: first.clock })
  const after = (await second.request('GET', url)).value.status
  assert.deepEqual(
    after.storageVersions.map((one: { encodingVersion: string }) => one.encodingVersion),
    ['v2', 'v1'],
  )
  assert.equal(after.commonEncodingVersion, undefined)
  assert.equal(after.conditions[0].reason, 'CommonEncodingVersionUnset')
})

test('without the gate nothing is said, and nobody collects it', async () => {
  const role =
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:storage-version-garbage-collector'
  assert.equal((await (await createTestServer(ON)).request('GET', role)).status, 200)
  const { request } = await createTestServer({ ...ON, featureGates: {} })
  assert.deepEqual((await request('GET', PATH)).value.items, [])
  assert.equal((await request('GET', role)).status, 404)
})

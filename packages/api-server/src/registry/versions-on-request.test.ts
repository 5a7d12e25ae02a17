/** Kinds of v1 in the versions before it: the same objects. As kube-apiserver 1.36.2 answered with api/all=true. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'
import { parseRuntimeConfig, type RuntimeConfig } from './runtime-config.ts'

const ALL = {
  runtimeConfig: parseRuntimeConfig(['api/all=true']) as RuntimeConfig,
  featureGates: { ClusterTrustBundle: true },
}
const MERGE = { 'content-type': 'application/merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

function selfSigned(): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName: 'ca' }
  const times = { notBeforeMs: 0, notAfterMs: 1_000, serialNumber: Uint8Array.of(1) }
  return issueCertificate(
    { subject, publicKey, usage: 'authority', ...times },
    { subject, privateKey },
  )
}

interface Repeated {
  /** The first keeps the objects. */
  readonly versions: readonly string[]
  readonly path: string
  readonly name?: string
  readonly kind: string
  /** By version; the first for those that are not named. */
  readonly fields: Readonly<Record<string, object>>
  /** Of each version but the first: since and end. */
  readonly deprecated: Readonly<Record<string, readonly [number, number, string?]>>
}

const mutation = {
  patchType: 'JSONPatch',
  jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "Pod"}]' },
}
const policy = {
  spec: {
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['pods'],
          scope: '*',
        },
      ],
    },
    mutations: [mutation],
    reinvocationPolicy: 'Never',
  },
}
const wanted = { deviceClassName: 'c.example.com', allocationMode: 'ExactCount', count: 1 }
const claimOf = (request: object): object => ({
  devices: { requests: [{ name: 'r', ...request }] },
})
const sliceOf = (device: object): object => ({
  spec: {
    driver: 'd.example.com',
    pool: { name: 'p', resourceSliceCount: 1 },
    allNodes: true,
    devices: [{ name: 'd', ...device }],
  },
})
const attributes = { attributes: { x: { int: 1 } } }
const DEVICES = {
  versions: ['v1', 'v1beta2', 'v1beta1'],
  deprecated: { v1beta2: [36, 39], v1beta1: [35, 38] },
} as const
const POLICIES = {
  versions: ['v1', 'v1beta1', 'v1alpha1'],
  deprecated: { v1alpha1: [35, 38] },
} as const
const NETWORK = { versions: ['v1', 'v1beta1'], deprecated: { v1beta1: [34, 37] } } as const

const REPEATED: readonly Repeated[] = [
  {
    ...POLICIES,
    path: 'admissionregistration.k8s.io/VERSION/mutatingadmissionpolicies',
    kind: 'MutatingAdmissionPolicy',
    fields: { v1: policy },
  },
  {
    ...POLICIES,
    path: 'admissionregistration.k8s.io/VERSION/mutatingadmissionpolicybindings',
    kind: 'MutatingAdmissionPolicyBinding',
    fields: { v1: { spec: { policyName: 'p' } } },
  },
  {
    versions: ['v1beta1', 'v1alpha1'],
    deprecated: { v1alpha1: [34, 37] },
    path: 'certificates.k8s.io/VERSION/clustertrustbundles',
    kind: 'ClusterTrustBundle',
    fields: { v1beta1: { spec: { trustBundle: selfSigned() } } },
  },
  {
    versions: ['v1beta1', 'v1alpha2'],
    deprecated: { v1beta1: [36, 39], v1alpha2: [35, 38] },
    path: 'coordination.k8s.io/VERSION/namespaces/default/leasecandidates',
    kind: 'LeaseCandidate',
    fields: {
      v1beta1: { spec: { leaseName: 'l', binaryVersion: '1.36.0', strategy: 'example.com/mine' } },
    },
  },
  {
    ...NETWORK,
    path: 'networking.k8s.io/VERSION/ipaddresses',
    name: '10.0.9.9',
    kind: 'IPAddress',
    fields: { v1: { spec: { parentRef: { resource: 'services', name: 's', namespace: 'n' } } } },
  },
  {
    ...NETWORK,
    path: 'networking.k8s.io/VERSION/servicecidrs',
    kind: 'ServiceCIDR',
    fields: { v1: { spec: { cidrs: ['10.7.0.0/24'] } } },
  },
  {
    ...DEVICES,
    path: 'resource.k8s.io/VERSION/deviceclasses',
    kind: 'DeviceClass',
    fields: { v1: { spec: { selectors: [{ cel: { expression: 'true' } }] } } },
  },
  {
    ...DEVICES,
    path: 'resource.k8s.io/VERSION/namespaces/default/resourceclaims',
    kind: 'ResourceClaim',
    fields: { v1: { spec: claimOf({ exactly: wanted }) }, v1beta1: { spec: claimOf(wanted) } },
  },
  {
    ...DEVICES,
    path: 'resource.k8s.io/VERSION/namespaces/default/resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    fields: {
      v1: { spec: { spec: claimOf({ exactly: wanted }) } },
      v1beta1: { spec: { spec: claimOf(wanted) } },
    },
  },
  {
    ...DEVICES,
    path: 'resource.k8s.io/VERSION/resourceslices',
    kind: 'ResourceSlice',
    fields: { v1: sliceOf(attributes), v1beta1: sliceOf({ basic: attributes }) },
  },
  {
    versions: ['v1', 'v1beta1'],
    deprecated: { v1beta1: [34, 37, 'storage.k8s.io/v1 VolumeAttributesClass'] },
    path: 'storage.k8s.io/VERSION/volumeattributesclasses',
    kind: 'VolumeAttributesClass',
    fields: { v1: { driverName: 'd.example.com', parameters: { a: 'b' } } },
  },
]

/** What all versions say alike. */
function contentOf({
  apiVersion: _version,
  kind: _kind,
  metadata: _metadata,
  ...content
}: AnyValue): AnyValue {
  return content
}

for (const { versions, path, name = 'a', kind, fields, deprecated } of REPEATED) {
  const at = (version: string): string => `/apis/${path.replace('VERSION', version)}`
  const group = path.slice(0, path.indexOf('/'))
  const fieldsIn = (version: string): object => fields[version] ?? fields[versions[0]!]!

  test(`${kind}: made in any version, it reads alike in all, and says in which it stands`, async () => {
    const { request } = await createTestServer(ALL)
    const views: AnyValue[] = []
    for (const sent of versions) {
      const body = { metadata: { name }, ...fieldsIn(sent) }
      const created = await request('POST', at(sent), body)
      assert.equal(created.status, 201, created.value.message)
      const view: Record<string, AnyValue> = {}
      for (const read of versions) {
        const { value } = await request('GET', `${at(read)}/${name}`)
        assert.equal(value.apiVersion, `${group}/${read}`)
        const list = await request('GET', at(read))
        const listed = list.value.items.find((one: AnyValue) => one.metadata.name === name)
        assert.deepEqual(contentOf(value), contentOf(listed))
        view[read] = contentOf(value)
      }
      views.push(view)
      const clean = { metadata: { finalizers: null } }
      await request('PATCH', `${at(sent)}/${name}`, clean, MERGE)
      await request('DELETE', `${at(sent)}/${name}`)
    }
    for (const view of views) assert.deepEqual(view, views[0])
  })

  test(`${kind}: who owns a field in one version owns it in the others`, async () => {
    const { request } = await createTestServer(ALL)
    const apply = (version: string, manager: string): ReturnType<typeof request> =>
      request(
        'PATCH',
        `${at(version)}/${name}?fieldManager=${manager}`,
        { apiVersion: `${group}/${version}`, kind, metadata: { name }, ...fieldsIn(version) },
        APPLY,
      )
    for (const version of versions) {
      const applied = await apply(version, version)
      assert.ok(applied.status < 300, applied.value.message)
    }
    const { value } = await request('GET', `${at(versions[0]!)}/${name}`)
    const owners: readonly AnyValue[] = value.metadata.managedFields.filter(
      ({ operation }: AnyValue) => operation === 'Apply',
    )
    assert.deepEqual(
      owners.map(({ manager, apiVersion }) => [manager, apiVersion]).toSorted(),
      versions.map((version) => [version, `${group}/${version}`]).toSorted(),
    )
    const label = { metadata: { labels: { l: 'm' } } }
    const last = `${at(versions.at(-1)!)}/${name}?fieldManager=labels`
    const patched = await request('PATCH', last, label, MERGE)
    assert.equal(patched.value.metadata.managedFields.length, versions.length + 1)
  })

  test(`${kind}: a version that will go says so`, async () => {
    const { request } = await createTestServer(ALL)
    for (const version of versions) {
      const { headers } = await request('GET', at(version))
      const [since, end, successor] = deprecated[version] ?? []
      const text = `${group}/${version} ${kind} is deprecated in v1.${since}+, unavailable in v1.${end}+${successor === undefined ? '' : `; use ${successor}`}`
      assert.deepEqual(headers['warning'], since === undefined ? undefined : [`299 - "${text}"`])
    }
  })
}

test('versions stand in discovery by their priority, and v1 is preferred', async () => {
  const { request } = await createTestServer(ALL)
  const versionsOf = async (group: string): Promise<AnyValue> => {
    const { value } = await request('GET', `/apis/${group}`)
    return [value.preferredVersion.version, ...value.versions.map((one: AnyValue) => one.version)]
  }
  assert.deepEqual(await versionsOf('resource.k8s.io'), [
    'v1',
    'v1',
    'v1beta2',
    'v1beta1',
    'v1alpha3',
  ])
  assert.deepEqual(await versionsOf('admissionregistration.k8s.io'), [
    'v1',
    'v1',
    'v1beta1',
    'v1alpha1',
  ])
  assert.deepEqual(await versionsOf('coordination.k8s.io'), ['v1', 'v1', 'v1beta1', 'v1alpha2'])
  const services = (await request('GET', '/apis/apiregistration.k8s.io/v1/apiservices')).value.items
  const priorities = Object.fromEntries(
    services.map(({ metadata, spec }: AnyValue) => [metadata.name, spec.versionPriority]),
  )
  for (const [name, priority] of [
    ['v1beta1.admissionregistration.k8s.io', 12],
    ['v1alpha1.admissionregistration.k8s.io', 9],
    ['v1beta1.certificates.k8s.io', 9],
    ['v1alpha1.certificates.k8s.io', 1],
    ['v1alpha2.coordination.k8s.io', 12],
    ['v1beta1.networking.k8s.io', 9],
    ['v1beta1.resource.k8s.io', 9],
    ['v1beta1.storage.k8s.io', 9],
  ] as const)
    assert.equal(priorities[name], priority, name)
})

const BINDINGS = '/apis/admissionregistration.k8s.io/VERSION/mutatingadmissionpolicybindings'

test('in v1alpha1 a binding need not say what becomes of missing parameters', async () => {
  const { request } = await createTestServer(ALL)
  const body = { metadata: { name: 'a' }, spec: { policyName: 'p', paramRef: { name: 'q' } } }
  const refused = await request('POST', BINDINGS.replace('VERSION', 'v1beta1'), body)
  assert.match(refused.value.message, /spec\.paramRef\.parameterNotFoundAction: Required value/)
  const created = await request('POST', BINDINGS.replace('VERSION', 'v1alpha1'), body)
  assert.equal(created.value.spec.paramRef.parameterNotFoundAction, 'Deny')
  const [{ fieldsV1 }] = created.value.metadata.managedFields
  assert.ok('f:paramRef' in fieldsV1['f:spec'])
})

const CLAIMS = '/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims'
const SLICES = '/apis/resource.k8s.io/v1beta1/resourceslices'
const claim = (request: object): object => ({ metadata: { name: 'a' }, spec: claimOf(request) })

test('a claim of v1beta1 is judged as one of v1, whose fields its faults name', async () => {
  const { request } = await createTestServer(ALL)
  const faults = async (asked: object): Promise<readonly string[]> => {
    const { value } = await request('POST', CLAIMS, claim(asked))
    return value.details.causes.map(({ field }: AnyValue) => field)
  }
  const at = 'spec.devices.requests[0]'
  assert.deepEqual(await faults({}), [at])
  assert.deepEqual(await faults({ allocationMode: '' }), [at])
  const unclear = [`${at}.exactly.deviceClassName`, `${at}.exactly.allocationMode`]
  assert.deepEqual(await faults({ tolerations: [] }), unclear)
  assert.deepEqual(await faults({ adminAccess: false }), unclear)
  assert.deepEqual(await faults({ deviceClassName: '_', count: -1 }), [
    `${at}.exactly.deviceClassName`,
    `${at}.exactly.count`,
  ])
})

test('a trial run shows what would be stored', async () => {
  const { request } = await createTestServer(ALL)
  const body = { metadata: { name: 'a' }, spec: { devices: { requests: [] } } }
  const { value } = await request('POST', `${CLAIMS}?dryRun=All`, body)
  assert.deepEqual(value.spec, { devices: { requests: null } })
})

test('an empty name of a node and a false flag are nothing in a slice of v1beta1', async () => {
  const { request } = await createTestServer(ALL)
  const slice: AnyValue = { metadata: { name: 'a' }, ...sliceOf({}) }
  const named = { ...slice, spec: { ...slice.spec, nodeName: '' } }
  const created = await request('POST', SLICES, named)
  assert.equal(created.status, 201, created.value.message)
  assert.equal('nodeName' in created.value.spec, false)
  const unplaced = { ...slice, spec: { ...slice.spec, allNodes: false } }
  const { causes } = (await request('POST', SLICES, unplaced)).value.details
  assert.deepEqual(
    causes.map(({ field }: AnyValue) => field),
    ['spec'],
  )
})

test('what a patch makes an object of another version has the fields of that', async () => {
  const { request } = await createTestServer(ALL)
  await request('POST', SLICES, { metadata: { name: 'a' }, ...sliceOf({ basic: attributes }) })
  const asV1 = { apiVersion: 'resource.k8s.io/v1' }
  const devices = [{ name: 'd', attributes: { y: { bool: true } } }]
  const { value } = await request('PATCH', `${SLICES}/a`, { ...asV1, spec: { devices } }, MERGE)
  assert.equal(value.apiVersion, 'resource.k8s.io/v1beta1')
  assert.deepEqual(value.spec.devices, [
    { name: 'd', basic: { attributes: { y: { bool: true } } } },
  ])
  const lost = await request('PATCH', `${SLICES}/a`, asV1, MERGE)
  assert.deepEqual(lost.value.spec.devices, [{ name: 'd', basic: {} }])
})

test('a watch tells objects in its own version', async () => {
  const { request, watch } = await createTestServer(ALL)
  const { events } = await watch(`${SLICES}?watch=true`)
  const body = { metadata: { name: 'a' }, ...sliceOf(attributes) }
  await request('POST', SLICES.replace('v1beta1', 'v1'), body)
  const [{ object }] = events as readonly AnyValue[]
  assert.deepEqual(
    [object.apiVersion, object.spec.devices],
    ['resource.k8s.io/v1beta1', [{ name: 'd', basic: attributes }]],
  )
})

test('a list that is given empty is given, in every version', async () => {
  const { request } = await createTestServer(ALL)
  for (const version of ['v1', 'v1beta2', 'v1beta1']) {
    const slice: AnyValue = { metadata: { name: 'a' }, ...sliceOf({}) }
    const both = { ...slice, spec: { ...slice.spec, sharedCounters: [] } }
    const { value } = await request('POST', SLICES.replace('v1beta1', version), both)
    assert.match(value.message, /only one of `sharedCounters` or `devices` is allowed/, version)
  }
})

test('what is printed of a spec that may not change has the empty lists that were given', async () => {
  const { request } = await createTestServer(ALL)
  await request('POST', CLAIMS, claim({ deviceClassName: 'c' }))
  for (const version of ['v1', 'v1beta2', 'v1beta1']) {
    const requests = [{ name: 'r', firstAvailable: [] }]
    const changed = { metadata: { name: 'a' }, spec: { devices: { requests, constraints: [] } } }
    const { value } = await request('PUT', `${CLAIMS.replace('v1beta1', version)}/a`, changed)
    assert.match(value.message, /"FirstAvailable":\[\]}\],"Constraints":\[\]/, version)
  }
})

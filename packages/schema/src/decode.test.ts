import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from './objects.ts'
import { DecodeError, decodeObject, emptyStatus, givenValue } from './decode.ts'
import { parseJson } from './json/json.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }
const decode = (type: typeof POD, value: unknown): Draft => decodeObject(type, value)!.object

test('types are told in the version that was sent, also where versions share a definition', () => {
  const refusal = ([group, version, kind]: readonly [string, string, string], value: unknown) => {
    try {
      decodeObject({ group, version, kind }, value)
    } catch (error) {
      return (error as Error).message.replace(/^.* of type /, '')
    }
    return 'taken'
  }
  const of = {
    networking: ['networking.k8s.io', 'v1beta1', 'IPAddress'],
    devices: ['resource.k8s.io', 'v1beta2', 'ResourceSlice'],
    flatDevices: ['resource.k8s.io', 'v1beta1', 'ResourceSlice'],
    policies: ['admissionregistration.k8s.io', 'v1alpha1', 'MutatingAdmissionPolicy'],
  } as const
  const device = (fields: object): object => ({ spec: { devices: [fields] } })
  const basic = (fields: object): object => device({ basic: fields })
  const rules = (rule: object): object => ({
    spec: { matchConstraints: { resourceRules: [rule] } },
  })
  for (const [kind, value, wanted] of [
    ['networking', { spec: 'x' }, 'v1beta1.IPAddressSpec'],
    ['networking', [], 'v1beta1.IPAddress'],
    ['devices', device({ attributes: { a: [] } }), 'v1beta2.DeviceAttribute'],
    ['devices', device({ attributes: [] }), 'map[v1beta2.QualifiedName]v1beta2.DeviceAttribute'],
    ['devices', device({ taints: [{ effect: 5 }] }), 'v1beta2.DeviceTaintEffect'],
    ['devices', device({ nodeSelector: [] }), 'v1.NodeSelector'],
    ['flatDevices', basic([]), 'v1beta1.BasicDevice'],
    ['flatDevices', basic({ taints: 'x' }), '[]v1beta1.DeviceTaint'],
    ['policies', { spec: { failurePolicy: 5 } }, 'v1alpha1.FailurePolicyType'],
    ['policies', { spec: { matchConstraints: { matchPolicy: 5 } } }, 'v1alpha1.MatchPolicyType'],
    ['policies', rules({ operations: [5] }), 'v1.OperationType'],
    ['policies', rules({ scope: 5 }), 'v1.ScopeType'],
    ['policies', rules([]), 'v1alpha1.NamedRuleWithOperations'],
  ] as const)
    assert.equal(refusal(of[kind], value), wanted, JSON.stringify(value))
})

test('the first field of a wrong type ends decoding, in the words of Go', () => {
  const containers = [{ ports: [{ containerPort: 'x' }] }]
  const cases: readonly (readonly [typeof POD, unknown, string])[] = [
    [
      POD,
      { spec: { containers } },
      'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    ],
    [
      POD,
      { spec: { containers: {} } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      POD,
      { spec: { containers: [[]] } },
      'json: cannot unmarshal array into Go struct field PodSpec.spec.containers of type v1.Container',
    ],
    [
      POD,
      { spec: { containers: [{ securityContext: { capabilities: { drop: [5] } } }] } },
      'json: cannot unmarshal number into Go struct field Capabilities.spec.containers.securityContext.capabilities.drop of type v1.Capability',
    ],
    [
      POD,
      { spec: { priority: 80.5 } },
      'json: cannot unmarshal number 80.5 into Go struct field PodSpec.spec.priority of type int32',
    ],
    [
      POD,
      { spec: { volumes: [{ emptyDir: [] }] } },
      'json: cannot unmarshal array into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    ],
    [
      POD,
      { metadata: { labels: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      POD,
      { spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      { group: 'apps', version: 'v1', kind: 'Deployment' },
      { spec: { replicas: 'three' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      { group: '', version: 'v1', kind: 'ConfigMap' },
      { binaryData: { b: 5 } },
      'json: cannot unmarshal number into Go struct field ConfigMap.binaryData of type []uint8',
    ],
    [
      { group: '', version: 'v1', kind: 'ConfigMap' },
      { binaryData: { b: '!' } },
      'illegal base64 data at input byte 0',
    ],
  ]
  for (const [type, value, message] of cases)
    assert.throws(() => decode(type, value), { name: 'DecodeError', message })
})

const CRD = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' }
const withSchema = (l: unknown): Draft => ({
  spec: { versions: [{ schema: { openAPIV3Schema: { type: 'object', properties: { l } } } }] },
})
const schemaOf = (l: unknown): unknown =>
  decode(CRD, withSchema(l)).spec.versions[0].schema.openAPIV3Schema.properties.l

test('schemas inside schemas are read like the outermost: empty values go, unknown fields without a word', () => {
  const items = {
    type: 'object',
    id: '',
    foo: 1,
    nullable: false,
    uniqueItems: false,
    required: [],
    properties: {
      a: { type: 'string', bar: 2, description: '', 'x-kubernetes-list-type': null },
      nest: { type: 'array', items: { type: 'string', title: '', 'x-kubernetes-validations': [] } },
    },
  }
  assert.deepEqual(schemaOf({ type: 'array', items }), {
    type: 'array',
    items: {
      type: 'object',
      properties: { a: { type: 'string' }, nest: { type: 'array', items: { type: 'string' } } },
    },
  })
  assert.deepEqual(decodeObject(CRD, withSchema({ items }))!.problems, [])
  for (const [given, kept] of [
    [
      { additionalProperties: { type: 'string', id: '', 'x-y': 'z' } },
      { additionalProperties: { type: 'string' } },
    ],
    [{ additionalProperties: true }, { additionalProperties: true }],
    [{ additionalProperties: false }, { additionalProperties: false }],
    [{ additionalProperties: null }, {}],
    [{ maxLength: 0, nullable: false }, { maxLength: 0 }],
    [{ items: [{ type: 'string', id: '' }] }, { items: [{ type: 'string' }] }],
    [{ items: [] }, {}],
    [{ items: 5 }, {}],
    [{ items: [null] }, { items: [{}] }],
    [
      { dependencies: { a: ['b'], c: { type: 'string', id: '' } } },
      { dependencies: { a: ['b'], c: { type: 'string' } } },
    ],
  ] as const)
    assert.deepEqual(schemaOf(given), kept)
})

test('a wrong type inside a schema inside a schema is refused with its whole path', () => {
  const at =
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties'
  for (const [given, message] of [
    [{ items: { type: 5 } }, `${at}.items.type of type string`],
    [{ items: [{ type: 5 }] }, `${at}.items.type of type string`],
    [{ items: { properties: { a: { type: 5 } } } }, `${at}.items.properties.type of type string`],
    [{ items: [1] }, `${at}.items of type v1.JSONSchemaProps`],
    [{ items: [{}, 1] }, `${at}.items of type v1.JSONSchemaProps`],
    [{ additionalProperties: { type: 5 } }, `${at}.additionalProperties.type of type string`],
    [{ additionalProperties: 5 }, 'boolean or JSON schema expected'],
    [{ additionalProperties: [] }, 'boolean or JSON schema expected'],
  ] as const)
    assert.throws(() => schemaOf(given), { name: 'DecodeError', message })
})

test('what Go writes as null when nobody set it: references, keys and conditions of some kinds', () => {
  const tokens = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }
  assert.equal(decode(tokens, { spec: { audiences: ['a'] } }).spec.boundObjectRef, null)
  const csi = { group: 'storage.k8s.io', version: 'v1', kind: 'CSINode' }
  const drivers = [{ name: 'a', nodeID: 'b' }]
  assert.equal(decode(csi, { spec: { drivers } }).spec.drivers[0].topologyKeys, null)
  const ingress = { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' }
  const defaultBackend = { resource: { kind: 'A', name: 'b' } }
  assert.deepEqual(decode(ingress, { spec: { defaultBackend } }).spec.defaultBackend.resource, {
    apiGroup: null,
    kind: 'A',
    name: 'b',
  })
})

test('Given Lease renewTime without fraction, then 400.', () => {
  const lease = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' }
  assert.throws(() => decode(lease, { spec: { renewTime: '2020-01-01T00:00:00Z' } }), {
    message:
      'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  })
  assert.equal(
    decode(lease, { spec: { renewTime: '2020-01-01T01:00:00.123456+01:00' } }).spec.renewTime,
    '2020-01-01T00:00:00.123456Z',
  )
})

test('times are UTC and whole seconds; what is no time is refused with the step that failed', () => {
  const at = (text: string): Draft => decode(POD, { metadata: { deletionTimestamp: text } })
  assert.equal(at('2020-01-01T02:00:00.9+02:00').metadata.deletionTimestamp, '2020-01-01T00:00:00Z')
  assert.throws(() => at('yesterday'), {
    message:
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  })
  assert.throws(() => at('2020-01-01'), {
    message: 'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
  })
})

test('the zero time is none, and a lower-case t makes none', () => {
  const event = { group: '', version: 'v1', kind: 'Event' }
  assert.equal(decode(event, { lastTimestamp: '0001-01-01T00:00:00Z' }).lastTimestamp, null)
  assert.throws(() => decode(event, { lastTimestamp: '2024-01-01t00:00:00Z' }), DecodeError)
  assert.throws(() => decode(event, { lastTimestamp: '2024-02-30T00:00:00Z' }), DecodeError)
})

test('spaces around a quantity are trimmed; amounts of resources are whole thousandths', () => {
  const capacity = (storage: unknown, type = 'PersistentVolume'): unknown =>
    decode({ group: '', version: 'v1', kind: type }, { spec: { capacity: { storage } } }).spec
      .capacity.storage
  assert.equal(capacity(' 1 '), '1')
  assert.throws(() => capacity('\t1Gi\n'), DecodeError)
  assert.equal(capacity('0.5m'), '1m')
  assert.equal(capacity('-1500u'), '-2m')
  assert.equal(capacity('1E-5'), '1e-3')
  const claim = { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceClaim' }
  const requests = [{ name: 'a', exactly: { capacity: { requests: { m: '1u' } } } }]
  assert.equal(
    decode(claim, { spec: { devices: { requests } } }).spec.devices.requests[0].exactly.capacity
      .requests.m,
    '1u',
  )
})

test('integers are written as integers: Go reads no fraction and no exponent into one, even of a whole number', () => {
  const of = (text: string): Draft => {
    const parsed = parseJson(text)
    return decodeObject(POD, parsed.value, parsed)!.object
  }
  const spec = 'json: cannot unmarshal number'
  for (const [text, why] of [
    [
      '{"spec":{"priority":3.0}}',
      `${spec} 3.0 into Go struct field PodSpec.spec.priority of type int32`,
    ],
    [
      '{"spec":{"priority":1e3}}',
      `${spec} 1e3 into Go struct field PodSpec.spec.priority of type int32`,
    ],
    [
      '{"spec":{"terminationGracePeriodSeconds" : -0.50E+1 }}',
      `${spec} -0.50E+1 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64`,
    ],
    [
      '{"spec":{"priority":1,"priority":1.0}}',
      `${spec} 1.0 into Go struct field PodSpec.spec.priority of type int32`,
    ],
    [
      '{"spec":{"securityContext":{"supplementalGroups":[1,2.0]}}}',
      `${spec} 2.0 into Go struct field PodSecurityContext.spec.securityContext.supplementalGroups of type int64`,
    ],
  ] as const)
    assert.throws(() => of(text), new DecodeError(why), text)
  // Text within strings, and numbers of other fields.
  const { spec: kept } = of(
    '{"metadata":{"name":"a.1e5"},"spec":{"priority":3,"hostname":"1.0:2.0,3e4","overhead":{"cpu":1.50,"memory":1e3}}}',
  )
  assert.deepEqual(
    [kept.priority, kept.hostname, kept.overhead],
    [3, '1.0:2.0,3e4', { cpu: '1500m', memory: '1e3' }],
  )
})

test('unknown and repeated fields are reported in document order, and dropped', () => {
  const parsed = parseJson(
    '{"foo":1,"metadata":{"name":"a"},"metadata":{"bar":1},"data":{"a":"1","a":"2"},"Kind":"x"}',
  )
  const { object, problems } = decodeObject(
    { group: '', version: 'v1', kind: 'ConfigMap' },
    parsed.value,
    parsed,
  )!
  assert.deepEqual(problems, [
    'unknown field "foo"',
    'duplicate field "metadata"',
    'unknown field "metadata.bar"',
    'duplicate field "data.a"',
    'unknown field "Kind"',
  ])
  assert.deepEqual(object, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a' },
    data: { a: '2' },
  })
})

test('a repeated field is told of once, one that is unknown as that alone, and both as Go quotes them', () => {
  const problemsOf = (spec: string): readonly string[] => {
    const parsed = parseJson(`{"metadata":{"labels":{"a":"1","a":"2","a":"3"}},"spec":${spec}}`)
    return decodeObject(POD, parsed.value, parsed)!.problems.slice(1)
  }
  for (const [spec, problems] of [
    ['{"x":1,"y":1,"x":2,"x":3}', ['unknown field "spec.x"', 'unknown field "spec.y"']],
    ['{"nodeName":"a","nodeName":"b","nodeName":"c"}', ['duplicate field "spec.nodeName"']],
    [
      '{"securityContext":{"q":1},"securityContext":{"q":2}}',
      ['unknown field "spec.securityContext.q"', 'duplicate field "spec.securityContext"'],
    ],
    [
      '{"a\\u007fb":1,"x\\u000by":2,"z\\u200bz":3,"q\\"r\\\\":5,"é":1}',
      [
        String.raw`unknown field "spec.a\x7fb"`,
        String.raw`unknown field "spec.x\vy"`,
        String.raw`unknown field "spec.z\u200bz"`,
        String.raw`unknown field "spec.q\"r\\"`,
        'unknown field "spec.é"',
      ],
    ],
  ] as const)
    assert.deepEqual(problemsOf(spec), problems, spec)
})

test('list positions stand in the path of an unknown field', () => {
  const { problems } = decodeObject(POD, { spec: { containers: [{ env: [{ valu: '1' }] }] } })!
  assert.deepEqual(problems, ['unknown field "spec.containers[0].env[0].valu"'])
})

test('empty optional fields are left out, fields that are always written are filled in', () => {
  const object = decode(POD, {
    metadata: { labels: {} },
    spec: {
      nodeName: '',
      hostNetwork: false,
      priority: 0,
      volumes: [],
      containers: [{ name: 'c', stdin: false }],
    },
  })
  assert.deepEqual(object.metadata, {})
  assert.deepEqual(object.spec, { priority: 0, containers: [{ name: 'c', resources: {} }] })
  assert.deepEqual(object.status, {})
})

test('what clients see although it is unset', () => {
  assert.equal(
    decode({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' }, {}).rules,
    null,
  )
  const event = decode({ group: '', version: 'v1', kind: 'Event' }, {})
  assert.deepEqual(
    [event.eventTime, event.firstTimestamp, event.source, event.reportingComponent],
    [null, null, {}, ''],
  )
  assert.deepEqual(decode({ group: '', version: 'v1', kind: 'Service' }, {}).status, {
    loadBalancer: {},
  })
  const { daemonEndpoints, nodeInfo } = emptyStatus({ group: '', version: 'v1', kind: 'Node' })!
  assert.deepEqual(daemonEndpoints, { kubeletEndpoint: { Port: 0 } })
  assert.equal(Object.keys(nodeInfo).length, 10)
})

test('a zero that is left out is none', () => {
  const kind = 'CustomResourceDefinition'
  const conditions = [{ type: 'A', status: 'True', observedGeneration: 0 }]
  const object = decode(
    { group: 'apiextensions.k8s.io', version: 'v1', kind },
    { status: { conditions } },
  )
  assert.equal('observedGeneration' in object.status.conditions[0], false)
})

test('null is absence, in lists and maps the zero value', () => {
  const object = decode(POD, {
    metadata: { labels: { a: null } },
    spec: { volumes: null, containers: [null] },
  })
  assert.deepEqual(object.metadata.labels, { a: '' })
  assert.deepEqual(object.spec.containers, [{ name: '', resources: {} }])
  assert.equal(object.spec.volumes, undefined)
})

test('a key named __proto__ is a key like others', () => {
  const { value } = parseJson('{"data":{"__proto__":"x"}}')
  const object = decode({ group: '', version: 'v1', kind: 'ConfigMap' }, value)
  assert.deepEqual(Object.keys(object.data), ['__proto__'])
  assert.equal(Object.getPrototypeOf(object.data), Object.prototype)
})

test('messages can tell an empty list from none', () => {
  const ingress = decode(
    { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' },
    { spec: { rules: [] } },
  )
  assert.deepEqual(givenValue(ingress.spec, 'rules'), [])
  assert.equal(givenValue(ingress.spec, 'tls'), null)
})

test('kinds that are not built in have no schema', () => {
  assert.equal(decodeObject({ group: 'example.com', version: 'v1', kind: 'Widget' }, {}), undefined)
  assert.ok(new DecodeError('x') instanceof Error)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { context, createErrors, created, decoded, updateErrors } from '../fixtures.ts'
import { rulesFor } from '../index.ts'

const type = (kind: string, namespaced = true) => ({ group: '', version: 'v1', kind, namespaced })
const SERVICE = type('Service')
const NODE = type('Node', false)
const CLAIM = type('PersistentVolumeClaim')
const VOLUME = type('PersistentVolume', false)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('a namespace: label with its name, finalizer, phase', () => {
  const { metadata, spec, status } = created(type('Namespace', false), { metadata: { name: 'n' } })
  assert.deepEqual(
    [metadata.labels, spec, status],
    [{ 'kubernetes.io/metadata.name': 'n' }, { finalizers: ['kubernetes'] }, { phase: 'Active' }],
  )
  assert.equal(
    decoded(type('Namespace', false), {
      metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'other' } },
    }).metadata.labels['kubernetes.io/metadata.name'],
    'n',
  )
})

test('defaults of a service', () => {
  const { spec } = decoded(SERVICE, {
    spec: { ports: [{ port: 80 }], sessionAffinity: 'ClientIP' },
  })
  assert.deepEqual(spec, {
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    type: 'ClusterIP',
    internalTrafficPolicy: 'Cluster',
  })
  const balancer = decoded(SERVICE, { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }).spec
  assert.deepEqual(
    [balancer.externalTrafficPolicy, balancer.allocateLoadBalancerNodePorts],
    ['Cluster', true],
  )
  assert.equal(
    decoded(SERVICE, { spec: { type: 'ExternalName', externalName: 'a.b' } }).spec
      .internalTrafficPolicy,
    undefined,
  )
})

test('rules of a service', () => {
  const port = { name: 'a', port: 80 }
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{}, ['spec.ports: Required value']],
    [{ clusterIP: 'None', clusterIPs: ['None'] }, []],
    [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
    [{ ports: [port, { port: 81 }] }, ['spec.ports[1].name: Required value']],
    [{ ports: [port, { ...port, port: 81 }] }, ['spec.ports[1].name: Duplicate value: "a"']],
    [
      { ports: [{ port: 70000, targetPort: 1 }] },
      ['spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive'],
    ],
    [
      { ports: [{ port: 80, protocol: 'tcp' }] },
      ['spec.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      { type: 'Foo', ports: [port] },
      [
        'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      { ports: [port], clusterIP: '010.1.1.1', clusterIPs: ['010.1.1.1'] },
      ['spec.clusterIPs[0]: Invalid value: "010.1.1.1": must not have leading 0s'],
    ],
  ]
  for (const [spec, errors] of cases)
    assert.deepEqual(createErrors(SERVICE, { spec }), errors, JSON.stringify(spec))
  assert.deepEqual(
    createErrors(SERVICE, { metadata: { name: '1s' }, spec: { ports: [port] } }),
    [],
    'names may start with a digit',
  )
})

test('Given Secret stringData and data with one key, then stringData wins and is absent from the answer.', () => {
  const {
    data,
    stringData,
    type: kind,
  } = decoded(type('Secret'), { data: { a: base64('old') }, stringData: { a: 'new' } })
  assert.deepEqual([data, stringData, kind], [{ a: base64('new') }, undefined, 'Opaque'])
})

test('types of secrets and the keys they need', () => {
  const into = 'into Go value of type map[string]interface {}'
  const dockerConfigs = [
    ['{"auths":{}}', ''],
    ['null', ''],
    ['[]', `json: cannot unmarshal array ${into}`],
    ['true', `json: cannot unmarshal bool ${into}`],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['\xff', "invalid character 'ÿ' looking for beginning of value"],
    [' ', 'unexpected end of JSON input'],
  ] as const
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { type: 'kubernetes.io/tls' },
      ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
    ],
    [
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    [{ type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
    [{ type: 'kubernetes.io/dockerconfigjson' }, ['data[.dockerconfigjson]: Required value']],
    ...dockerConfigs.map(
      ([json, problem]) =>
        [
          {
            type: 'kubernetes.io/dockerconfigjson',
            data: { '.dockerconfigjson': Buffer.from(json, 'latin1').toString('base64') },
          },
          problem
            ? [`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": ${problem}`]
            : [],
        ] as const,
    ),
    [
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
  ]
  for (const [object, errors] of cases)
    assert.deepEqual(createErrors(type('Secret'), object), errors)
  assert.deepEqual(updateErrors(type('Secret'), { type: 'a' }, { type: 'b' }), [
    'type: Invalid value: "b": field is immutable',
  ])
})

test('Given immutable ConfigMap, when a label changes, then 200; when data changes: 422.', () => {
  const map = { immutable: true, data: { a: '1' } }
  const frozen = 'Forbidden: field is immutable when `immutable` is set'
  assert.deepEqual(
    updateErrors(type('ConfigMap'), map, { ...map, metadata: { labels: { l: '1' } } }),
    [],
  )
  assert.deepEqual(updateErrors(type('ConfigMap'), map, { ...map, data: { a: '2' } }), [
    `data: ${frozen}`,
  ])
  assert.deepEqual(updateErrors(type('ConfigMap'), map, { data: { a: '1' } }), [
    `immutable: ${frozen}`,
  ])
})

test('keys and sizes of config maps', () => {
  assert.match(
    createErrors(type('ConfigMap'), { data: { 'a b': '' } })[0]!,
    /^data\[a b\]: Invalid value: "a b": a valid config key must consist of/,
  )
  assert.deepEqual(createErrors(type('ConfigMap'), { data: { a: '' }, binaryData: { a: '' } }), [
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ])
  assert.deepEqual(createErrors(type('ConfigMap'), { data: { a: 'x'.repeat(1048577) } }), [
    '[]: Too long: may not be more than 1048576 bytes',
  ])
})

test('a node keeps its status; its errors of taints stand under metadata', () => {
  const node = created(NODE, {
    spec: { podCIDR: '10.0.0.0/24' },
    status: { capacity: { pods: '5' } },
  })
  assert.deepEqual(node.spec.podCIDRs, ['10.0.0.0/24'])
  assert.deepEqual(node.status.allocatable, { pods: '5' })
  assert.deepEqual(
    createErrors(NODE, { spec: { taints: [{ key: 'a' }, { key: 'b', effect: 'Foo' }] } }),
    [
      'metadata.taints[0].effect: Required value',
      'metadata.taints[1].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  )
  assert.deepEqual(
    updateErrors(NODE, { spec: { podCIDR: '10.0.0.0/24' } }, { spec: { podCIDR: '10.0.1.0/24' } }),
    ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
  )
})

const claim = (rest: Draft = {}): Draft => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...rest },
})

test('Given PVC Pending, when storage grows, then 422; when storageClassName goes from nil to a value: 200.', () => {
  const [error] = updateErrors(
    CLAIM,
    claim(),
    claim({ resources: { requests: { storage: '2Gi' } } }),
  )
  assert.match(
    error!,
    /^spec: Forbidden: spec is immutable after creation except resources\.requests and volumeAttributesClassName for bound claims\n@@ -6,7 \+6,7 @@\n/,
  )
  assert.match(error!, /\n-   "storage": "1Gi"\n\+   "storage": "2Gi"\n/)
  assert.deepEqual(updateErrors(CLAIM, claim(), claim({ storageClassName: 'fast' })), [])
  assert.deepEqual(updateErrors(CLAIM, claim(), claim({ volumeName: 'pv' })), [])
})

test('rules of claims and volumes', () => {
  assert.deepEqual(createErrors(CLAIM, { spec: {} }), [
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ])
  assert.deepEqual(
    createErrors(CLAIM, claim({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] })),
    ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
  )
  const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } }
  assert.deepEqual(createErrors(VOLUME, { spec: volume }), [
    'spec: Required value: must specify a volume type',
  ])
  assert.deepEqual(createErrors(VOLUME, { spec: { ...volume, local: { path: '/x' } } }), [
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ])
  assert.match(
    updateErrors(
      VOLUME,
      { spec: { ...volume, hostPath: { path: '/a' } } },
      { spec: { ...volume, hostPath: { path: '/b' } } },
    )[0]!,
    /^spec\.persistentvolumesource: Forbidden: spec\.persistentvolumesource is immutable after creation\n@@/,
  )
  assert.deepEqual(created(VOLUME, { spec: { ...volume, hostPath: { path: '/a' } } }).status, {
    phase: 'Pending',
    lastPhaseTransitionTime: '2024-01-01T00:00:00Z',
  })
})

test('limit ranges: defaults flow from max, then the bounds are compared', () => {
  const limits = (item: Draft): Draft => ({ spec: { limits: [{ type: 'Container', ...item }] } })
  const [item] = decoded(type('LimitRange'), limits({ max: { cpu: '2' }, min: { memory: '1Mi' } }))
    .spec.limits
  assert.deepEqual([item.default, item.defaultRequest], [{ cpu: '2' }, { cpu: '2', memory: '1Mi' }])
  assert.deepEqual(
    createErrors(type('LimitRange'), limits({ min: { cpu: '2' }, max: { cpu: '1' } })).slice(0, 1),
    ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
  )
})

test('quotas', () => {
  const QUOTA = type('ResourceQuota')
  assert.deepEqual(
    createErrors(QUOTA, { spec: { hard: { pods: '1.5', 'count/widgets.example.com': '3' } } }),
    ['spec.hard[pods]: Invalid value: "1500m": must be an integer'],
  )
  assert.deepEqual(createErrors(QUOTA, { spec: { hard: { foo: '1' } } }), [
    'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
    'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
  ])
  assert.equal(decoded(QUOTA, { spec: { hard: { pods: '10000' } } }).spec.hard.pods, '10k')
  assert.deepEqual(updateErrors(QUOTA, { spec: { scopes: ['BestEffort'] } }, { spec: {} }), [
    'spec.scopes: Invalid value: null: field is immutable',
  ])
})

test('a replication controller takes selector and labels from its template', () => {
  const object = decoded(type('ReplicationController'), {
    spec: { template: { metadata: { labels: { a: 'b' } } } },
  })
  assert.deepEqual(
    [object.spec.selector, object.metadata.labels, object.spec.replicas],
    [{ a: 'b' }, { a: 'b' }, 1],
  )
  assert.deepEqual(createErrors(type('ReplicationController'), { spec: {} }), [
    'spec.selector: Required value',
    'spec.template: Required value',
  ])
})

test('an update of a replication controller is warned of the template that it replaces', () => {
  const env = [{ name: 'A' }, { name: 'A' }]
  const { warnings } = rulesFor('', 'ReplicationController')!
  const object = (generation: number, names: Draft[]): Draft => ({
    metadata: { generation, name: 'r' },
    spec: { template: { spec: { containers: [{ name: 'c', image: 'i', env: names }] } } },
  })
  const told = (now: Draft, before?: Draft): number => warnings!(now, before).length
  assert.equal(told(object(1, env)), 1)
  assert.equal(told(object(2, env), object(1, [])), 0)
  assert.equal(told(object(2, []), object(1, env)), 1)
})

test('events of the core API must stand in the namespace of their object', () => {
  const errors = createErrors(type('Event'), { involvedObject: { namespace: 'other' } })
  assert.deepEqual(errors, [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ])
})

test('pods alone end gracefully', () => {
  const grace = rulesFor('', 'Pod')!.gracePeriodSeconds!
  const running = {
    spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 },
    status: { phase: 'Running' },
  }
  assert.deepEqual([grace(running, undefined), grace(running, 5), grace(running, -1)], [30, 5, 1])
  assert.equal(grace({ ...running, spec: {} }, 5), 0)
  assert.equal(grace({ ...running, status: { phase: 'Failed' } }, 5), 0)
  assert.equal(rulesFor('', 'Service')!.gracePeriodSeconds, undefined)
  assert.equal(context.featureEnabled('Any'), true)
})

test('warnings of claims, and of templates of them', () => {
  const warn = (group: string, kind: string, object: Draft): readonly string[] =>
    rulesFor(group, kind)!.warnings!(object, undefined)
  const spec = { resources: { limits: { storage: '2500m' }, requests: { storage: '1500m' } } }
  const fraction = (at: string, value: string): string =>
    `${at}[storage]: fractional byte value "${value}" is invalid, must be an integer`
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'x' }
  assert.deepEqual(warn('', 'PersistentVolumeClaim', { metadata: { annotations }, spec }), [
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    fraction('spec.resources.requests', '1500m'),
    fraction('spec.resources.limits', '2500m'),
  ])
  const whole = { resources: { requests: { storage: '1Gi' } } }
  assert.deepEqual(warn('', 'PersistentVolumeClaim', { metadata: {}, spec: whole }), [])
  const set = { volumeClaimTemplates: [{ spec: whole }, { metadata: { annotations }, spec }] }
  assert.deepEqual(warn('apps', 'StatefulSet', { spec: set }), [
    fraction('spec.volumeClaimTemplates[1].resources.requests', '1500m'),
    fraction('spec.volumeClaimTemplates[1].resources.limits', '2500m'),
  ])
  const volumes = [{ name: 'e', ephemeral: { volumeClaimTemplate: { spec: whole } } }]
  volumes.push({ name: 'f', ephemeral: { volumeClaimTemplate: { spec } } })
  const at = 'spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources'
  assert.deepEqual(warn('', 'Pod', { metadata: { name: 'a' }, spec: { volumes } }), [
    fraction(`${at}.requests`, '1500m'),
    fraction(`${at}.limits`, '2500m'),
  ])
})

test('warnings', () => {
  const warn = (kind: string, object: Draft): readonly string[] =>
    rulesFor('', kind)!.warnings!(object, undefined)
  const spec = {
    containers: [
      {
        name: 'a',
        env: [{ name: 'A' }, { name: 'A' }],
        ports: [{ containerPort: 1 }, { containerPort: 1 }],
        resources: { requests: { memory: '100m' } },
      },
    ],
    nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
    volumes: [
      { name: 'g', gitRepo: {} },
      { name: 's', storageos: {} },
    ],
    terminationGracePeriodSeconds: -1,
    imagePullSecrets: [{ name: '' }],
  }
  assert.deepEqual(warn('Pod', { metadata: { name: 'a.b' }, spec }), [
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
    'spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+',
    'spec.imagePullSecrets[0].name: invalid empty name ""',
    'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ])
  assert.deepEqual(
    warn('Service', {
      spec: {
        clusterIP: 'None',
        loadBalancerIP: '1.2.3.4',
        sessionAffinity: 'None',
        externalName: 'a',
      },
    }),
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
  )
})

test('addresses that are not written canonically, in statuses of pods and in the ranges of nodes', () => {
  const form = (what: string, text: string, canonical: string): string =>
    `IPv6 ${what} "${text}" should be in RFC 5952 canonical format ("${canonical}")`
  const status = {
    podIPs: [{ ip: '10.9.0.1' }, { ip: 'fd00::01' }],
    hostIPs: [{ ip: 'FD00::2' }, { ip: '10.9.0.2' }],
  }
  assert.deepEqual(rulesFor('', 'Pod')!.status!.warnings!({ status }), [
    `status.podIPs[1].ip: ${form('address', 'fd00::01', 'fd00::1')}`,
    `status.hostIPs[0].ip: ${form('address', 'FD00::2', 'fd00::2')}`,
  ])
  assert.deepEqual(rulesFor('', 'Pod')!.status!.warnings!({}), [])
  const spec = { externalID: 'x', podCIDRs: ['10.9.0.0/24', 'FD00:0::/64'] }
  const node = { spec, status: { addresses: [{ type: 'InternalIP', address: 'FD00::1' }] } }
  assert.deepEqual(rulesFor('', 'Node')!.warnings!(node, node), [
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    `spec.podCIDRs[1]: ${form('CIDR value', 'FD00:0::/64', 'fd00::/64')}`,
  ])
})

test('annotations of services are told with each write, that of an account when it comes', () => {
  const annotated = (key: string): Draft => ({ metadata: { annotations: { [key]: 'x' } } })
  const hints = annotated('service.kubernetes.io/topology-aware-hints')
  const told = [
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
  ]
  const service = rulesFor('', 'Service')!.warnings!
  assert.deepEqual([service(hints, undefined), service(hints, hints)], [told, told])
  const key = 'kubernetes.io/enforce-mountable-secrets'
  const account = (object: Draft, stored?: Draft): number =>
    rulesFor('', 'ServiceAccount')!.warnings!(object, stored).length
  assert.equal(account(annotated(key)), 1)
  assert.equal(account(annotated(key), {}), 1)
  assert.equal(account(annotated(key), annotated(key)), 0)
  assert.equal(account({}, annotated(key)), 0)
})

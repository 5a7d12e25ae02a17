/** Kinds with few rules: one table row each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable, resourceTableOnRequest } from '@gyropilot/api'
import type { Deployment } from '@gyropilot/api'
import type { Draft, DraftOf, StoredOf } from '../registry/kind-rules.ts'
import { createErrors, created, decoded, updateErrors } from './fixtures.ts'
import { rulesFor } from './index.ts'

const KINDS = [...resourceTable, ...resourceTableOnRequest]

const named = (text: string) => {
  const [group = '', version = '', kind = '', scope = ''] = text.split(' ')
  return { group: group === '-' ? '' : group, version, kind, namespaced: scope !== 'cluster' }
}

const HPA = named('autoscaling v2 HorizontalPodAutoscaler')
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const WEBHOOK = {
  name: 'a.b.c',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://x' },
}
const PATH = {
  path: '/',
  pathType: 'Prefix',
  backend: { service: { name: 's', port: { number: 80 } } },
}

test('defaults', () => {
  const { spec } = decoded(HPA, {
    spec: {
      scaleTargetRef: target,
      maxReplicas: 3,
      behavior: { scaleUp: { selectPolicy: 'Min' } },
    },
  })
  assert.equal(spec.minReplicas, 1)
  assert.equal(spec.metrics[0].resource.target.averageUtilization, 80)
  assert.deepEqual(spec.behavior.scaleUp, {
    selectPolicy: 'Min',
    stabilizationWindowSeconds: 0,
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  })
  assert.deepEqual(
    decoded(named('networking.k8s.io v1 NetworkPolicy'), { spec: { egress: [{}] } }).spec
      .policyTypes,
    ['Ingress', 'Egress'],
  )
  assert.deepEqual(
    decoded(named('discovery.k8s.io v1 EndpointSlice'), { ports: [{ port: 1 }] }).ports,
    [{ port: 1, name: '', protocol: 'TCP' }],
  )
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'ServiceAccount', name: 's' },
  ]
  const binding = decoded(named('rbac.authorization.k8s.io v1 RoleBinding'), {
    roleRef: { kind: 'Role', name: 'r' },
    subjects,
  })
  assert.equal(binding.roleRef.apiGroup, 'rbac.authorization.k8s.io')
  assert.deepEqual(
    binding.subjects.map(({ apiGroup }: Draft) => apiGroup),
    ['rbac.authorization.k8s.io', undefined],
  )
  const driver = decoded(named('storage.k8s.io v1 CSIDriver cluster'), {}).spec
  assert.deepEqual(
    [driver.attachRequired, driver.volumeLifecycleModes, driver.fsGroupPolicy],
    [true, ['Persistent'], 'ReadWriteOnceWithFSType'],
  )
  const [webhook] = decoded(
    named('admissionregistration.k8s.io v1 MutatingWebhookConfiguration cluster'),
    { webhooks: [WEBHOOK] },
  ).webhooks
  assert.deepEqual(
    [
      webhook.failurePolicy,
      webhook.matchPolicy,
      webhook.timeoutSeconds,
      webhook.reinvocationPolicy,
      webhook.objectSelector,
    ],
    ['Fail', 'Equivalent', 10, 'Never', {}],
  )
  assert.deepEqual(
    created(named('storage.k8s.io v1 VolumeAttachment cluster'), { status: { attached: true } })
      .status,
    { attached: false },
  )
  const request = created(named('certificates.k8s.io v1 CertificateSigningRequest cluster'), {
    spec: { username: 'forged', groups: ['g'] },
  })
  assert.deepEqual(
    [request.spec.username, request.spec.groups, request.status],
    ['jane', undefined, {}],
  )
})

test('rules', () => {
  const cases: readonly (readonly [string, Draft, readonly string[]])[] = [
    [
      'autoscaling v2 HorizontalPodAutoscaler',
      { spec: { scaleTargetRef: target } },
      [
        'spec.maxReplicas: Required value: must be set and greater than 0',
        'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      ],
    ],
    [
      'autoscaling v2 HorizontalPodAutoscaler',
      { spec: { scaleTargetRef: { ...target, apiVersion: '' }, maxReplicas: 3 } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group'],
    ],
    [
      'policy v1 PodDisruptionBudget',
      { spec: { minAvailable: '101%' } },
      ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'networking.k8s.io v1 Ingress',
      { spec: {} },
      ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'networking.k8s.io v1 Ingress',
      { spec: { rules: [{ host: '1.2.3.4', http: { paths: [{ ...PATH, path: 'x' }] } }] } },
      [
        'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
        'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
      ],
    ],
    [
      'networking.k8s.io v1 Ingress',
      { spec: { defaultBackend: { service: { name: 's', port: { name: 'p', number: 1 } } } } },
      ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
    ],
    [
      'networking.k8s.io v1 NetworkPolicy',
      {
        spec: {
          ingress: [{ from: [{}, { ipBlock: { cidr: '10.0.0.0/24', except: ['10.1.0.0/25'] } }] }],
        },
      },
      [
        'spec.ingress[0].from[0]: Required value: must specify a peer',
        'spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: "10.1.0.0/25": must be a strict subset of `cidr`',
      ],
    ],
    [
      'networking.k8s.io v1 NetworkPolicy',
      { spec: { ingress: [{ ports: [{ port: 10, endPort: 5 }] }] } },
      [
        'spec.ingress[0].ports[0].endPort: Invalid value: 10: must be greater than or equal to `port`',
      ],
    ],
    [
      'networking.k8s.io v1 ServiceCIDR cluster',
      { spec: { cidrs: ['10.0.0.1/24'] } },
      [
        'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      ],
    ],
    [
      'networking.k8s.io v1 IPAddress cluster',
      {
        metadata: { name: '2001:DB8::1' },
        spec: { parentRef: { resource: 'services', name: 's' } },
      },
      ['metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
    ],
    [
      'discovery.k8s.io v1 EndpointSlice',
      {
        addressType: 'IPv4',
        endpoints: [{ addresses: [] }],
        ports: [{ name: 'a' }, { name: 'a' }],
      },
      [
        'ports[1].name: Duplicate value: "a"',
        'endpoints[0].addresses: Required value: must contain at least 1 address',
      ],
    ],
    [
      'discovery.k8s.io v1 EndpointSlice',
      {
        addressType: 'FQDN',
        endpoints: [{ addresses: ['a'], hints: { forZones: [{ name: 'a' }, { name: 'a' }] } }],
      },
      [
        'endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots',
        'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      ],
    ],
    [
      'apiregistration.k8s.io v1 APIService cluster',
      {
        metadata: { name: 'v1.g' },
        spec: { version: 'v1', group: 'h', versionPriority: 1001, service: { port: 0 } },
      },
      [
        'metadata.name: Invalid value: "v1.g": must be `spec.version+"."+spec.group`: "v1.h"',
        'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
        'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
        'spec.service.namespace: Required value',
        'spec.service.name: Required value',
        'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'rbac.authorization.k8s.io v1 Role',
      { metadata: { name: 'a:b' }, rules: [{ verbs: [] }] },
      [
        'rules[0].verbs: Required value: verbs must contain at least one value',
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      'rbac.authorization.k8s.io v1 Role',
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
      [
        'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
      ],
    ],
    [
      'rbac.authorization.k8s.io v1 ClusterRoleBinding cluster',
      {
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'ServiceAccount', name: 's' }],
      },
      ['subjects[0].namespace: Required value'],
    ],
    [
      'certificates.k8s.io v1 CertificateSigningRequest cluster',
      { spec: { signerName: 'a.b/c', usages: ['any'], expirationSeconds: 599, request: 'Zm9v' } },
      [
        'spec.request: Invalid value: "Zm9v": PEM block type must be CERTIFICATE REQUEST',
        'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
      ],
    ],
    [
      'scheduling.k8s.io v1 PriorityClass cluster',
      { metadata: { name: 'system-foo' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-foo is not a known system priority class",
      ],
    ],
    [
      'scheduling.k8s.io v1 PriorityClass cluster',
      { value: 1000000001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'coordination.k8s.io v1 Lease',
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      [
        'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
        'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'storage.k8s.io v1 StorageClass cluster',
      { provisioner: '' },
      ['provisioner: Required value'],
    ],
    [
      'admissionregistration.k8s.io v1 ValidatingWebhookConfiguration cluster',
      { webhooks: [{ ...WEBHOOK, clientConfig: { url: 'http://x' }, timeoutSeconds: 31 }] },
      [
        'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      ],
    ],
    [
      'admissionregistration.k8s.io v1 ValidatingWebhookConfiguration cluster',
      { webhooks: [{ ...WEBHOOK, admissionReviewVersions: ['v2'], sideEffects: 'Some' }] },
      [
        'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
        'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'flowcontrol.apiserver.k8s.io v1 FlowSchema cluster',
      { spec: { matchingPrecedence: 10001 } },
      [
        'spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000',
        'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
      ],
    ],
  ]
  for (const [kind, object, errors] of cases)
    assert.deepEqual(createErrors(named(kind), object), errors, `${kind} ${JSON.stringify(object)}`)
})

test('what may not change', () => {
  const cases: readonly (readonly [string, Draft, Draft, readonly string[]])[] = [
    [
      'rbac.authorization.k8s.io v1 RoleBinding',
      { roleRef: { kind: 'Role', name: 'a' } },
      { roleRef: { kind: 'Role', name: 'b' } },
      [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef',
      ],
    ],
    [
      'node.k8s.io v1 RuntimeClass cluster',
      { handler: 'a' },
      { handler: 'b' },
      ['handler: Invalid value: "b": field is immutable'],
    ],
    [
      'networking.k8s.io v1 IngressClass cluster',
      { spec: { controller: 'a.b/c' } },
      { spec: { controller: 'a.b/d' } },
      ['spec.controller: Invalid value: "a.b/d": field is immutable'],
    ],
    [
      'scheduling.k8s.io v1 PriorityClass cluster',
      { value: 1 },
      { value: 2 },
      ['value: Forbidden: may not be changed in an update.'],
    ],
    [
      'storage.k8s.io v1 CSIDriver cluster',
      { spec: { attachRequired: true } },
      { spec: { attachRequired: false } },
      ['spec.attachedRequired: Invalid value: false: field is immutable'],
    ],
    [
      'discovery.k8s.io v1 EndpointSlice',
      { addressType: 'IPv4' },
      { addressType: 'IPv6' },
      ['addressType: Invalid value: "IPv6": field is immutable'],
    ],
  ]
  for (const [kind, before, after, errors] of cases)
    assert.deepEqual(updateErrors(named(kind), before, after), errors, kind)
})

test('every stored built-in kind has rules, but those whose rules live elsewhere', () => {
  const stored = KINDS.filter(({ verbs }) => verbs.includes('get'))
  const missing = stored
    .filter(({ group, kind }) => rulesFor(group, kind) === undefined)
    .map(({ kind }) => kind)
  assert.deepEqual(missing.toSorted(), ['CustomResourceDefinition'])
})

test('every cell of every table can be made of an empty object', () => {
  for (const { group, kind } of KINDS) {
    for (const { name, cell } of rulesFor(group, kind)?.columns ?? [])
      assert.notEqual(cell({}, 0), undefined, `${kind} ${name}`)
  }
})

test('a field that a kind does not have is a type error in its rules', () => {
  const draft: DraftOf<Deployment> = { spec: { replicas: 1 } }
  // @ts-expect-error -- replicas
  assert.equal(draft.spec?.replica, undefined)
  const stored: StoredOf<Deployment> = draft
  // @ts-expect-error -- what is stored is not edited
  stored.spec = {}
  assert.deepEqual(draft, { spec: {} })
})

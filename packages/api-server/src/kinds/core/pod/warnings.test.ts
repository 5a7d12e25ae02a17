/** What is warned of in pods and templates. Recorded from kube-apiserver 1.36 (tests/recordings/vectors/warned.json has more). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { podSpecWarnings, podTemplateWarnings } from './warnings.ts'

const container = (name: string, ports: Draft[] = [], rest: Draft = {}): Draft => ({
  name,
  image: 'i',
  ports,
  ...rest,
})

test('ports: of one number whatever clashes with each one before it, and names that come again', () => {
  const spec = {
    initContainers: [container('i', [{ containerPort: 1, name: 'x' }])],
    containers: [
      container('a', [{ containerPort: 1, hostPort: 5, name: 'x' }, { containerPort: 1 }]),
      container('b', [{ containerPort: 1, hostPort: 5, hostIP: '1.1.1.1' }]),
    ],
  }
  const at = (list: string, index: number, port: number): string =>
    `spec.${list}[${index}].ports[${port}]`
  const first = at('initContainers', 0, 0)
  assert.deepEqual(podSpecWarnings(spec, undefined, 'spec'), [
    `${at('containers', 0, 0)}: overlapping port definition with ${first}`,
    `${at('containers', 0, 1)}: duplicate port definition with ${first}`,
    `${at('containers', 0, 1)}: overlapping port definition with ${at('containers', 0, 0)}`,
    `${at('containers', 1, 0)}: overlapping port definition with ${first}`,
    `${at('containers', 1, 0)}: dangerously ambiguous port definition with ${at('containers', 0, 0)}`,
    `${at('containers', 1, 0)}: overlapping port definition with ${at('containers', 0, 1)}`,
    `${at('containers', 0, 0)}: duplicate port name "x" with ${first}, services and probes that select ports by name will use ${first}`,
  ])
})

test('annotations of profiles, where no field says the same, beside the container that they name', () => {
  const key = (what: string, name: string): string => `container.${what}.kubernetes.io/${name}`
  const [appArmor, seccomp] = ['apparmor.security.beta', 'seccomp.security.alpha']
  const annotations = {
    [key(appArmor, 'a')]: 'unconfined',
    [key(seccomp, 'a')]: 'unconfined',
    [key(appArmor, 'b')]: 'unconfined',
    [key(seccomp, 'b')]: 'unconfined',
    'scheduler.alpha.kubernetes.io/critical-pod': '',
  }
  const securityContext = {
    appArmorProfile: { type: 'Unconfined' },
    seccompProfile: { type: 'Unconfined' },
  } as const
  const env = [{ name: 'A' }, { name: 'A' }]
  const spec = {
    containers: [container('a', [], { env }), container('b', [], { securityContext })],
  }
  assert.deepEqual(podTemplateWarnings({ metadata: { annotations }, spec }), [
    'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    `spec.template.metadata.annotations[${key(seccomp, 'a')}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    `spec.template.metadata.annotations[${key(appArmor, 'a')}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
  ])
})

test('labels of nodes that have another name by now, in affinities too', () => {
  const matchExpressions = [
    { key: 'a', operator: 'Exists' as const },
    { key: 'beta.kubernetes.io/os', operator: 'Exists' as const },
  ]
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const spec = {
    containers: [],
    affinity: { nodeAffinity: { [required]: { nodeSelectorTerms: [{ matchExpressions }] } } },
  }
  assert.deepEqual(podSpecWarnings(spec, undefined, 'spec'), [
    `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms[0].matchExpressions[1].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead`,
  ])
})

test('values that no label can have, of nodes that are preferred', () => {
  const matchExpressions = [
    { key: 'beta.kubernetes.io/os', operator: 'In' as const, values: ['-1', 'ok', ''] },
    { key: 'b', operator: 'Gt' as const, values: ['x'.repeat(64)] },
  ]
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  const term = { weight: 1, preference: { matchExpressions } }
  const spec = { containers: [], affinity: { nodeAffinity: { [preferred]: [term] } } }
  const at = `spec.affinity.nodeAffinity.${preferred}[0].preference.matchExpressions`
  assert.deepEqual(podSpecWarnings(spec, undefined, 'spec'), [
    `${at}[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead`,
    `${at}[0].values[0]: -1 is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    `${at}[1].values[0]: ${'x'.repeat(64)} is invalid, must be no more than 63 bytes`,
  ])
})

test('a variable hides the one before it, unless its value has that in it', () => {
  const hides = (variable: Draft): boolean => {
    const env = [
      { name: 'X', value: 'a' },
      { name: 'X', ...variable },
    ]
    const warnings = podSpecWarnings(
      { containers: [container('a', [], { env })] },
      undefined,
      'spec',
    )
    return warnings.length > 0
  }
  for (const value of ['$(X)b', 'b$(X)', '$$(X)', '$(X)$(X)'])
    assert.equal(hides({ value }), false, value)
  for (const value of ['$(X)', '$(Y)', '$(x)b', '']) assert.equal(hides({ value }), true, value)
  assert.equal(hides({}), true)
  assert.equal(hides({ valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }), true)
})

test('annotations and parts of bytes in the overhead, each in its place', () => {
  const sysctls = 'security.alpha.kubernetes.io/sysctls'
  const unsafe = 'security.alpha.kubernetes.io/unsafe-sysctls'
  const annotations = { [sysctls]: 'a=b', [unsafe]: '' }
  const spec = {
    overhead: { 'ephemeral-storage': '1500m', memory: '100m', cpu: '100m' },
    imagePullSecrets: [{}],
    containers: [container('a', [], { resources: { requests: { memory: '100m' } } })],
  }
  const fraction = (value: string): string =>
    `fractional byte value "${value}" is invalid, must be an integer`
  assert.deepEqual(podTemplateWarnings({ metadata: { annotations }, spec }), [
    `spec.template.metadata.annotations[${sysctls}]: non-functional in v1.11+; use the "sysctls" field instead`,
    `spec.template.metadata.annotations[${unsafe}]: non-functional in v1.11+; use the "sysctls" field instead`,
    'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""',
    `spec.template.spec.overhead[memory]: ${fraction('100m')}`,
    `spec.template.spec.overhead[ephemeral-storage]: ${fraction('1500m')}`,
    `spec.template.spec.containers[0].resources.requests[memory]: ${fraction('100m')}`,
  ])
})

test('labels that are called as members of every object are no old names', () => {
  const spec = {
    containers: [],
    nodeSelector: { constructor: 'a', toString: 'b' },
    topologySpreadConstraints: [{ topologyKey: 'valueOf', labelSelector: {} }],
  }
  assert.deepEqual(podSpecWarnings(spec as unknown as Draft, undefined, 'spec'), [])
})

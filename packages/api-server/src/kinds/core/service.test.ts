import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Draft } from '../../registry/kind-rules.ts'
import { context, createErrors, created, decoded, updateErrors } from '../fixtures.ts'
import { rulesFor } from '../index.ts'
import { validateLoadBalancerStatus } from './service-rules.ts'

const SERVICE = { group: '', version: 'v1', kind: 'Service' }
const ports = [{ port: 80 }]
const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'

test('addresses and families must agree', () => {
  const one = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { clusterIPs: ['10.0.0.1'] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified',
      ],
    ],
    [{ clusterIP: '10.0.0.1' }, ['spec.clusterIPs: Required value']],
    [
      { ...one, clusterIP: '10.0.0.2' },
      ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: first value must match `clusterIP`'],
    ],
    [
      { ...one, clusterIPs: ['10.0.0.1', '10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      { ...one, clusterIPs: ['10.0.0.1', 'fd00::1', '10.0.0.3'] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.1","fd00::1","10.0.0.3"]: may only hold up to 2 values',
      ],
    ],
    [
      { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
      [
        'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
      ],
    ],
    [
      { ...one, ipFamilies: ['IPv6'] },
      [
        'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [
      { ipFamilies: ['IPv5', 'IPv5'] },
      [
        'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
        'spec.ipFamilies[1]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
        'spec.ipFamilies[1]: Duplicate value: "IPv5"',
      ],
    ],
  ]
  for (const [spec, errors] of cases)
    assert.deepEqual(createErrors(SERVICE, { spec: { ports, ...spec } }), errors)
})

test('rules of types, ports and annotations', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ spec: { ports: [{ port: 10250 }], type: 'NodePort' } }, []],
    [
      { spec: { ports, loadBalancerSourceRanges: ['x'] } },
      [
        "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      { metadata: { annotations: { [RANGES]: ' ' } }, spec: { ports } },
      [
        `metadata.annotations[${RANGES}]: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
      ],
    ],
    [
      {
        metadata: {
          annotations: {
            'service.kubernetes.io/topology-mode': 'Auto',
            'service.kubernetes.io/topology-aware-hints': 'auto',
          },
        },
        spec: { ports },
      },
      [
        'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
      ],
    ],
    [
      { spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports } },
      ['spec.healthCheckNodePort: Required value'],
    ],
    [
      {
        spec: { type: 'ExternalName', externalName: 'A.b', ports: [{ port: 1, nodePort: 30000 }] },
      },
      [
        "spec.externalName: Invalid value: \"A.b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      { spec: { ports: [...ports, ...ports].map((port, i) => ({ ...port, name: `p${i}` })) } },
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    ],
  ]
  for (const [object, errors] of cases) assert.deepEqual(createErrors(SERVICE, object), errors)
})

test('Given an address that only some nodes see, then the external policy is defaulted.', () => {
  const policyOf = (spec: Draft) => decoded(SERVICE, { spec }).spec.externalTrafficPolicy
  assert.equal(policyOf({ ports, externalIPs: ['1.2.3.4'] }), 'Cluster')
  assert.equal(policyOf({ ports }), undefined)
})

test('what may not change', () => {
  const balanced = {
    ports,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30001,
  }
  const dual = {
    ports,
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
  }
  const cases: readonly (readonly [Draft, Draft, readonly string[]])[] = [
    [
      balanced,
      { ...balanced, healthCheckNodePort: 30002 },
      ['spec.healthCheckNodePort: Forbidden: field is immutable'],
    ],
    [
      dual,
      { ...dual, clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] },
      [
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
      ],
    ],
    [
      dual,
      { ...dual, clusterIP: undefined, clusterIPs: undefined },
      ['spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset'],
    ],
    [
      { ...balanced, loadBalancerClass: 'a/b' },
      { ...balanced, loadBalancerClass: 'a b' },
      [
        'spec.loadBalancerClass: Invalid value: "a b": may not change once set',
        ...Array.from(
          { length: 2 },
          () =>
            "spec.loadBalancerClass: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
      ],
    ],
  ]
  for (const [before, after, errors] of cases)
    assert.deepEqual(updateErrors(SERVICE, { spec: before }, { spec: after }), errors)
})

test('the status of a balancer', () => {
  const errorsOf = (type: string, ingress: readonly Draft[]): string[] => {
    const service = {
      ...created(SERVICE, { spec: { type } }),
      status: { loadBalancer: { ingress } },
    }
    const errors = new FieldErrors()
    validateLoadBalancerStatus(service, errors)
    return errors.list.map(({ field, message }) => `${field}: ${message}`)
  }
  const at = 'status.loadBalancer.ingress'
  assert.deepEqual(errorsOf('NodePort', [{ ip: '1.2.3.4' }]), [
    `${at}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
  ])
  assert.deepEqual(
    errorsOf('LoadBalancer', [{ ip: '1.2.3.4', ipMode: 'VIP' }, { hostname: 'a.b' }]),
    [],
  )
  assert.deepEqual(
    errorsOf('LoadBalancer', [
      { ip: '1.2.3.4', ipMode: 'X' },
      { hostname: '1.2.3.4', ipMode: 'VIP' },
    ]),
    [
      `${at}[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"`,
      `${at}[1].ipMode: Forbidden: may not be specified when \`ip\` is not set`,
      `${at}[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
    ],
  )
})

test('no policy of internal traffic is kept of an ExternalName, in updates neither', () => {
  const { prepareForUpdate } = rulesFor('', 'Service')!
  const left = (internalTrafficPolicy: string): unknown => {
    const object: Draft = { spec: { type: 'ExternalName', internalTrafficPolicy } }
    prepareForUpdate!(object, { status: {} }, context)
    return object['spec'].internalTrafficPolicy
  }
  // What is no policy stays, to be refused.
  assert.deepEqual([left('Cluster'), left('Local'), left('Other')], [undefined, undefined, 'Other'])
})

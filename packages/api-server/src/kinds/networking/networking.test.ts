import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors, updateErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const NETWORK_POLICY = kind('NetworkPolicy', true)
const INGRESS_CLASS = kind('IngressClass')
const INGRESS = kind('Ingress', true)
const SERVICE_CIDR = kind('ServiceCIDR')
const IP_ADDRESS = kind('IPAddress')

test('what a create is refused for', () => {
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [
      NETWORK_POLICY,
      {
        spec: {
          policyTypes: ['X'],
          ingress: [{ ports: [{ protocol: 'X', port: 'BAD_NAME', endPort: 3 }] }],
        },
      },
      [
        'spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
        'spec.ingress[0].ports[0].endPort: Invalid value: 3: may not be specified when `port` is non-numeric',
        'spec.ingress[0].ports[0].port: Invalid value: "BAD_NAME": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'spec.ingress[0].ports[0].port: Invalid value: "BAD_NAME": must contain at least one letter (a-z)',
        'spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"',
      ],
    ],
    [
      NETWORK_POLICY,
      {
        spec: {
          egress: [{ to: [{ ipBlock: { cidr: 'x' }, podSelector: {} }] }],
          policyTypes: ['Ingress', 'Egress', 'Ingress'],
        },
      },
      [
        'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer',
        'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
      ],
    ],
    [
      INGRESS_CLASS,
      { spec: { controller: 'x', parameters: { kind: '', name: 'a/b', scope: 'Namespace' } } },
      [
        'spec.controller: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
        'spec.parameters.kind: Required value',
        'spec.parameters.name: Invalid value: "a/b": may not contain \'/\'',
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
      ],
    ],
    [
      INGRESS,
      {
        spec: {
          rules: [
            { host: '*.1.2', http: { paths: [{ path: '/a//b', pathType: 'Exact', backend: {} }] } },
          ],
        },
      },
      [
        'spec.rules[0].http.paths[0].path: Invalid value: "/a//b": must not contain \'//\'',
        'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
      ],
    ],
    [
      SERVICE_CIDR,
      { spec: { cidrs: [] } },
      ['spec.cidrs: Required value: at least one CIDR required'],
    ],
    [
      SERVICE_CIDR,
      { spec: { cidrs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      [
        'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [IP_ADDRESS, { metadata: { name: '10.0.0.1' }, spec: {} }, ['spec.parentRef: Required value']],
  ]
  for (const [type, object, errors] of cases)
    assert.deepEqual(createErrors(type, object), errors, JSON.stringify(object))
})

test('what may not change', () => {
  const cases: readonly (readonly [KindName, Draft, Draft, readonly string[]])[] = [
    [
      SERVICE_CIDR,
      { spec: { cidrs: ['10.0.0.0/24'] } },
      { spec: { cidrs: ['10.0.1.0/24', 'x'] } },
      [
        'spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable',
        'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      SERVICE_CIDR,
      { spec: { cidrs: ['10.0.0.0/24'] } },
      { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } },
      [],
    ],
  ]
  for (const [type, before, after, errors] of cases)
    assert.deepEqual(updateErrors(type, before, after), errors, JSON.stringify(after))
})

test('the name of a controller is measured in bytes', () => {
  const errors = (letters: number): string =>
    createErrors(INGRESS_CLASS, { spec: { controller: `a.b/${'é'.repeat(letters)}` } }).join()
  assert.match(errors(124), /spec\.controller: Too long: may not be more than 250 bytes/)
  assert.doesNotMatch(errors(123), /Too long/)
})

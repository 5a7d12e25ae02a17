import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkPolicy, Pod } from '@gyropilot/api'
import { isAllowed } from './network-policies.ts'
import type { Connection, Party } from './network-policies.ts'

type Spec = NonNullable<NetworkPolicy['spec']>

const policy = (spec: Spec, namespace = 'shop'): NetworkPolicy => ({
  metadata: { namespace },
  spec,
})
const ingress = (spec: Partial<Spec>): NetworkPolicy =>
  policy({ podSelector: {}, policyTypes: ['Ingress'], ...spec })
const egress = (spec: Partial<Spec>): NetworkPolicy =>
  policy({ podSelector: {}, policyTypes: ['Egress'], ...spec })

interface Given {
  readonly name?: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly ip?: string
  readonly node?: string
  readonly hostNetwork?: boolean
}

function party({ name = 'a', namespace = 'shop', ip, node = 'n', ...more }: Given): Party {
  const labels = { app: name, ...more.labels }
  const pod: Pod = {
    metadata: { name, namespace, uid: `${namespace}/${name}`, labels },
    spec: {
      nodeName: node,
      ...(more.hostNetwork && { hostNetwork: true }),
      containers: [
        {
          name: 'c',
          ports: [
            { name: 'web', containerPort: 8080 },
            { name: 'dns', containerPort: 53, protocol: 'UDP' },
          ],
        },
      ],
    },
    status: { podIPs: [{ ip: ip ?? '10.1.0.1' }] },
  }
  return { pod, namespaceLabels: { team: namespace } }
}

const asks = (from: Given, to: Given, more: Partial<Connection> = {}): Connection => ({
  from: party(from),
  to: party(to),
  port: 8080,
  protocol: 'TCP',
  ...more,
})
const WEB = { name: 'web', ip: '10.1.0.2' }
const A_TO_WEB = asks({ name: 'a' }, WEB)

test('without a policy that selects it, a pod is free in that direction', () => {
  assert.equal(isAllowed([], A_TO_WEB), true)
  const others = ingress({ podSelector: { matchLabels: { app: 'db' } } })
  assert.equal(isAllowed([others], A_TO_WEB), true)
  assert.equal(isAllowed([policy({ podSelector: {} }, 'other')], A_TO_WEB), true)
  assert.equal(
    isAllowed([egress({ podSelector: { matchLabels: { app: 'web' } } })], A_TO_WEB),
    true,
  )
})

test('a policy without rules refuses all in its direction; without types it is one for ingress', () => {
  assert.equal(isAllowed([ingress({})], A_TO_WEB), false)
  assert.equal(isAllowed([egress({})], A_TO_WEB), false)
  assert.equal(
    isAllowed([policy({ podSelector: { matchLabels: { app: 'web' } } })], A_TO_WEB),
    false,
  )
  assert.equal(isAllowed([policy({ podSelector: { matchLabels: { app: 'a' } } })], A_TO_WEB), true)
  assert.equal(isAllowed([policy({})], A_TO_WEB), false)
})

test('an empty rule allows all, and one policy that allows is enough', () => {
  assert.equal(isAllowed([ingress({ ingress: [{}] })], A_TO_WEB), true)
  assert.equal(isAllowed([ingress({}), ingress({ ingress: [{}] })], A_TO_WEB), true)
  assert.equal(isAllowed([egress({ egress: [{}] })], A_TO_WEB), true)
  assert.equal(isAllowed([egress({ egress: [{}] }), ingress({})], A_TO_WEB), false)
})

test('a pod reaches itself whatever policies say', () => {
  assert.equal(isAllowed([ingress({}), egress({})], asks(WEB, WEB)), true)
})

const app = (name: string) => ({ matchLabels: { app: name } })
const team = (name: string) => ({ matchLabels: { team: name } })
for (const [peer, from, expected] of [
  [{ podSelector: app('a') }, { name: 'a' }, true],
  [{ podSelector: app('a') }, { name: 'b' }, false],
  [{ podSelector: app('a') }, { name: 'a', namespace: 'other' }, false],
  [{ namespaceSelector: team('other') }, { name: 'a', namespace: 'other' }, true],
  [{ namespaceSelector: team('other') }, { name: 'a' }, false],
  [{ namespaceSelector: {} }, { name: 'a', namespace: 'other' }, true],
  [
    { namespaceSelector: team('other'), podSelector: app('a') },
    { name: 'a', namespace: 'other' },
    true,
  ],
  [
    { namespaceSelector: team('other'), podSelector: app('a') },
    { name: 'b', namespace: 'other' },
    false,
  ],
  [{ namespaceSelector: team('other'), podSelector: app('a') }, { name: 'a' }, false],
  [{ ipBlock: { cidr: '10.1.0.0/24' } }, { ip: '10.1.0.9' }, true],
  [{ ipBlock: { cidr: '10.1.0.0/24' } }, { ip: '10.1.1.9' }, false],
  [{ ipBlock: { cidr: '10.1.0.0/24', except: ['10.1.0.8/29'] } }, { ip: '10.1.0.9' }, false],
  [{ ipBlock: { cidr: '10.1.0.0/24', except: ['10.1.0.8/29'] } }, { ip: '10.1.0.7' }, true],
] as const)
  test(`from ${JSON.stringify(peer)}: ${JSON.stringify(from)} is let in: ${expected}`, () => {
    assert.equal(isAllowed([ingress({ ingress: [{ from: [peer] }] })], asks(from, WEB)), expected)
  })

for (const [port, asked, expected] of [
  [{ port: 8080 }, {}, true],
  [{ port: 80 }, {}, false],
  [{ port: 8000, endPort: 8080 }, {}, true],
  [{ port: 8000, endPort: 8079 }, {}, false],
  [{ port: 8081, endPort: 9000 }, {}, false],
  [{ port: 'web' }, {}, true],
  [{ port: 'web' }, { port: 80 }, false],
  [{ port: 'none' }, {}, false],
  [{ port: 'dns', protocol: 'UDP' }, { port: 53, protocol: 'UDP' }, true],
  [{ port: 'dns' }, { port: 53, protocol: 'TCP' }, false],
  [{ port: 8080, protocol: 'UDP' }, {}, false],
  [{ port: 8080, protocol: 'SCTP' }, {}, false],
  [{ protocol: 'TCP' }, {}, true],
  [{ protocol: 'UDP' }, {}, false],
] as const)
  test(`ports ${JSON.stringify(port)}: ${JSON.stringify(asked)} is let in: ${expected}`, () => {
    const rules = [ingress({ ingress: [{ ports: [port] }] })]
    assert.equal(isAllowed(rules, asks({ name: 'a' }, WEB, asked)), expected)
  })

test('a rule asks for both, its peer and its port, and names of ports are those of the pod that is asked', () => {
  const rule = { to: [{ podSelector: app('web') }], ports: [{ port: 'web' }] }
  assert.equal(isAllowed([egress({ egress: [rule] })], A_TO_WEB), true)
  assert.equal(isAllowed([egress({ egress: [rule] })], { ...A_TO_WEB, port: 81 }), false)
  assert.equal(
    isAllowed([egress({ egress: [rule] })], asks({}, { name: 'db', ip: '10.1.0.3' })),
    false,
  )
})

test('a pod on the network of its node is restricted by none, and found by its address alone', () => {
  const host = { name: 'host', hostNetwork: true, ip: '172.16.0.1', node: 'far' }
  assert.equal(isAllowed([egress({})], asks(host, WEB)), true)
  assert.equal(isAllowed([ingress({})], asks(host, WEB)), false)
  assert.equal(isAllowed([ingress({})], asks({ ...host, node: 'n' }, WEB)), true)
  assert.equal(
    isAllowed([ingress({ ingress: [{ from: [{ podSelector: {} }] }] })], asks(host, WEB)),
    false,
  )
  const block = { ipBlock: { cidr: '172.16.0.0/16' } }
  assert.equal(isAllowed([ingress({ ingress: [{ from: [block] }] })], asks(host, WEB)), true)
  assert.equal(isAllowed([ingress({})], asks({ name: 'a' }, host)), true)
  // On the way out its node is no excuse.
  assert.equal(isAllowed([egress({})], asks({ name: 'a' }, { ...host, node: 'n' })), false)
})

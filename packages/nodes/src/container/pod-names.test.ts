import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { hostnameOf, hostsOf, resolverOf } from './pod-names.ts'

type Spec = NonNullable<Pod['spec']>

const podOf = (spec: Partial<Spec>, name = 'web-0'): Pod => ({
  metadata: { name, namespace: 'shop' },
  spec: { containers: [], ...spec },
  status: { podIP: '10.1.0.7' },
})

test('the hostname: of the pod, its own choice, its override, its node', () => {
  const given: readonly (readonly [Partial<Spec>, string])[] = [
    [{}, 'web-0'],
    [{ hostname: 'db' }, 'db'],
    [{ hostname: 'db', subdomain: 'sub' }, 'db'],
    [
      { hostname: 'db', subdomain: 'sub', setHostnameAsFQDN: true },
      'db.sub.shop.svc.cluster.local',
    ],
    [{ setHostnameAsFQDN: true }, 'web-0'],
    [{ hostname: 'db', hostnameOverride: 'other.example' }, 'other.example'],
    [{ hostname: 'db', hostNetwork: true }, 'node-1'],
  ]
  for (const [spec, expected] of given)
    assert.equal(hostnameOf(podOf(spec), 'node-1'), expected, JSON.stringify(spec))
  const long = `${'a'.repeat(62)}-b`
  assert.equal(hostnameOf(podOf({}, long), 'node-1'), 'a'.repeat(62))
})

test('/etc/hosts ends with the pod itself, then the aliases of its spec', () => {
  const own = (pod: Pod): string | undefined =>
    hostsOf(pod, 'node-1')
      .split('\n')
      .find((line) => line.startsWith('10.1.0.7'))
  assert.equal(own(podOf({})), '10.1.0.7\tweb-0')
  assert.equal(
    own(podOf({ subdomain: 'sub' })),
    '10.1.0.7\tweb-0.sub.shop.svc.cluster.local\tweb-0',
  )
  assert.equal(own(podOf({ subdomain: 'sub', hostnameOverride: 'o' })), '10.1.0.7\to')
  const aliases = podOf({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['foo', 'bar'] }] })
  assert.match(
    hostsOf(aliases, 'node-1'),
    /\n10\.1\.0\.7\tweb-0\n\n# Entries added by HostAliases\.\n1\.2\.3\.4\tfoo\tbar\n$/,
  )
  assert.match(hostsOf(podOf({ hostNetwork: true }), 'node-1'), /\(host network\)\.\n/)
})

test('/etc/resolv.conf: of the cluster and what the pod adds, or the pod alone', () => {
  const dnsConfig = {
    nameservers: ['1.1.1.1'],
    searches: ['example.org'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  }
  assert.equal(
    resolverOf(podOf({ dnsConfig })),
    'nameserver 10.0.0.10\nnameserver 1.1.1.1\nsearch shop.svc.cluster.local svc.cluster.local cluster.local example.org\noptions ndots:2 edns0\n',
  )
  assert.equal(
    resolverOf({ ...podOf({}), status: { hostIP: 'fd00::1' } }).split('\n')[0],
    'nameserver fd00:10::a',
  )
  assert.equal(
    resolverOf(podOf({ dnsPolicy: 'None', dnsConfig })),
    'nameserver 1.1.1.1\nsearch example.org\noptions ndots:2 edns0\n',
  )
  const node = 'nameserver 192.0.2.53\n'
  assert.equal(resolverOf(podOf({ dnsPolicy: 'Default' })), node)
  assert.equal(resolverOf(podOf({ dnsPolicy: 'ClusterFirst', hostNetwork: true })), node)
  assert.equal(
    resolverOf(podOf({ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true })),
    resolverOf(podOf({})),
  )
})

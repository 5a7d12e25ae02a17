import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const files = {
  '/etc/hosts': [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '10.1.0.5\tp.zk.shop.svc.cluster.local\tp',
    'fd00::5\tp.zk.shop.svc.cluster.local\tp',
    '',
  ].join('\n'),
}

for (const [script, expected] of [
  ['hostname; hostname -s', 'p\np\n'],
  ['hostname -i; hostname -I', '10.1.0.5 fd00::5\n10.1.0.5 fd00::5\n'],
  [
    'hostname -f; hostname --fqdn; hostname -d',
    'p.zk.shop.svc.cluster.local\np.zk.shop.svc.cluster.local\nzk.shop.svc.cluster.local\n',
  ],
  ['rm /etc/hosts; hostname -i', 'hostname: p: Unknown host\n(1)'],
  ['hostname other', 'hostname: other is not known to simulated containers\n(1)'],
  ['hostname -y', 'hostname: -y is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith(files, script), expected))

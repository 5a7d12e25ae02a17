/** `gyro up --ip-family dual`, as kubectl and a pod see it. docs/guides/run-a-cluster.md, Addresses of both families. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { finished, repository, startGyro } from './gyro-process.ts'

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: {
    ipFamilyPolicy: 'PreferDualStack',
    selector: { app: 'web' },
    ports: [{ port: 80 }],
  },
}
const families = (addresses: readonly string[]): string =>
  addresses.map((address) => (address.includes(':') ? '6' : '4')).join()

test('nodes, pods and Services have an address of each family, and a data directory keeps it so', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dual-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const data = `--data-dir=${join(folder, 'data')}`
  const gyro = await startGyro(['--ip-family=dual', data])
  t.after(() => gyro.stop())
  gyro.apply(SERVICE)
  gyro.ok('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  gyro.ok('run', 'asker', '--image=busybox', '--command', '--', 'sleep', '3600')
  gyro.ok('rollout', 'status', 'deployment/web', '--timeout=20s')
  gyro.ok('wait', 'pod/asker', '--for=condition=Ready', '--timeout=20s')
  for (const { spec, status } of gyro.json('get', 'nodes').items) {
    assert.equal(families(spec.podCIDRs), '4,6')
    const own = status.addresses.filter(({ type }: { type: string }) => type === 'InternalIP')
    assert.equal(families(own.map(({ address }: { address: string }) => address)), '4,6')
  }
  for (const { status } of gyro.json('get', 'pods').items) {
    for (const list of [status.podIPs, status.hostIPs])
      assert.equal(families(list.map(({ ip }: { ip: string }) => ip)), '4,6')
  }
  const { clusterIPs } = gyro.json('get', 'service', 'web').spec
  assert.equal(families(clusterIPs), '4,6')
  const slices = gyro.json('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web').items
  const types = slices.map(({ addressType }: { addressType: string }) => addressType)
  assert.deepEqual(types.toSorted(), ['IPv4', 'IPv6'])
  for (const address of clusterIPs) {
    const host = address.includes(':') ? `[${address}]` : address
    const page = gyro.ok('exec', 'asker', '--', 'wget', '-qO-', '-T', '5', `http://${host}/`)
    assert.match(page, /^simulated pod default\/web-/, host)
  }
  await gyro.stop()

  const again = await startGyro([data])
  t.after(() => again.stop())
  again.apply({ ...SERVICE, metadata: { name: 'second' } })
  assert.equal(families(again.json('get', 'service', 'second').spec.clusterIPs), '4,6')
  again.ok('run', 'later', '--image=busybox', '--command', '--', 'sleep', '3600')
  again.ok('wait', 'pod/later', '--for=condition=Ready', '--timeout=20s')
  assert.equal(again.json('get', 'pod', 'later').status.podIPs.length, 2)
  await again.stop()

  const refused = finished(join(repository, 'bin/gyro'), [
    'up',
    '--port=0',
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    '--ip-family=ipv4',
    data,
  ])
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /the cluster in .* has dual: leave the flag out/)
})

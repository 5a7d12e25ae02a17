import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const FILES = {
  '/proc/sys/kernel/shm_rmid_forced': '1\n',
  '/proc/sys/net/ipv4/ip_local_port_range': '1024\t65535\n',
}

for (const [script, expected] of [
  ['sysctl kernel.shm_rmid_forced', 'kernel.shm_rmid_forced = 1\n'],
  ['/bin/sysctl kernel/shm_rmid_forced', 'kernel.shm_rmid_forced = 1\n'],
  ['sysctl -n net.ipv4.ip_local_port_range', '1024\t65535\n'],
  ['sysctl kernel.none', "sysctl: error: 'kernel.none' is an unknown key\n(1)"],
  ['sysctl -w kernel.shm_rmid_forced=0', 'sysctl: simulated containers know names, and -n\n(1)'],
  ['sysctl', 'sysctl: simulated containers know names, and -n\n(1)'],
] as const)
  test(script, async () => {
    assert.equal(await saidWith(FILES, script), expected)
  })

test('id tells groups, too', async () => {
  assert.equal(
    await saidWith({}, 'id; id -u; id -g; id -G'),
    'uid=0(root) gid=0(root) groups=0(root)\n0\n0\n0\n',
  )
})

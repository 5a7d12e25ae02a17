import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { kernelFiles } from './kernel-files.ts'

type Context<T extends { securityContext?: unknown }> = NonNullable<T['securityContext']>

const filesOf = (context: Context<NonNullable<Pod['spec']>> = {}, own: Context<Container> = {}) =>
  kernelFiles(
    { spec: { containers: [], securityContext: context } },
    { name: 'c', securityContext: own },
  )

const statusOf = (...given: Parameters<typeof filesOf>): string =>
  filesOf(...given)['/proc/self/status'] ?? ''

test('settings are those that the pod asks for, with dots or slashes, else the usual', () => {
  const sysctls = [
    { name: 'kernel/shm_rmid_forced', value: '1' },
    { name: 'net.ipv4.tcp_syncookies', value: '0' },
  ]
  const files = filesOf({ sysctls })
  assert.equal(files['/proc/sys/kernel/shm_rmid_forced'], '1\n')
  assert.equal(files['/proc/sys/net/ipv4/tcp_syncookies'], '0\n')
  assert.equal(filesOf()['/proc/sys/kernel/shm_rmid_forced'], '0\n')
})

test('a process shows whom it runs as, and what it may not', () => {
  const context = { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000 }
  assert.equal(
    statusOf(
      { ...context, seccompProfile: { type: 'RuntimeDefault' } },
      { allowPrivilegeEscalation: false },
    ),
    'Uid:\t1000\t1000\t1000\t1000\nGid:\t3000\t3000\t3000\t3000\nGroups:\t2000 3000 \n' +
      'CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n' +
      'CapBnd:\t00000000a80425fb\nCapAmb:\t0000000000000000\n' +
      'NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n',
  )
  assert.match(statusOf(), /NoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n$/)
})

test('a profile of the container comes first, and privileged ones have none', () => {
  const filtered = { seccompProfile: { type: 'RuntimeDefault' } } as const
  assert.match(statusOf(filtered), /Seccomp:\t2/)
  assert.match(statusOf(filtered, { seccompProfile: { type: 'Unconfined' } }), /Seccomp:\t0/)
  assert.match(statusOf(filtered, { privileged: true }), /Seccomp:\t0/)
})

for (const [own, expected] of [
  [{}, '00000000a80425fb'],
  [{ capabilities: { add: ['NET_ADMIN', 'SYS_TIME'] } }, '00000000aa0435fb'],
  [{ capabilities: { drop: ['ALL'], add: ['CAP_NET_BIND_SERVICE'] } }, '0000000000000400'],
  [{ capabilities: { add: ['all'] } }, '000001ffffffffff'],
  [{ privileged: true }, '000001ffffffffff'],
] as const)
  test(`root's capabilities with ${JSON.stringify(own)} are ${expected}`, () => {
    assert.match(statusOf({}, own as Context<Container>), new RegExp(`CapEff:\t${expected}\n`))
  })

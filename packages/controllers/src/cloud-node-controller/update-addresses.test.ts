import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeAddress } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { externalIp, hostName, internalIp, node, patchValue } from '../cloud-support/fixtures.ts'
import { refused } from '../workload-support/fixtures.ts'
import { addressesChanged, updateAddresses } from './update-addresses.ts'

const one = internalIp('10.0.0.1')
const other = internalIp('10.0.0.2')
const external = externalIp('1.1.1.1')

const changes: readonly (readonly [readonly NodeAddress[], readonly NodeAddress[], boolean])[] = [
  [[], [], false],
  [[one], [one], false],
  [[one], [other], true],
  [[one], [one, external], true],
  [[one, external], [one], true],
  [[one, external], [external, one], false],
  [[one, external], [one, externalIp('1.1.1.2')], true],
  [[one], [hostName('10.0.0.1')], true],
  // The last of a type is what is compared with.
  [[one, other], [one, other], true],
  [[one, other], [other, other], false],
]

test('Given address lists in several orders and lengths, then change detection is as defined', () => {
  for (const [stored, wanted, changed] of changes)
    assert.equal(addressesChanged(stored, wanted), changed, JSON.stringify([stored, wanted]))
})

function addressesWritten(...[cached, reported]: Parameters<typeof updateAddresses>): unknown {
  const { writes, result } = drive(updateAddresses(cached, reported))
  assert.equal(result, undefined)
  if (writes.length === 0) return 'none'
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.subresource === 'status' && writes.length === 1)
  const { status } = patchValue<{ status: { addresses: object[] } }>(write)!
  assert.deepEqual(status.addresses.at(-1), { $patch: 'replace' })
  return status.addresses.slice(0, -1)
}

test('the whole list is replaced, in the order of the cloud', () => {
  const cached = node('n', { addresses: [internalIp('9.9.9.9'), hostName('n')] })
  assert.deepEqual(addressesWritten(cached, [external, one, hostName('c')]), [
    external,
    one,
    hostName('c'),
  ])
})

test('Given a provider that lacks a hostname, then the existing Hostname stays', () => {
  const cached = node('n', { addresses: [hostName('n'), internalIp('9.9.9.9')] })
  assert.deepEqual(addressesWritten(cached, [one]), [one, hostName('n')])
})

test('no addresses from the cloud never clear the status, and equal ones are not written', () => {
  const cached = node('n', { addresses: [one, hostName('n')] })
  assert.equal(addressesWritten(cached, undefined), 'none')
  assert.equal(addressesWritten(cached, []), 'none')
  assert.equal(addressesWritten(cached, [one]), 'none')
})

test('Given provider addresses and a provided-node-ip annotation, then the node status gets the expected addresses', () => {
  const annotations = { 'alpha.kubernetes.io/provided-node-ip': '10.0.0.2' }
  const cached = node('n', { annotations, addresses: [hostName('n')] })
  assert.deepEqual(addressesWritten(cached, [one, other, external]), [
    other,
    external,
    hostName('n'),
  ])
  const { result, writes } = drive(updateAddresses(cached, [one]))
  assert.match(String(result), /matches ip: 10.0.0.2/)
  assert.deepEqual(writes, [])
})

test('a refusal is answered', () => {
  const refusal = refused(500, 'InternalError')
  const { result } = drive(updateAddresses(node('n'), [one]), { onWrite: () => refusal })
  assert.equal(result, !refusal.ok && refusal.error)
})

import assert from 'node:assert/strict'
import type { NetworkInterfaceInfo } from 'node:os'
import { test } from 'node:test'
import { serverNames } from './server-names.ts'

const address = (family: 'IPv4' | 'IPv6', text: string): NetworkInterfaceInfo =>
  ({ family, address: text }) as NetworkInterfaceInfo
const machine = {
  hostname: 'build-7',
  interfaces: {
    lo: [address('IPv4', '127.0.0.1'), address('IPv6', '::1')],
    eth0: [
      address('IPv4', '192.0.2.7'),
      address('IPv6', '2001:db8::7'),
      address('IPv6', 'fe80::7'),
    ],
    gone: undefined,
  },
}

for (const [bindAddress, hostname, names] of [
  ['127.0.0.1', 'build-7', ['127.0.0.1']],
  ['192.0.2.7', 'build-7', ['192.0.2.7']],
  ['0.0.0.0', 'build-7', ['0.0.0.0', 'build-7', '127.0.0.1', '192.0.2.7']],
  ['0.0.0.0', '42', ['0.0.0.0', '127.0.0.1', '192.0.2.7']],
  ['::', 'build-7', ['::', 'build-7', '127.0.0.1', '::1', '192.0.2.7', '2001:db8::7']],
] as const) {
  test(`listening on ${bindAddress} of ${hostname}: ${names.join(', ')}`, () => {
    assert.deepEqual(serverNames(bindAddress, { ...machine, hostname }), names)
  })
}

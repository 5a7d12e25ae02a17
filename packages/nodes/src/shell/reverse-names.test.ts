import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOfReverseName, reverseName } from './reverse-names.ts'

test('an address is found by the name that it was turned into, in its usual form', () => {
  for (const [address, usual] of [
    ['10.0.0.7', '10.0.0.7'],
    ['fd00:10:224::2', 'fd00:10:224::2'],
    ['FD00:0010::0', 'fd00:10::'],
    ['::1', '::1'],
  ] as const)
    assert.equal(addressOfReverseName(reverseName(address)!), usual)
  assert.equal(reverseName('web'), undefined)
})

test('names that are cut short, or of another kind, are of no address', () => {
  for (const name of ['0.10.in-addr.arpa', '1.0.ip6.arpa', 'web.shop.svc.cluster.local'])
    assert.equal(addressOfReverseName(name), undefined, name)
})

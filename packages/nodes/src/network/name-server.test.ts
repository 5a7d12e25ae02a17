import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corefileOf, lookupIn, recordsIn, zoneFrom } from './name-server.ts'

const ZONE = zoneFrom(`. {
	hosts {
		1.1.1.1 one.example.com also.example.com # a comment
		2001:db8::1 One.example.com.
		10.0.0.1 one.example.com
		ttl 60
		fallthrough
	}
	log
}
example.org { hosts /etc/hosts example.org {
  2.2.2.2 two.example.org
} }`)

test('rows of hosts blocks are names, whatever else a Corefile has', () => {
  assert.deepEqual([...ZONE].sort(), [
    ['also.example.com', ['1.1.1.1']],
    ['one.example.com', ['1.1.1.1', '2001:db8::1', '10.0.0.1']],
    ['two.example.org', ['2.2.2.2']],
  ])
  assert.equal(zoneFrom('. {\n forward . /etc/resolv.conf\n}').size, 0)
})

test('the first name of a search list that is there is found, addresses by type', () => {
  assert.deepEqual(lookupIn(ZONE, ['one.a', 'ALSO.example.com.', 'two.example.org']), {
    kind: 'found',
    name: 'also.example.com',
    addresses: ['1.1.1.1'],
  })
  assert.deepEqual(lookupIn(ZONE, ['nosuch']), { kind: 'unknown' })
  assert.deepEqual(recordsIn(ZONE, ['one.example.com'], 'AAAA'), {
    kind: 'found',
    records: [{ name: 'one.example.com', type: 'AAAA', data: '2001:db8::1' }],
  })
  assert.deepEqual(recordsIn(ZONE, ['nosuch'], 'A'), { kind: 'unknown', records: [] })
})

for (const [line, expected] of [
  ['/coredns -conf /etc/coredns/Corefile', '/etc/coredns/Corefile'],
  ['coredns', '/Corefile'],
  ['/agnhost netexec', undefined],
] as const)
  test(`the Corefile of ${line} is ${expected}`, () => {
    assert.equal(corefileOf(line.split(' ')), expected)
  })

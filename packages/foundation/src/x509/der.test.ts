import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ipAddressBytes } from './certificate.ts'
import * as der from './der.ts'

describe('DER', () => {
  for (const [title, bytes, hex] of [
    ['a short sequence', der.sequence(der.boolean(true)), '30030101ff'],
    ['an integer that would look negative', der.integer(Uint8Array.of(0x80)), '02020080'],
    ['an integer without its leading zeros', der.integer(Uint8Array.of(0, 0, 5)), '020105'],
    [
      'an object identifier with long arcs',
      der.objectIdentifier('1.2.840.10045.4.3.2'),
      '06082a8648ce3d040302',
    ],
    [
      'a time before 2050',
      der.time(Date.UTC(2049, 11, 31, 23, 59, 59)),
      `170d${Buffer.from('491231235959Z').toString('hex')}`,
    ],
    [
      'a time from 2050 on',
      der.time(Date.UTC(2050, 0, 1)),
      `180f${Buffer.from('20500101000000Z').toString('hex')}`,
    ],
  ] as const) {
    test(`writes ${title}`, () => assert.equal(bytes.toString('hex'), hex))
  }

  test('writes lengths above 127 in the long form', () => {
    assert.equal(der.octetString(new Uint8Array(200)).subarray(0, 3).toString('hex'), '0481c8')
    assert.equal(der.octetString(new Uint8Array(300)).subarray(0, 4).toString('hex'), '0482012c')
  })

  test('knows addresses of both families', () => {
    assert.deepEqual([...ipAddressBytes('10.0.0.1')], [10, 0, 0, 1])
    assert.equal(Buffer.from(ipAddressBytes('::1')).toString('hex'), '0'.repeat(31) + '1')
    assert.equal(
      Buffer.from(ipAddressBytes('fd00:1::2')).toString('hex'),
      'fd000001000000000000000000000002',
    )
  })
})

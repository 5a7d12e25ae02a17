import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceSpec } from '@gyropilot/api'
import { service } from './fixtures.ts'
import { declaredFamilies, isHeadless, parseIpAddress } from './ip-address.ts'

const addresses: readonly (readonly [text: string, family?: string, canonical?: string])[] = [
  ['10.0.0.1', 'IPv4', '10.0.0.1'],
  ['010.000.000.001', 'IPv4', '10.0.0.1'],
  ['255.255.255.255', 'IPv4', '255.255.255.255'],
  ['::ffff:10.1.2.3', 'IPv4', '10.1.2.3'],
  ['::FFFF:a01:203', 'IPv4', '10.1.2.3'],
  ['1::ffff:a01:203', 'IPv6', '1::ffff:a01:203'],
  ['::ffff:a01:203:4', 'IPv6', '::ffff:a01:203:4'],
  ['010.0.0.255', 'IPv4', '10.0.0.255'],
  ['2001:DB8:0:0:0:0:0:1', 'IPv6', '2001:db8::1'],
  ['2001:db8::0001', 'IPv6', '2001:db8::1'],
  ['::', 'IPv6', '::'],
  ['::1', 'IPv6', '::1'],
  ['2001:db8:0:0:1:0:0:1', 'IPv6', '2001:db8::1:0:0:1'],
  ['256.0.0.1'],
  ['10.0.0'],
  ['10.0.0.0.1'],
  ['1.2.3.x'],
  [''],
  ['fe80::1%eth0'],
  ['1::2::3'],
  [']:80/['],
]
for (const [text, family, canonical] of addresses) {
  test(`${JSON.stringify(text)} is ${canonical ?? 'no address'}`, () => {
    const expected = family === undefined ? undefined : { family, text: canonical }
    assert.deepEqual(parseIpAddress(text), expected)
  })
}

const families: readonly (readonly [title: string, spec: ServiceSpec, families: string[]])[] = [
  ['declared ones count', { ipFamilies: ['IPv6', 'IPv4'] }, ['IPv6', 'IPv4']],
  ['without them that of the cluster IP', { ipFamilies: [], clusterIP: 'fd00::1' }, ['IPv6']],
  ['a headless Service has none', { ipFamilies: [], clusterIP: 'None' }, []],
  ['nor has one without cluster IP', { ipFamilies: undefined, clusterIP: '' }, []],
  ['nor one that says nothing', { ipFamilies: undefined, clusterIP: undefined }, []],
  ['empty names do not count', { ipFamilies: [''], clusterIP: '10.0.0.1' }, ['IPv4']],
]
for (const [title, spec, expected] of families) {
  test(`families: ${title}`, () => assert.deepEqual(declaredFamilies(service({ spec })), expected))
}

test('a Service is headless when its cluster IP is None or empty', () => {
  assert.ok(isHeadless(service({ spec: { clusterIP: 'None' } })))
  assert.ok(isHeadless(service({ spec: { clusterIP: '' } })))
  assert.ok(!isHeadless(service()))
})

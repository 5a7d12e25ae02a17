import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cidrContains,
  cidrsOverlap,
  formatCidr,
  formatIp,
  hostAndPort,
  isStrictSubset,
  lastAddress,
  maskedCidr,
  parseCidr,
  parseIp,
} from './ip.ts'
import type { Cidr } from './ip.ts'

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text)
  assert.ok(parsed, text)
  return parsed
}

test('addresses are printed in the form of RFC 5952', () => {
  const forms = [
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ] as const
  for (const [text, canonical] of forms) assert.equal(formatIp(parseIp(text)!), canonical)
})

test('text that is no address or network is nothing', () => {
  for (const text of ['', '1.2.3', '1.2.3.256', '01.2.3.4', '1:2:3', ':::', '1::2::3', 'x'])
    assert.equal(parseIp(text), undefined, text)
  for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', 'fd00::/129', '/8'])
    assert.equal(parseCidr(text), undefined, text)
})

test('networks overlap where one contains the other, in one family', () => {
  const overlaps = [
    ['10.0.0.0/8', '10.1.0.0/16', true],
    ['10.1.0.0/16', '10.0.0.0/8', true],
    ['10.0.0.0/16', '10.0.0.0/16', true],
    ['10.0.0.0/16', '10.1.0.0/16', false],
    ['0.0.0.0/0', '192.168.0.1/32', true],
    ['fd00::/64', 'fd00::1/128', true],
    ['fd00::/64', 'fd00:0:0:1::/64', false],
    ['::/0', '0.0.0.0/0', false],
  ] as const
  for (const [a, b, wanted] of overlaps)
    assert.equal(cidrsOverlap(cidr(a), cidr(b)), wanted, `${a} ${b}`)
  assert.equal(isStrictSubset(cidr('10.1.0.0/16'), cidr('10.0.0.0/8')), true)
  assert.equal(isStrictSubset(cidr('10.0.0.0/8'), cidr('10.0.0.0/8')), false)
})

test('an address lies between the first and the last of its network', () => {
  const net = cidr('10.0.4.0/22')
  const inside = ['10.0.4.0', '10.0.7.255', '10.0.5.1']
  for (const text of inside) assert.ok(cidrContains(net, parseIp(text)!), text)
  for (const text of ['10.0.3.255', '10.0.8.0', '::']) assert.ok(!cidrContains(net, parseIp(text)!))
  assert.equal(formatIp(lastAddress(net)), '10.0.7.255')
  assert.equal(formatIp(lastAddress(cidr('fd00::/126'))), 'fd00::3')
  assert.equal(formatCidr(maskedCidr(cidr('10.0.6.7/22'))), '10.0.4.0/22')
})

test('a port stands behind brackets where the host has colons', () => {
  const shown = ['10.0.0.1', 'fd00::1', 'localhost'].map((host) => hostAndPort(host, 80))
  assert.deepEqual(shown, ['10.0.0.1:80', '[fd00::1]:80', 'localhost:80'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { externalIp, hostName, internalIp } from '../cloud-support/fixtures.ts'
import { addressesForProvidedIp } from './provided-ip.ts'

const reported = [
  internalIp('10.0.0.1'),
  internalIp('10.0.0.2'),
  externalIp('132.143.154.163'),
  internalIp('fd00::2'),
  hostName('n'),
]

test('Given provided-node-ip valid, not valid, not reported, then addresses are filtered, or the sync errors', () => {
  assert.deepEqual(addressesForProvidedIp('10.0.0.2', reported), [
    internalIp('10.0.0.2'),
    externalIp('132.143.154.163'),
    hostName('n'),
  ])
  assert.throws(
    () => addressesForProvidedIp('10.0.0', reported),
    /failed to parse node IP "10.0.0": could not parse "10.0.0"/,
  )
  assert.throws(
    () => addressesForProvidedIp('10.0.0.9', reported),
    /failed to get node address from cloud provider that matches ip: 10.0.0.9/,
  )
})

test('a dual-stack pair keeps its order', () => {
  assert.deepEqual(addressesForProvidedIp('fd00::2,10.0.0.1', reported), [
    internalIp('fd00::2'),
    internalIp('10.0.0.1'),
    externalIp('132.143.154.163'),
    hostName('n'),
  ])
})

test('differently written IPv6 addresses match, host names never', () => {
  assert.deepEqual(addressesForProvidedIp('fd00:0:0::0002', reported)[0], internalIp('fd00::2'))
  assert.throws(() => addressesForProvidedIp('10.1.1.1', [hostName('10.1.1')]))
})

test('leading zeros are read as the kubelet reads them', () => {
  const padded = [internalIp('010.0.0.1')]
  assert.deepEqual(addressesForProvidedIp('10.0.0.01', padded), padded)
})

test('an address of several types is taken with each of them', () => {
  const both = [internalIp('10.0.0.1'), externalIp('10.0.0.1'), externalIp('1.1.1.1')]
  assert.deepEqual(addressesForProvidedIp('10.0.0.1', both), both.slice(0, 2))
})

test('an IPv6 address of the same number is another address', () => {
  const other = { type: 'InternalIP', address: '::a00:1' }
  assert.throws(() => addressesForProvidedIp('10.0.0.1', [other]), /matches ip: 10.0.0.1/)
})

test('two of one family, or three, are no provided IP', () => {
  for (const text of ['10.0.0.1,10.0.0.2', '10.0.0.1,fd00::2,10.0.0.2', '']) {
    assert.throws(() => addressesForProvidedIp(text, reported), /failed to parse node IP/, text)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodAddresses } from './pod-addresses.ts'

const { signal } = new AbortController()

test('pods wait for the range of their node, and all get an address of it when it comes', async () => {
  const addresses = new PodAddresses()
  const taken = [addresses.take(signal), addresses.take(signal)]
  assert.equal(addresses.isKnown, false)
  addresses.learn(['10.244.1.0/24'])
  assert.equal(addresses.isKnown, true)
  assert.deepEqual(await Promise.all(taken), [['10.244.1.2'], ['10.244.1.3']])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.4'])
})

test('a pod that goes while it waits takes nothing', async () => {
  const addresses = new PodAddresses()
  const leaving = new AbortController()
  const taken = addresses.take(leaving.signal)
  leaving.abort(new Error('pod is gone'))
  await assert.rejects(taken, { message: 'pod is gone' })
  addresses.learn(['10.244.1.0/24'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.2'])
})

test('addresses of pods that ran before are kept, also when the range comes to be known after them', async () => {
  const addresses = new PodAddresses()
  for (const address of ['10.244.1.2', '10.244.1.3']) addresses.claim([address])
  addresses.release(['10.244.1.3'])
  addresses.learn(['10.244.1.0/24'])
  addresses.claim(['10.244.1.4'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.3'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.5'])
})

test('a second range is not listened to: the first is never taken back', async () => {
  const addresses = new PodAddresses()
  addresses.learn(['10.244.1.0/24'])
  addresses.learn(['10.244.9.0/24'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.2'])
})

test('when all addresses are taken there is none, until one is released', async () => {
  const addresses = new PodAddresses()
  addresses.learn(['10.244.1.0/30'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.2'])
  assert.equal(await addresses.take(signal), undefined)
  addresses.release(['10.244.1.2'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.2'])
})

test('where a node has a range of each family a pod gets one of each, or none', async () => {
  const addresses = new PodAddresses()
  addresses.claim(['fd00:1::2'])
  addresses.learn(['10.244.1.0/29', 'fd00:1::/126'])
  assert.equal(await addresses.take(signal), undefined, 'the only one of IPv6 is taken')
  addresses.release(['fd00:1::2'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.3', 'fd00:1::2'])
  addresses.release(['10.244.1.3', 'fd00:1::2'])
  assert.deepEqual(await addresses.take(signal), ['10.244.1.4', 'fd00:1::2'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IpPool } from './ip-pool.ts'

test('addresses start after the bridge, end before broadcast and come back late', () => {
  const pool = new IpPool('10.244.1.0/29')
  const taken = Array.from({ length: 5 }, () => pool.take())
  assert.deepEqual(taken, ['10.244.1.2', '10.244.1.3', '10.244.1.4', '10.244.1.5', '10.244.1.6'])
  assert.equal(pool.take(), undefined)
  pool.release('10.244.1.3')
  assert.equal(pool.take(), '10.244.1.3')
})

test('a released address is not the next one', () => {
  const pool = new IpPool('10.244.1.0/24')
  pool.release(pool.take()!)
  assert.equal(pool.take(), '10.244.1.3')
})

test('addresses of pods that ran before are not given again', () => {
  const pool = new IpPool('10.244.1.0/24')
  pool.claim('10.244.1.2')
  assert.equal(pool.take(), '10.244.1.3')
})

test('an IPv6 range has addresses too, as they are written', () => {
  const pool = new IpPool('fd00:10:244:1::/64')
  assert.deepEqual([pool.take(), pool.take()], ['fd00:10:244:1::2', 'fd00:10:244:1::3'])
  pool.release('fd00:10:244:1::2')
  pool.claim('fd00:10:244:1::4')
  assert.equal(pool.take(), 'fd00:10:244:1::5')
})

test('what is none of its addresses is neither claimed nor released', () => {
  const pool = new IpPool('10.244.1.0/30')
  for (const address of ['10.244.2.2', '10.244.1.1', 'fd00::2', 'nonsense']) pool.claim(address)
  assert.equal(pool.take(), '10.244.1.2')
  for (const address of ['10.244.2.2', 'fd00::2', '192.168.0.1']) pool.release(address)
  assert.equal(pool.take(), undefined)
})

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

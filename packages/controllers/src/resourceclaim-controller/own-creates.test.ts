import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf } from '@gyropilot/api'
import { claim, pod } from './fixtures.ts'
import { OwnCreates } from './own-creates.ts'

test('doubts are of one entry each, and end with their pod', () => {
  const own = new OwnCreates()
  own.doubt('p-uid', 'gpu')
  own.doubt('p-uid', 'nic')
  own.resolveDoubt('p-uid', 'gpu')
  assert.deepEqual([own.isDoubted('p-uid', 'gpu'), own.isDoubted('p-uid', 'nic')], [false, true])
  assert.equal(own.isDoubted('q-uid', 'nic'), false)
  own.userGone('p-uid')
  assert.equal(own.isDoubted('p-uid', 'nic'), false)
  own.resolveDoubt('p-uid', 'nic')
})

test('what is over does not come back when another claim is remembered', () => {
  const own = new OwnCreates()
  const other = pod({ uid: 'other' })
  own.remember(claim('old', { owner: pod() }), pod(), 0)
  own.remember(claim('new', { owner: pod(), entry: 'nic' }), pod(), 3_600_000)
  assert.equal(own.find(pod(), 'gpu', 0), undefined)
  assert.equal(own.find(pod(), 'nic', 7_199_999)?.metadata?.name, 'new')
  assert.equal(own.find(pod(), 'nic', 7_200_000), undefined)
  own.remember(claim('third', { owner: other }), other, 7_199_999)
  assert.equal(own.find(pod(), 'nic', 7_199_999)?.metadata?.name, 'new')
  assert.equal(own.find(other, 'gpu', 7_199_999)?.metadata?.name, 'third')
})

test('with its pod, and once the cache has it, a claim is forgotten', () => {
  const own = new OwnCreates()
  const names = (): unknown[] =>
    ['gpu', 'nic'].map((entry) => own.find(pod(), entry, 0)?.metadata?.name)
  const first = claim('first', { owner: pod() })
  own.remember(first, pod(), 0)
  own.remember(claim('second', { owner: pod(), entry: 'nic' }), pod(), 0)
  assert.deepEqual(names(), ['first', 'second'])
  own.forget(keyOf(first))
  assert.deepEqual(names(), [undefined, 'second'])
  own.userGone(pod().metadata!.uid!)
  assert.deepEqual(names(), [undefined, undefined])
})

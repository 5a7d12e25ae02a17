import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import type { EventRecord } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { Evictions } from './evictions.ts'
import { START, claim, pod, slice, taint } from './fixtures.ts'
import { podItemKey } from './keys.ts'

const user = pod('p')
const key = podItemKey(user)
const used = claim('c', { users: [user] })

/** With a tainted `gpu-0` and a `gpu-1` that is well. */
function evictions(...pods: readonly Pod[]) {
  const told: EventRecord[] = []
  const informers = fakeInformers(pods as readonly KubernetesObject[])
  const made = new Evictions({
    pods: informers.informer(resources.pods).lister,
    sharesClaims: false,
    nowMs: () => Date.parse(START),
    record: (event) => told.push(event),
  })
  made.sliceChanged(undefined, slice('s', { 'gpu-0': [taint('bad')], 'gpu-1': [] }))
  return { made, told }
}

test('a pod that was evicted is not judged again, whatever happens to its claim', () => {
  const { made, told } = evictions(user)
  assert.deepEqual(made.claimChanged(undefined, used), [key])
  made.finished(key, 'p-uid')
  assert.equal(made.isEvicted('p-uid'), true)
  const other = claim('c', { users: [user, pod('q')] })
  assert.deepEqual(made.claimChanged(used, other), [])
  assert.deepEqual(made.claimChanged(other, claim('c', { users: [user] })), [])
  assert.deepEqual(made.claimChanged(used, undefined), [])
  assert.deepEqual([made.pendingAt(key), told], [undefined, []])
})

test('of 500 pods that were evicted the oldest is forgotten first', () => {
  const { made } = evictions()
  for (let pod = 0; pod < 500; pod++) made.finished(`${pod}`, `uid-${pod}`)
  assert.equal(made.isEvicted('uid-0'), true)
  made.finished('next', 'uid-next')
  assert.deepEqual([made.isEvicted('uid-0'), made.isEvicted('uid-1')], [true, false])
})

test('a claim that was freed and allocated anew unseen is found by its new devices, and not by the former ones', () => {
  const { made } = evictions(user)
  const well = claim('c', { devices: ['gpu-1'], users: [user] })
  assert.deepEqual(made.claimChanged(undefined, well), [])
  assert.deepEqual(made.claimChanged(well, used), [key])
  assert.deepEqual(made.claimChanged(used, well), [])
  const before = slice('s', { 'gpu-0': [taint('bad')], 'gpu-1': [] })
  const worse = slice('s', { 'gpu-0': [taint('worse')], 'gpu-1': [] })
  assert.deepEqual(made.sliceChanged(before, worse), [])
  const both = slice('s', { 'gpu-0': [], 'gpu-1': [taint('bad')] })
  assert.deepEqual(made.sliceChanged(worse, both), [key])
  // Nothing is left of it when it is gone.
  made.claimChanged(well, claim('c', { devices: [] }))
  assert.deepEqual(made.sliceChanged(both, before), [])
})

test('another claim of the name is judged anew, though all else is the same', () => {
  const { made, told } = evictions(user)
  made.claimChanged(undefined, used)
  assert.deepEqual(made.claimChanged(used, claim('c', { users: [user] })), [])
  assert.deepEqual(told, [])
  assert.deepEqual(made.claimChanged(used, claim('c', { users: [user], uid: 'later' })), [key])
})

test('nothing waits for a pod whose name another one has taken', () => {
  const { made, told } = evictions(user)
  made.claimChanged(undefined, used)
  assert.notEqual(made.pendingAt(key), undefined)
  assert.deepEqual(made.podChanged(user, pod('p', { uid: 'other', claims: [] })), [])
  assert.deepEqual([made.pendingAt(key), [...made.pending()], told], [undefined, [], []])
})

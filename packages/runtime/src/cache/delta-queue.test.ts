import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { DeltaQueue, MAX_BATCH_SIZE } from './delta-queue.ts'
import { ObjectTable } from './object-table.ts'

const object = (name: string): KubernetesObject => ({ metadata: { name } })
const take = (queue: DeltaQueue<KubernetesObject>): string[] | string => {
  const batch = queue.takeBatch()
  return 'length' in batch ? batch.map(({ type, key }) => `${type} ${key}`) : batch.type
}

test('Given two updates of one key, then both are delivered (RealFIFO).', () => {
  const queue = new DeltaQueue()
  queue.add('Updated', 'a', object('a'))
  queue.add('Updated', 'a', object('a'))
  assert.deepEqual([take(queue), take(queue), take(queue)], [['Updated a'], ['Updated a'], []])
})

test('deltas of different objects come in one batch, in the order of their arrival', () => {
  const queue = new DeltaQueue()
  queue.add('Added', 'b', object('b'))
  queue.add('Deleted', 'a', object('a'))
  queue.add('Updated', 'c', object('c'))
  assert.deepEqual(take(queue), ['Added b', 'Deleted a', 'Updated c'])
})

test('Given 1,000+ queued deltas with a repeated key, then a batch ends before the repeat.', () => {
  const queue = new DeltaQueue()
  for (let i = 0; i < 600; i++) queue.add('Added', `k${i}`, object(`k${i}`))
  for (let i = 0; i < 600; i++) queue.add('Updated', `k${i}`, object(`k${i}`))
  assert.deepEqual([take(queue).length, take(queue).length, take(queue).length], [600, 600, 0])
  for (let i = 0; i < 1_500; i++) queue.add('Added', `k${i}`, object(`k${i}`))
  assert.deepEqual([take(queue).length, take(queue).length], [MAX_BATCH_SIZE, 500])
})

test('lists, resyncs and bookmarks come alone', () => {
  const queue = new DeltaQueue()
  queue.add('Added', 'a', object('a'))
  queue.bookmark('5')
  queue.add('Added', 'b', object('b'))
  queue.resync()
  queue.replaceAll(new ObjectTable(), '7')
  queue.add('Added', 'c', object('c'))
  assert.deepEqual(
    [take(queue), take(queue), take(queue), take(queue), take(queue), take(queue)],
    [['Added a'], 'Bookmark', ['Added b'], 'SyncAll', 'ReplacedAll', ['Added c']],
  )
})

test('synced when the first list was taken in, also when it is empty', () => {
  const queue = new DeltaQueue()
  assert.equal(queue.hasSynced(), false)
  queue.replaceAll(new ObjectTable(), '7')
  assert.equal(queue.hasSynced(), false)
  queue.takeBatch()
  queue.replaceTakenIn()
  assert.equal(queue.hasSynced(), true)
})

test('a list that comes first is awaited, whatever comes behind it; one that comes behind an event is not', () => {
  const listed = new DeltaQueue()
  listed.replaceAll(new ObjectTable(), '7')
  listed.add('Added', 'a', object('a'))
  listed.replaceAll(new ObjectTable(), '8')
  assert.equal(listed.hasSynced(), false)
  const watched = new DeltaQueue()
  watched.add('Added', 'a', object('a'))
  watched.replaceAll(new ObjectTable(), '7')
  assert.equal(watched.hasSynced(), true)
})

test('neither a resync nor a bookmark says anything of what there is', () => {
  const queue = new DeltaQueue()
  queue.resync()
  queue.bookmark('5')
  assert.deepEqual([queue.hasSynced(), queue.size], [false, 2])
})

test('an event before any list makes it synced', () => {
  const queue = new DeltaQueue()
  queue.add('Added', 'a', object('a'))
  assert.equal(queue.hasSynced(), true)
})

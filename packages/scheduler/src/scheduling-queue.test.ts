import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { VirtualClock } from '@gyropilot/foundation'
import { pod } from '@gyropilot/api/testing'
import { SchedulingQueue } from './scheduling-queue.ts'

function queue(isGated: (of: Pod) => boolean = () => false) {
  const clock = new VirtualClock({ settle: () => Promise.resolve() })
  let ready = 0
  const made = new SchedulingQueue(clock, () => ready++, isGated)
  return { clock, made, readyCalls: () => ready }
}

test('high priorities first, equal ones in order of arrival', () => {
  const { made } = queue()
  for (const [name, priority] of [
    ['a', 0],
    ['b', 10],
    ['c', 0],
  ] as const) {
    made.offer(pod({ name, spec: { priority } }))
  }
  const order = [made.take(), made.take(), made.take()].map((one) => one?.metadata?.name)
  assert.deepEqual(order, ['b', 'a', 'c'])
  assert.equal(made.take(), undefined)
})

test('a pod that comes back from a try is behind those of its priority that wait for theirs', async () => {
  for (const how of ['failed', 'errored'] as const) {
    const { clock, made } = queue()
    made.offer(pod({ name: 'tried' }))
    made.take()
    made.offer(pod({ name: 'newer' }))
    made.offer(pod({ name: 'important', spec: { priority: 10 } }))
    made[how]('uid-tried')
    made.moveAll()
    await clock.advance(1_000)
    const order = [made.take(), made.take(), made.take()].map((one) => one?.metadata?.name)
    assert.deepEqual(order, ['important', 'newer', 'tried'], how)
  }
})

test('a pod that was taken with others has no turn left from before', async () => {
  const { clock, made } = queue()
  for (const name of ['first', 'with', 'other']) made.offer(pod({ name }))
  assert.equal(made.takeWith(made.take()!, ['uid-with']).length, 2)
  made.failed('uid-with')
  made.moveAll()
  await clock.advance(1_000)
  const order = [made.take(), made.take(), made.take()].map((one) => one?.metadata?.name)
  assert.deepEqual(order, ['other', 'with', undefined])
})

test('a failed pod waits for an event, then for its back-off: 1, 2, 4, 8, 10, 10 s', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    assert.ok(made.take())
    made.failed('uid-p')
    made.moveAll()
    await clock.advance(seconds * 1000 - 1)
    assert.equal(made.take(), undefined, `before ${seconds} s`)
    await clock.advance(1)
  }
  assert.ok(made.take())
})

test('a try that went wrong needs no event: it is made again after 1, 2, 4, 8, 10, 10 s', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    assert.ok(made.take())
    made.errored('uid-p')
    await clock.advance(seconds * 1000 - 1)
    assert.equal(made.take(), undefined, `before ${seconds} s`)
    await clock.advance(1)
  }
  assert.ok(made.take())
  made.failed('uid-p')
  made.moveAll()
  await clock.advance(1_000)
  assert.ok(made.take(), 'errors and failures are counted apart')
})

test('an event that comes while a pod is being tried is not lost', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  made.take()
  made.moveAll()
  made.failed('uid-p')
  await clock.advance(1_000)
  assert.ok(made.take())
})

test('without any event a pod is tried again after five minutes', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  made.take()
  made.failed('uid-p')
  await clock.advance(299_000)
  assert.equal(made.take(), undefined)
  await clock.advance(1_000)
  assert.ok(made.take())
})

test('a removed pod is never handed out', () => {
  const { made } = queue()
  made.offer(pod())
  made.remove('uid-p')
  assert.equal(made.take(), undefined)
})

test('an event while a pod is being tried counts, one before does not', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  made.moveAll()
  assert.ok(made.take())
  made.failed('uid-p')
  await clock.advance(60_000)
  assert.equal(made.take(), undefined, 'an event before the try')
  made.moveAll()
  assert.ok(made.take())
  made.moveAll()
  made.failed('uid-p')
  await clock.advance(2_000)
  assert.ok(made.take(), 'an event during the try')
})

test('a pod that changes while it is being tried is tried once more', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  assert.ok(made.take())
  made.offer(pod({ metadata: { generation: 2 } }))
  made.failed('uid-p')
  await clock.advance(1_000)
  assert.ok(made.take())
})

test('a pod that fits nowhere is tried again once its own labels or claims are others', async () => {
  const { clock, made } = queue()
  const tryInVain = () => {
    const taken = made.take()
    if (taken !== undefined) made.failed('uid-p')
    return taken
  }
  const offered = async (given: Parameters<typeof pod>[0]) => {
    made.offer(pod(given))
    await clock.advance(20_000)
    return tryInVain() !== undefined
  }
  assert.equal(await offered({}), true)
  assert.equal(
    await offered({ metadata: { resourceVersion: '2', annotations: { a: 'b' } } }),
    false,
  )
  const conditions = [{ type: 'PodScheduled', status: 'False' }]
  assert.equal(await offered({ status: { conditions } }), false, 'written of the try itself')
  assert.equal(await offered({ metadata: { labels: { a: 'b' } } }), true)
  assert.equal(await offered({ metadata: { labels: { a: 'b' } }, status: {} }), false)
  const resourceClaimStatuses = [{ name: 'gpu', resourceClaimName: 'p-gpu-abcde' }]
  const recorded = { metadata: { labels: { a: 'b' } }, status: { resourceClaimStatuses } }
  assert.equal(await offered(recorded), true, 'the claim came first, its name after the try')
  assert.equal(await offered(recorded), false)
})

test('who is gone is not moved', async () => {
  const { clock, made } = queue()
  made.offer(pod())
  made.take()
  made.failed('uid-p')
  made.remove('uid-p')
  made.moveAll()
  await clock.advance(600_000)
  assert.equal(made.take(), undefined)
})

test('a pod that is not to be tried yet has failed nothing: it is tried with the event that lets it', () => {
  let isGated = true
  const { made } = queue(() => isGated)
  made.offer(pod())
  assert.equal(made.take(), undefined)
  made.moveAll()
  assert.equal(made.take(), undefined, 'an event that helps others')
  isGated = false
  assert.equal(made.take(), undefined, 'without an event nobody knows')
  made.moveAll()
  assert.ok(made.take())
})

test('a pod that is not to be tried any more waits, and then for the back-off that is left', async () => {
  let isGated = false
  const { clock, made } = queue(() => isGated)
  made.offer(pod())
  assert.ok(made.take())
  made.failed('uid-p')
  isGated = true
  made.moveAll()
  await clock.advance(500)
  isGated = false
  made.moveAll()
  await clock.advance(499)
  assert.equal(made.take(), undefined)
  await clock.advance(1)
  assert.ok(made.take())
})

test('pods taken together: those that wait for anything but their own gate, in the order of their turns', async () => {
  const { clock, made } = queue((one) => one.metadata?.name === 'gated')
  for (const [name, priority] of [
    ['failed', 0],
    ['errored', 0],
    ['trying', 0],
    ['gated', 0],
    ['important', 10],
    ['other', 0],
  ] as const)
    made.offer(pod({ name, spec: { priority } }))
  for (let taken = made.take(); taken !== undefined; taken = made.take()) {
    const name = taken.metadata?.name
    if (name === 'errored') made.errored('uid-errored')
    else if (name !== 'trying') made.failed(`uid-${name}`)
  }
  made.offer(pod({ name: 'first' }))
  const first = made.take()!
  const uids = ['first', 'gated', 'important', 'errored', 'trying', 'failed', 'gone']
  const taken = made.takeWith(first, new Set(uids.map((name) => `uid-${name}`)))
  assert.deepEqual(
    taken.map(({ metadata }) => metadata?.name),
    ['important', 'failed', 'errored', 'first'],
  )
  // None of them is tried before this try has ended, whatever happens and however long it takes.
  made.moveAll()
  await clock.advance(600_000)
  assert.equal(made.take()?.metadata?.name, 'other')
  assert.equal(made.take(), undefined)
})

test('what may help some pods moves these alone', async () => {
  const { clock, made } = queue()
  for (const name of ['a', 'b']) made.offer(pod({ name }))
  for (const name of ['a', 'b']) {
    made.take()
    made.failed(`uid-${name}`)
  }
  made.moveThese(['uid-b', 'uid-gone'])
  await clock.advance(60_000)
  assert.equal(made.take()?.metadata?.name, 'b')
  assert.equal(made.take(), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { ActualWorld } from './actual-world.ts'
import { node, uniqueName } from './fixtures.ts'
import { NodeStatuses } from './node-status.ts'

/** `v` and `w` are attached to node `a`, and `cached` is what is known of it. */
function telling(cached: Node | undefined, answer?: () => Outcome) {
  const actual = new ActualWorld(() => {})
  for (const volume of ['v', 'w']) actual.attached(uniqueName(volume), 'a')
  const state = { cached, writes: 0 }
  const errors: string[] = []
  const clock = testClock()
  const statuses = new NodeStatuses({
    actual,
    clock,
    nodeNamed: () => state.cached,
    perform: async <R>(_rules: Reconcile<R>): Promise<R> => {
      state.writes += 1
      return (answer?.() ?? { ok: true, object: written(state.writes) }) as R
    },
    onError: (error, nodeName) => errors.push(`${nodeName}: ${(error as Error).message}`),
  })
  return { actual, statuses, state, errors, clock }
}

/** As the server answers the write. */
const written = (version: number): Node => {
  const told = node('a', { attached: ['v', 'w'] })
  return { ...told, metadata: { ...told.metadata, resourceVersion: String(100 + version) } }
}

test('a node that knows it already is not told, whatever the order, and one about which nothing changed neither', async () => {
  const { actual, statuses, state } = telling(node('a', { attached: ['w', 'v'] }))
  assert.equal(await statuses.write('a'), true)
  // Somebody emptied the list since: what is not marked is not written.
  state.cached = node('a')
  assert.equal(await statuses.write('a'), true)
  assert.equal(state.writes, 0)
  actual.statusNeeded('a')
  assert.equal(await statuses.write('a'), true)
  assert.equal(state.writes, 1)
})

test('what was written counts while the cache is behind, and the cache when it is ahead', async () => {
  const { actual, statuses, state } = telling(node('a'))
  await statuses.write('a')
  actual.statusNeeded('a')
  await statuses.write('a')
  assert.equal(state.writes, 1)
  const emptied = node('a')
  state.cached = { ...emptied, metadata: { ...emptied.metadata, resourceVersion: '200' } }
  actual.statusNeeded('a')
  await statuses.write('a')
  assert.equal(state.writes, 2)
})

test('what could not be written is told, and waits before it is tried again', async () => {
  const { actual, statuses, state, errors, clock } = telling(node('a'), () =>
    refused(500, 'InternalError', 'no'),
  )
  assert.equal(await statuses.write('a'), false)
  assert.deepEqual([errors, actual.changedNodes()], [['a: no'], ['a']])
  assert.equal(await statuses.write('a'), false)
  assert.equal(state.writes, 1)
  await clock.advance(1_000)
  assert.equal(await statuses.write('a'), false)
  assert.equal(state.writes, 2)
})

test('a node that knows as many volumes, but others, is told', async () => {
  const { statuses, state } = telling(node('a', { attached: ['v', 'x'] }))
  assert.equal(await statuses.write('a'), true)
  assert.equal(state.writes, 1)
})

test('a write that succeeds ends the waiting: the next failure begins anew', async () => {
  let isRefusing = true
  const { actual, statuses, state, clock } = telling(node('a'), () =>
    isRefusing ? refused(500, 'InternalError', 'no') : { ok: true, object: node('a') },
  )
  const tryAfter = async (forMs: number): Promise<boolean> => {
    await clock.advance(forMs)
    const { writes } = state
    actual.statusNeeded('a')
    await statuses.write('a')
    return state.writes > writes
  }
  assert.deepEqual(
    [await tryAfter(0), await tryAfter(110), await tryAfter(110)],
    [true, true, false],
  )
  isRefusing = false
  assert.equal(await tryAfter(1_000), true)
  isRefusing = true
  assert.deepEqual([await tryAfter(0), await tryAfter(110)], [true, true])
})

test('a node that the server does not know needs to be told nothing, and nothing is kept of it', async () => {
  const { actual, statuses, errors } = telling(node('a', { attached: ['v', 'w'] }), () =>
    refused(404, 'NotFound', 'gone'),
  )
  actual.detached(uniqueName('v'), 'a')
  assert.equal(await statuses.write('a'), true)
  actual.statusNeeded('a')
  assert.equal(actual.isChanged('a'), true, 'w is attached to it still')
  actual.detached(uniqueName('w'), 'a')
  assert.equal(await statuses.write('a'), true)
  actual.statusNeeded('a')
  assert.equal(actual.isChanged('a'), false)
  assert.deepEqual(errors, [])
})

test('a node that goes while its write is waited for is waited for no more, nor one that comes in its place', async () => {
  const { actual, statuses, state } = telling(node('a'), () => refused(500, 'InternalError', 'no'))
  const changing = state as { cached: Node | undefined; writes: number }
  assert.equal(await statuses.write('a'), false)
  assert.equal(await statuses.write('a'), false)
  changing.cached = undefined
  assert.equal(await statuses.write('a'), true)
  changing.cached = node('a')
  actual.statusNeeded('a')
  await statuses.write('a')
  assert.equal(state.writes, 2)
})

test('of a node that is gone nothing is kept once nothing is attached to it: nodes come and go under ever new names', async () => {
  const { actual, statuses, state } = telling(node('a'))
  await statuses.write('a')
  const gone = state as { cached: Node | undefined }
  gone.cached = undefined
  actual.detached(uniqueName('v'), 'a')
  await statuses.write('a')
  actual.statusNeeded('a')
  assert.equal(actual.isChanged('a'), true, 'w is attached to it still')
  await statuses.write('a')
  actual.detached(uniqueName('w'), 'a')
  await statuses.write('a')
  actual.statusNeeded('a')
  assert.equal(actual.isChanged('a'), false)
})

test('what a node was told is forgotten with it, also when it goes while it is told', async () => {
  for (const goesMeanwhile of [false, true]) {
    const { actual, statuses, state } = telling(node('a'), () => {
      if (goesMeanwhile) state.cached = undefined
      return { ok: true, object: written(1) }
    })
    assert.equal(await statuses.write('a'), true)
    if (!goesMeanwhile) statuses.forget('a')
    // Another one takes its name, with a version that says nothing of it.
    state.cached = node('a')
    actual.statusNeeded('a')
    await statuses.write('a')
    assert.equal(state.writes, 2)
  }
})

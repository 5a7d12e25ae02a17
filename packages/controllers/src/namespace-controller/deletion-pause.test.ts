import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { DeletionPauses } from './deletion-pause.ts'
import { terminating } from './fixtures.ts'

const namesake = { ...terminating(), metadata: { ...terminating().metadata, uid: 'uid-2' } }

test('a pause is counted from the first sight of a deletion, five seconds long', async () => {
  const clock = testClock()
  const pauses = new DeletionPauses(clock)
  assert.equal(pauses.leftMs(terminating()), 0, 'never seen')
  assert.equal(pauses.begin(terminating()), true)
  await clock.advance(1_000)
  assert.equal(pauses.begin(terminating({ phase: 'Active' })), false)
  assert.equal(pauses.leftMs(terminating()), 4_000)
  await clock.advance(3_994)
  assert.equal(pauses.leftMs(terminating()), 6)
  // A timer of five seconds may fire as early: the look that it leads to is the one behind the pause.
  await clock.advance(1)
  assert.equal(pauses.leftMs(terminating()), 0)
})

test('a namesake has a pause of its own; what is forgotten has none', async () => {
  const clock = testClock()
  const pauses = new DeletionPauses(clock)
  pauses.begin(terminating())
  await clock.advance(2_000)
  assert.equal(pauses.leftMs(namesake), 0)
  assert.equal(pauses.begin(namesake), true)
  assert.deepEqual([pauses.leftMs(namesake), pauses.leftMs(terminating())], [5_000, 0])
  pauses.forget('ns1')
  assert.equal(pauses.leftMs(namesake), 0)
})

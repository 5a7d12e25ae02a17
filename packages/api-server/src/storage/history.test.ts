import { SeededRandom } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History, LoggedEvent } from './history.ts'

const object = {} as Stored

function eventAt(revision: number): LoggedEvent {
  const entry = { key: `default/pod-${revision}`, object, revision, writtenAtMs: 0 }
  return new LoggedEvent({ collection: 'pods', revision, object, entry, before: undefined })
}

/** Events with revisions 2, 4, 6 and so on, one each millisecond. */
function historyOf(count: number): History {
  const history = new History(0)
  for (let index = 1; index <= count; index++) history.append(eventAt(index * 2), index)
  return history
}

const revisionsAfter = (history: History, revision: number): readonly number[] =>
  history.after(revision).map((event) => event.revision)

test('what came after a revision is the same wherever the blocks of the history end', () => {
  for (const count of [1, 1_023, 1_024, 1_025, 2_048, 3_000]) {
    const history = historyOf(count)
    const all = Array.from({ length: count }, (_, index) => (index + 1) * 2)
    for (const revision of [0, 1, 2, 2_046, 2_047, 2_048, 2_049, 2_050, 4_096, 4_097, 6_000, 6_001])
      assert.deepEqual(
        revisionsAfter(history, revision),
        all.filter((one) => one > revision),
        `${count} events, after ${revision}`,
      )
  }
})

test('a history that was compacted begins behind that revision', () => {
  for (const compacted of [1, 2, 2_046, 2_047, 2_048, 2_050, 5_999, 6_000]) {
    const history = historyOf(3_000)
    history.compact(compacted)
    assert.equal(history.floor, compacted)
    const revisions = revisionsAfter(history, compacted)
    assert.equal(revisions[0], compacted >= 6_000 ? undefined : compacted + 2 - (compacted % 2))
    assert.equal(revisions.at(-1), compacted >= 6_000 ? undefined : 6_000)
    // What was dropped does not come back for who asks below the floor.
    assert.deepEqual(revisionsAfter(history, 0), revisions)
    history.append(eventAt(9_000), 3_001)
    assert.deepEqual(revisionsAfter(history, 6_000), [9_000])
  }
})

test('of old events the newest hundred stay, and the floor is the last one that was dropped', () => {
  const history = historyOf(2_500)
  history.append(eventAt(6_000), 400_000)
  const kept = revisionsAfter(history, 0)
  assert.equal(kept.length, 100)
  assert.equal(kept.at(-1), 6_000)
  assert.equal(history.floor, kept[0]! - 2)
})

test('with random appends and compactions it is a list of which the front is dropped', () => {
  const random = new SeededRandom('history')
  const history = new History(0)
  let model: number[] = []
  let revision = 0
  for (let step = 0; step < 300; step++) {
    for (let more = random.next() * 60; more > 0; more--) {
      revision += 1 + Math.floor(random.next() * 3)
      history.append(eventAt(revision), 0)
      model.push(revision)
    }
    if (random.next() < 0.1) {
      const compacted = Math.floor(revision - random.next() * 2_500)
      history.compact(compacted)
      model = model.filter((one) => one > compacted)
    }
    const from = Math.floor(random.next() * revision)
    assert.deepEqual(
      revisionsAfter(history, from),
      model.filter((one) => one > from),
    )
  }
})

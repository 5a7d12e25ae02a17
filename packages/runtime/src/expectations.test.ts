import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExpectations } from './expectations.ts'
import { testClock } from './testing/index.ts'

const expectations = () => {
  const clock = testClock()
  return { clock, of: createExpectations(clock) }
}

test('Given 20 adds and 20 deletes expected, when all are observed in any order, then the key is satisfied; extra observations do not break it', () => {
  const { of } = expectations()
  const dependents = Array.from({ length: 20 }, (_, i) => `ns/p${i}`)
  of.expectCreations('k', 20)
  of.expectDeletions('k', dependents)
  for (const [i, dependent] of dependents.toReversed().entries()) {
    assert.equal(of.satisfied('k'), false, `after ${i} of each`)
    of.deletionObserved('k', dependent)
    of.creationObserved('k')
  }
  assert.equal(of.satisfied('k'), true)
  of.creationObserved('k')
  of.deletionObserved('k', 'ns/p0')
  assert.equal(of.satisfied('k'), true)
  of.expectCreations('k', 1)
  assert.equal(of.satisfied('k'), false, 'extra observations do not count for later ones')
})

test("Given expected deletions of two pods, when one pod's delete is observed twice, then only one is counted", () => {
  const { of } = expectations()
  of.expectDeletions('k', ['ns/a', 'ns/b'])
  of.deletionObserved('k', 'ns/a')
  of.deletionObserved('k', 'ns/a')
  assert.equal(of.satisfied('k'), false)
  of.deletionObserved('k', 'ns/b')
  assert.equal(of.satisfied('k'), true)
})

test('an unknown key is satisfied, and observing for it makes no record', () => {
  const { of } = expectations()
  of.creationObserved('k')
  of.deletionObserved('k', 'ns/a')
  assert.equal(of.satisfied('k'), true)
})

test('expectations older than five minutes are met', async () => {
  const { clock, of } = expectations()
  await clock.advance(3_600_000)
  of.expectCreations('k', 1)
  await clock.advance(5 * 60_000)
  assert.equal(of.satisfied('k'), false)
  await clock.advance(1)
  assert.equal(of.satisfied('k'), true)
})

test('setting expectations after old ones expired does not bring those back', async () => {
  const { clock, of } = expectations()
  of.expectDeletions('k', ['ns/lost'])
  await clock.advance(5 * 60_000 + 1)
  of.expectCreations('k', 1)
  of.creationObserved('k')
  assert.equal(of.satisfied('k'), true)
})

test('expected creations replace their count and leave deletions awaited', () => {
  const { of } = expectations()
  of.expectDeletions('k', ['ns/a'])
  of.expectCreations('k', 5)
  of.expectCreations('k', 1)
  of.creationObserved('k')
  assert.equal(of.satisfied('k'), false, 'the deletion')
  of.deletionObserved('k', 'ns/a')
  assert.equal(of.satisfied('k'), true)
})

test('expected deletions replace those awaited and leave creations awaited', () => {
  const { of } = expectations()
  of.expectCreations('k', 1)
  of.expectDeletions('k', ['ns/a'])
  of.expectDeletions('k', ['ns/b'])
  of.deletionObserved('k', 'ns/b')
  assert.equal(of.satisfied('k'), false, 'the creation')
  of.creationObserved('k')
  assert.equal(of.satisfied('k'), true)
})

test('deleting the expectations of a key drops both kinds', () => {
  const { of } = expectations()
  of.expectCreations('k', 1)
  of.expectDeletions('k', ['ns/a'])
  of.delete('k')
  assert.equal(of.satisfied('k'), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ControllerRevision } from '@gyropilot/api'
import { controllerRevision } from './fixtures.ts'
import { nextRevisionNumber, sortedRevisions, surplusRevisions } from './revision-order.ts'

const names = (revisions: readonly ControllerRevision[]) =>
  revisions.map(({ metadata }) => metadata?.name)

test('oldest first: by number, then creation, then name', () => {
  const sorted = sortedRevisions([
    controllerRevision({ name: 'high', revision: 10, ageSeconds: 500 }),
    controllerRevision({ name: 'b', revision: 2, ageSeconds: 60 }),
    controllerRevision({ name: 'a', revision: 2, ageSeconds: 60 }),
    controllerRevision({ name: 'z', revision: 2, ageSeconds: 90 }),
    controllerRevision({ name: 'low', revision: 1, ageSeconds: 0 }),
  ])
  assert.deepEqual(names(sorted), ['low', 'z', 'a', 'b', 'high'])
})

test('the next number is one more than the highest, and 1 at first', () => {
  assert.equal(nextRevisionNumber([]), 1)
  assert.equal(
    nextRevisionNumber([controllerRevision({ revision: 7 }), controllerRevision({ revision: 3 })]),
    8,
  )
})

const history = [1, 2, 3, 4, 5].map((revision) =>
  controllerRevision({ name: `r${revision}`, revision }),
)

for (const [title, limit, live, liveCount, expected] of [
  ['nothing is surplus below the limit', 5, [], false, []],
  ['the oldest go', 3, [], false, ['r1', 'r2']],
  ['all unused go at limit 0', 0, ['r5'], false, ['r1', 'r2', 'r3', 'r4']],
  ['revisions in use stay and are not counted', 2, ['r1', 'r5'], false, ['r2']],
  ['where they count, more unused go', 2, ['r1', 'r5'], true, ['r2', 'r3', 'r4']],
  ['where they count, they still stay', 0, ['r1', 'r5'], true, ['r2', 'r3', 'r4']],
  ['a negative limit keeps all', -1, [], false, []],
] as const) {
  test(`surplus: ${title}`, () => {
    const isLive = ({ metadata }: ControllerRevision) =>
      (live as readonly string[]).includes(metadata?.name ?? '')
    assert.deepEqual(
      names(surplusRevisions(history, { limit, isLive, ...(liveCount ? { liveCount } : {}) })),
      expected,
    )
  })
}

test('revisions beyond 2^53 are in order, and the next is one more', () => {
  const numbers = [9007199254740994n, 3, 9007199254740993n] as unknown as number[]
  const revisions = numbers.map((revision) => controllerRevision({ revision }))
  assert.deepEqual(
    sortedRevisions(revisions).map(({ revision }) => revision),
    [3, 9007199254740993n, 9007199254740994n],
  )
  assert.equal(nextRevisionNumber(revisions), 9007199254740995n)
})

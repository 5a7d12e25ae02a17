import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestCandidate, chosenStrategy, isExpired } from './candidates.ts'
import { NOW_MS, candidate } from './fixtures.ts'

const CASES: readonly (readonly [
  string,
  readonly ReturnType<typeof candidate>[],
  string | undefined,
])[] = [
  ['nobody', [], undefined],
  ['the only one', [candidate('a')], 'a'],
  [
    'the lowest emulation version, whatever its binary',
    [
      candidate('a', { emulation: '1.36.0', binary: '1.36.0' }),
      candidate('b', { emulation: '1.35.0', binary: '1.37.0' }),
    ],
    'b',
  ],
  [
    'versions are numbers: 1.9 is before 1.10',
    [candidate('a', { emulation: '1.10.0' }), candidate('b', { emulation: '1.9.0' })],
    'b',
  ],
  [
    'a release candidate is before its release',
    [candidate('a', { emulation: '1.36.0' }), candidate('b', { emulation: '1.36.0-rc.1' })],
    'b',
  ],
  [
    'then the lowest binary version',
    [candidate('a', { binary: '1.37.0' }), candidate('b', { binary: '1.36.1' })],
    'b',
  ],
  [
    'then the oldest object',
    [candidate('a', { created: -1 }), candidate('b', { created: -2 })],
    'b',
  ],
  ['then the first name', [candidate('b'), candidate('a')], 'a'],
  [
    'versions that are none never win',
    [
      candidate('a', { emulation: 'old' }),
      candidate('b', { binary: '' }),
      candidate('c', { emulation: '2.0.0' }),
    ],
    'c',
  ],
  ['nobody when no versions can be compared', [candidate('a', { emulation: '' })], undefined],
  [
    'a short version with a v is understood',
    [candidate('a'), candidate('b', { emulation: 'v1.35' })],
    'b',
  ],
]
for (const [title, candidates, wanted] of CASES) {
  test(`the best candidate: ${title}`, () => {
    assert.equal(bestCandidate(candidates)?.metadata?.name, wanted)
    assert.equal(bestCandidate(candidates.toReversed())?.metadata?.name, wanted)
  })
}

test('the strategy is that of the highest binary version', () => {
  const candidates = [
    candidate('a', { binary: '1.36.0', strategy: 'example.com/old' }),
    candidate('b', { binary: '1.37.0', strategy: 'example.com/new' }),
    candidate('c', { binary: '1.36.0', strategy: 'example.com/other' }),
  ]
  assert.deepEqual(chosenStrategy(candidates), { strategy: 'example.com/new' })
})

test('two different strategies at the highest binary version are an error that names both', () => {
  const candidates = [
    candidate('b', { strategy: 'example.com/one' }),
    candidate('a', { strategy: 'OldestEmulationVersion' }),
  ]
  const wanted = {
    conflict:
      'candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, example.com/one',
  }
  assert.deepEqual(chosenStrategy(candidates), wanted)
  assert.deepEqual(chosenStrategy(candidates.toReversed()), wanted)
})

test('a candidate counts for 30 minutes after its renewal, and not without one', () => {
  assert.equal(isExpired(candidate('a', { renewed: -1800 }), NOW_MS), false)
  assert.equal(isExpired(candidate('a', { renewed: -1800.001 }), NOW_MS), true)
  assert.equal(isExpired(candidate('a', { renewed: null }), NOW_MS), true)
})

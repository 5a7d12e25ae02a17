import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointAddress, EndpointSubset } from '@gyropilot/api'
import { addressCount, truncateSubsets } from './truncate.ts'

const MAX = 1_000
const list = (count: number): readonly EndpointAddress[] =>
  Array.from({ length: count }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }))

/** `[ready, not ready]` per subset. */
const subsetsOf = (counts: readonly (readonly [number, number])[]): readonly EndpointSubset[] =>
  counts.map(([ready, notReady], index) => ({
    ...(ready === 0 ? {} : { addresses: list(ready) }),
    ...(notReady === 0 ? {} : { notReadyAddresses: list(notReady) }),
    ports: [{ port: index + 1 }],
  }))

type Counts = readonly (readonly [ready: number, notReady: number])[]

const CASES: readonly (readonly [title: string, given: Counts, kept: Counts])[] = [
  ['997 ready + 4 not ready: 997 + 3 are kept', [[997, 4]], [[997, 3]]],
  ['1000 ready + 10 not ready: 1000 + 0', [[1000, 10]], [[1000, 0]]],
  ['1001 ready: 1000', [[1001, 0]], [[1000, 0]]],
  ['1001 ready and others: no other', [[1001, 10]], [[1000, 0]]],
  ['exactly 1000 stay', [[990, 10]], [[990, 10]]],
  [
    'every subset gives its share of ready ones, rounded up: the last may have less',
    [
      [400, 1],
      [400, 1],
      [401, 1],
    ],
    [
      [334, 0],
      [334, 0],
      [332, 0],
    ],
  ],
  [
    'every subset gives its share of the others',
    [
      [300, 400],
      [600, 100],
    ],
    [
      [300, 80],
      [600, 20],
    ],
  ],
  [
    'rounding up leaves nothing to the last: then that subset goes',
    [
      [999, 0],
      [0, 1],
      [0, 1],
    ],
    [
      [999, 0],
      [0, 1],
    ],
  ],
  [
    'a subset that has only unready ones goes when ready ones are too many',
    [
      [0, 5],
      [1500, 0],
    ],
    [[1000, 0]],
  ],
]

for (const [title, given, kept] of CASES) {
  test(title, () => {
    const truncated = truncateSubsets(subsetsOf(given), MAX)
    const counts = truncated.map(({ addresses, notReadyAddresses }) => [
      addresses?.length ?? 0,
      notReadyAddresses?.length ?? 0,
    ])
    assert.deepEqual(counts, kept)
    assert.ok(addressCount(truncated) <= MAX)
  })
}

test('the first addresses are kept, and the ports', () => {
  const [subset] = truncateSubsets(subsetsOf([[5, 5]]), 7)
  assert.deepEqual(subset, {
    addresses: list(5),
    notReadyAddresses: list(2),
    ports: [{ port: 1 }],
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, IntOrString } from '@gyropilot/api'
import { deployment } from './fixtures.ts'
import {
  availableReplicasOf,
  fencepostsOf,
  maxSurgeOf,
  maxUnavailableOf,
  newReplicaSetSize,
  progressDeadlineMs,
  replicasOf,
  revisionHistoryLimitOf,
  totalAvailable,
} from './numbers.ts'

const rolling = (replicas: number, maxSurge: IntOrString, maxUnavailable: IntOrString) =>
  deployment({
    replicas,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
  })

const fenceposts: readonly [IntOrString, IntOrString, number, number, number][] = [
  ['39%', '39%', 10, 4, 3],
  ['0%', '0%', 10, 0, 1],
  ['oops', '39%', 10, Number.NaN, 0],
  ['55%', 'urg', 10, Number.NaN, 0],
  [5, 1, 10, 5, 1],
  ['0%', '1%', 2, 0, 1],
]
test('Given surge "39%" and unavailable "39%" of 10, then 4 and 3', () => {
  assert.deepEqual(fencepostsOf(rolling(10, '39%', '39%')), { maxSurge: 4, maxUnavailable: 3 })
})

for (const [surge, unavailable, replicas, expectedSurge, expectedUnavailable] of fenceposts) {
  test(`Given surge "${surge}" and unavailable "${unavailable}" of ${replicas}`, () => {
    const given = rolling(replicas, surge, unavailable)
    if (Number.isNaN(expectedSurge))
      assert.throws(() => fencepostsOf(given), /invalid value for IntOrString/)
    else
      assert.deepEqual(fencepostsOf(given), {
        maxSurge: expectedSurge,
        maxUnavailable: expectedUnavailable,
      })
  })
}

test('maxUnavailable is at most R, 0 when R == 0 or Recreate; surge is of rolling updates only', () => {
  assert.equal(maxUnavailableOf(rolling(2, 0, 5)), 2)
  assert.equal(maxUnavailableOf(rolling(0, 0, 5)), 0)
  const recreating = deployment({
    strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } },
  })
  assert.deepEqual([maxUnavailableOf(recreating), maxSurgeOf(recreating)], [0, 0])
})

test('the new ReplicaSet grows into what surge leaves and never beyond R', () => {
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 0, 10), 2)
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 0, 0), 10)
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 3, 12), 3)
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 3, 15), 3)
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 11, 12), 11)
  assert.equal(newReplicaSetSize(rolling(10, 2, 0), 9, 9), 10)
  assert.equal(
    newReplicaSetSize(deployment({ replicas: 4, strategy: { type: 'Recreate' } }), 0, 9),
    4,
  )
})

test('MaxInt32 means no deadline and no limit', () => {
  const none = deployment({
    spec: { progressDeadlineSeconds: 2_147_483_647, revisionHistoryLimit: 2_147_483_647 },
  })
  assert.deepEqual([progressDeadlineMs(none), revisionHistoryLimitOf(none)], [undefined, undefined])
  assert.deepEqual(
    [progressDeadlineMs(deployment()), revisionHistoryLimitOf(deployment())],
    [600_000, 10],
  )
})

test('under a strategy that nobody knows there is no size', () => {
  const odd = deployment({ strategy: { type: 'Odd' as 'Recreate' } })
  assert.throws(() => newReplicaSetSize(odd, 0, 0), {
    name: 'UnexpectedStrategy',
    message: 'unexpected deployment strategy type: Odd',
  })
})

test('what is not said: one replica, and nothing available', () => {
  assert.equal(replicasOf({ spec: { selector: {}, template: {} } } as Deployment), 1)
  assert.equal(availableReplicasOf({}), 0)
  assert.equal(totalAvailable([{}, { status: { replicas: 1 } }]), 0)
})

test('where one of surge and unavailability is not said it is 0', () => {
  const only = (rollingUpdate: { maxSurge?: number; maxUnavailable?: number }) =>
    fencepostsOf(deployment({ strategy: { type: 'RollingUpdate', rollingUpdate } }))
  assert.deepEqual(only({ maxSurge: 2 }), { maxSurge: 2, maxUnavailable: 0 })
  assert.deepEqual(only({ maxUnavailable: 2 }), { maxSurge: 0, maxUnavailable: 2 })
  assert.deepEqual(only({}), { maxSurge: 0, maxUnavailable: 1 })
})

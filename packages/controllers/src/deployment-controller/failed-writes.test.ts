/** A sync that runs into a refusal: whichever write it is, the sync ends there and the key is tried again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '@gyropilot/api'
import { refused, secondsAgo } from '../workload-support/fixtures.ts'
import { asServer, deployment, owned, sizes, sync } from './fixtures.ts'

const annotations = { 'deployment.kubernetes.io/revision': '2' }
const progressing = {
  type: 'Progressing',
  status: 'True',
  reason: 'NewReplicaSetAvailable',
  message: 'm',
  lastUpdateTime: secondsAgo(1),
  lastTransitionTime: secondsAgo(1),
} as const
const complete = {
  observedGeneration: 1,
  replicas: 3,
  updatedReplicas: 3,
  availableReplicas: 3,
  conditions: [progressing],
}

function old(of: Deployment, options: { name?: string; replicas?: number } = {}): ReplicaSet {
  return owned(of, { name: 'old', image: 'old', revision: '1', ...options })
}
function fresh(of: Deployment, replicas: number, desired = 3): ReplicaSet {
  return owned(of, {
    name: 'new',
    replicas,
    revision: '2',
    annotations: sizes(desired, desired + 1),
  })
}

const rolling = deployment({ metadata: { annotations }, status: complete })
const recreating = deployment({
  metadata: { annotations },
  status: complete,
  strategy: { type: 'Recreate' },
})
const noHistory = { revisionHistoryLimit: 0 }
const tidyRolling = deployment({ metadata: { annotations }, status: complete, spec: noHistory })
const tidyRecreating = deployment({
  metadata: { annotations },
  status: complete,
  strategy: { type: 'Recreate' },
  spec: noHistory,
})
const paused = deployment({ metadata: { annotations }, spec: { ...noHistory, paused: true } })
const deleted = deployment({ metadata: { deletionTimestamp: secondsAgo(1) } })
const unannotated = deployment({ metadata: { annotations: { note: 'x' } } })

const syncs: readonly (readonly [string, Deployment, readonly ReplicaSet[], number])[] = [
  ['the first ReplicaSet of a Deployment', deployment(), [], 3],
  ['the annotations of its ReplicaSet', unannotated, [fresh(unannotated, 3)], 3],
  ['the annotations while it is deleted', deleted, [owned(deleted, { replicas: 3 })], 2],
  ['a new ReplicaSet that grows', rolling, [old(rolling, { replicas: 3 }), fresh(rolling, 0)], 2],
  ['history of a rolling update', tidyRolling, [old(tidyRolling), fresh(tidyRolling, 3)], 2],
  ['old ones of Recreate', recreating, [old(recreating, { replicas: 3 }), fresh(recreating, 0)], 2],
  ['the first one of Recreate', recreating, [old(recreating)], 3],
  ['the new one of Recreate', recreating, [fresh(recreating, 1)], 2],
  ['history of Recreate', tidyRecreating, [old(tidyRecreating), fresh(tidyRecreating, 3)], 2],
  ['a pause, a resize and history', paused, [old(paused), fresh(paused, 1, 1)], 4],
  ['a resize', rolling, [old(rolling, { replicas: 2 }), fresh(rolling, 2, 5)], 3],
]

for (const [title, of, replicaSets, count] of syncs) {
  test(`${title}: a refused write ends the sync, and its error is the verdict`, () => {
    const whole = sync(of, replicaSets)
    assert.equal(whole.verdict.error, undefined)
    assert.equal(whole.writes.length, count)
    for (const [refusedIndex, { verb }] of whole.writes.entries()) {
      const driven = sync(of, replicaSets, {
        onWrite: (write, index) =>
          index === refusedIndex ? refused(409, 'Conflict', 'newer') : asServer(write),
      })
      assert.equal((driven.verdict.error as Error | undefined)?.message, 'newer')
      // A ReplicaSet that could not be created is said in the status.
      assert.equal(driven.writes.length, refusedIndex + (verb === 'create' ? 2 : 1))
    }
  })
}

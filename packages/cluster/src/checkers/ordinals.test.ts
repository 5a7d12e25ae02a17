import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, StatefulSet } from '@gyropilot/api'
import type { StoreEvent } from '@gyropilot/api-server'
import { VirtualClock, settle } from '@gyropilot/foundation'
import type { Objects } from '../simulated/objects.ts'
import { ordinals } from './ordinals.ts'

const MINUTE_MS = 60_000

function set(start: number, replicas: number): StatefulSet {
  return {
    metadata: { name: 'db', namespace: 'x', uid: '1' },
    spec: { podManagementPolicy: 'OrderedReady', ordinals: { start }, replicas },
  } as StatefulSet
}

function pod(ordinal: number): Pod {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: 'db',
    uid: '1',
    controller: true,
  }
  return {
    metadata: {
      name: `db-${ordinal}`,
      namespace: 'x',
      uid: `p${ordinal}`,
      ownerReferences: [owner],
    },
  }
}

/** Pods 2 to 4 are there, and pod 5 is made so long after the set was told to begin at 0. */
async function problems(afterMs: number): Promise<readonly string[]> {
  const found: string[] = []
  const clock = new VirtualClock({ settle })
  const pods = [2, 3, 4].map(pod)
  const objects = { all: () => pods, find: () => set(0, 6) } as unknown as Objects
  const observer = ordinals((_, message) => found.push(message), clock, objects)
  const commit = (type: string, collection: string, object: object): void =>
    observer.committed?.({ type, collection, object } as unknown as StoreEvent)
  commit('created', 'statefulsets.apps', set(2, 4))
  commit('updated', 'statefulsets.apps', set(0, 6))
  await clock.advance(afterMs)
  commit('created', 'pods', pod(5))
  return found
}

test('a set that begins at a lower ordinal is ordered from the former one for as long as the change may be unknown', async () => {
  assert.deepEqual(await problems(0), [])
  assert.deepEqual(await problems(3 * MINUTE_MS), [
    'pod 5 of x/db was made without pod 0',
    'pod 5 of x/db was made without pod 1',
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod, ReplicaSet } from '@gyropilot/api'
import type { StoreEvent } from '@gyropilot/api-server'
import { VirtualClock, settle } from '@gyropilot/foundation'
import type { Objects } from '../simulated/objects.ts'
import { podLimits } from './pod-limits.ts'

const SET: ReplicaSet = {
  metadata: { name: 'web', namespace: 'x', uid: 'set' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } } },
}

function pod(name: string, app: string): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'set' }
  const ownerReferences = [{ ...owner, controller: true }]
  return { metadata: { name, namespace: 'x', labels: { app }, ownerReferences } }
}

/** What is said of the last of these pods when it is made for a set of two. */
function problems(pods: readonly Pod[], { isGone = false } = {}): readonly string[] {
  const found: string[] = []
  const find = (): ReplicaSet | undefined => (isGone ? undefined : SET)
  const objects = { all: () => pods, find } as unknown as Objects
  const clock = new VirtualClock({ settle })
  const observer = podLimits((_, message) => found.push(message), clock, objects)
  const created = (collection: string, object: KubernetesObject): void =>
    observer.committed?.({ type: 'created', collection, object } as unknown as StoreEvent)
  created('replicasets.apps', SET)
  created('pods', pods.at(-1)!)
  return found
}

const TOO_MANY = ['ReplicaSet x/web has 3 pods, at most 2 were asked for']

test('a pod more than was asked for is too many, also of a set that is gone', () => {
  const three = [pod('a', 'web'), pod('b', 'web'), pod('c', 'web')]
  assert.deepEqual(problems(three), TOO_MANY)
  assert.deepEqual(problems(three.slice(1)), [])
  assert.deepEqual(problems(three, { isGone: true }), TOO_MANY)
})

test('a pod that was taken away by its labels and may not be let go does not count', () => {
  assert.deepEqual(problems([pod('a', 'away'), pod('b', 'web'), pod('c', 'web')]), [])
})

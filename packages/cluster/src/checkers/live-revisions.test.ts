import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import type { StoreEvent } from '@gyropilot/api-server'
import { VirtualClock, settle } from '@gyropilot/foundation'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import { liveRevisions } from './live-revisions.ts'

const HASH_LABEL = 'controller-revision-hash'
const set = { kind: 'StatefulSet', metadata: { name: 'db', namespace: 'x', uid: 'set' } }

function object(
  kind: string,
  name: string,
  ownerUid: string,
  labels: Readonly<Record<string, string>> = {},
): KubernetesObject {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: ownerUid }
  const ownerReferences = [{ ...owner, controller: true }]
  return { kind, metadata: { name, namespace: 'x', labels, ownerReferences } }
}

const pod = (ownerUid: string): KubernetesObject =>
  object('Pod', 'db-0', ownerUid, { [HASH_LABEL]: 'db-1' })
const revision = (ownerUid: string): KubernetesObject =>
  object('ControllerRevision', 'db-1', ownerUid)

/** The world in which something happens to one object of it, which is no longer there or already is. */
function watched(world: readonly KubernetesObject[]) {
  const found: string[] = []
  const clock = new VirtualClock({ settle })
  const objects = {
    all: ({ kind }: { kind: string }) => world.filter((one) => one.kind === kind),
    find: ({ kind }: { kind: string }, _: unknown, name: string) =>
      world.find((one) => one.kind === kind && one.metadata?.name === name),
  } as unknown as Objects
  const observer: ClusterObserver = liveRevisions((_, text) => found.push(text), clock, objects)
  const commit = (type: string, stored: KubernetesObject): void => {
    const collection = stored.kind === 'Pod' ? 'pods' : 'controllerrevisions.apps'
    observer.committed?.({ type, collection, object: stored } as unknown as StoreEvent)
  }
  return { found, clock, observer, commit }
}

const GONE = ['revision x/db-1 is gone, and pod db-0 of its StatefulSet is of it']
const dying = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const deletions: readonly [string, readonly KubernetesObject[], readonly string[]][] = [
  ['its set is there and has a pod of it', [set, pod('set')], GONE],
  ['no pod is of it', [set], []],
  ['the pod is of another set', [set, pod('other')], []],
  ['the pod has ended', [set, { ...pod('set'), status: { phase: 'Failed' } } as object], []],
  ['its set is gone', [pod('set')], []],
  [
    'a namesake of its set is there',
    [{ ...set, metadata: { ...set.metadata, uid: 'next' } }, pod('set')],
    [],
  ],
  ['its set is going', [{ ...set, metadata: { ...set.metadata, ...dying } }, pod('set')], []],
  [
    'its namespace is going',
    [set, pod('set'), { kind: 'Namespace', metadata: { name: 'x', ...dying } }],
    [],
  ],
  [
    'there is another of its hash',
    [set, pod('set'), object('ControllerRevision', 'db-2', 'set', { [HASH_LABEL]: 'db-1' })],
    [],
  ],
]
for (const [title, world, expected] of deletions) {
  test(`a revision is deleted while ${title}`, () => {
    const { found, commit } = watched(world)
    commit('deleted', revision('set'))
    assert.deepEqual(found, expected)
  })
}

test('a leader that began with an old list of pods is excused for two minutes', async () => {
  const { found, clock, observer, commit } = watched([set, pod('set')])
  observer.answeredStale?.({ verb: 'list', collection: 'pods' } as never)
  await clock.advance(119_000)
  commit('deleted', revision('set'))
  assert.deepEqual(found, [])
  await clock.advance(1_000)
  commit('deleted', revision('set'))
  assert.deepEqual(found, GONE)
})

test('a pod is made of a revision that is there, or went less than two minutes ago', async () => {
  const present = watched([revision('former')])
  present.commit('created', pod('set'))
  assert.deepEqual(present.found, [])

  const { found, clock, commit } = watched([])
  commit('deleted', revision('former'))
  await clock.advance(119_000)
  commit('created', pod('set'))
  assert.deepEqual(found, [])
  await clock.advance(1_000)
  commit('created', pod('set'))
  assert.deepEqual(found, ['pod x/db-0 was made of revision db-1, which is not there'])
})

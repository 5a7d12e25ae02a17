import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, Node } from '@gyropilot/api'
import { daemonPod, daemonSet, node } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'
import { concernedBy, nodeWatch } from './node-updates.ts'

function keys(previous: Node, current: Node): readonly unknown[] {
  return [...nodeWatch.onUpdate!(previous, current)]
}

test('Given node allocatable changes only, then no enqueue; labels or taints: enqueue', () => {
  const before = node('n', { labels: { zone: 'a' } })
  assert.deepEqual([...nodeWatch.onAdd!(before)], ['n'])
  const beaten = { ...before, status: { allocatable: { cpu: '1' }, conditions: [] } }
  const cordoned = { ...before, spec: { unschedulable: true, taints: [] } }
  assert.deepEqual([keys(before, beaten), keys(before, cordoned)], [[], []])
  assert.deepEqual(keys(before, node('n', { labels: { zone: 'b' } })), ['n'])
  const taints = [{ key: 'k', effect: 'NoSchedule' }] as const
  assert.deepEqual(keys(before, node('n', { labels: { zone: 'a' }, taints })), ['n'])
  assert.equal(nodeWatch.onDelete, undefined)
})

const closed = { taints: [{ key: 'k', effect: 'NoSchedule' }] } as const
const shut = { taints: [{ key: 'k', effect: 'NoExecute' }] } as const
const misplaced = { status: { numberMisscheduled: 1 } }

const cases: readonly (readonly [string, Parameters<typeof node>[1], boolean, object, boolean])[] =
  [
    ['should run one and has none', {}, false, {}, true],
    ['should run one and has one', {}, true, {}, false],
    ['should not run one and has none', closed, false, misplaced, false],
    ['may keep the one it has', closed, true, {}, false],
    ['must not keep the one it has', shut, true, {}, true],
    ['has one, and some are misplaced somewhere', {}, true, misplaced, true],
  ]
for (const [title, options, hasPod, owner, expected] of cases) {
  test(`a node that ${title} ${expected ? 'is' : 'is no'} news for a DaemonSet`, () => {
    const pods = hasPod ? [daemonPod('n')] : []
    const found = concernedBy(node('n', options), [daemonSet(owner)], pods, nodeDecisions())
    assert.deepEqual(found, expected ? ['ns/ds'] : [])
  })
}

test('a DaemonSet that does not say how many are misplaced has none', () => {
  const silent = { ...daemonSet(), status: undefined } as unknown as DaemonSet
  assert.deepEqual(concernedBy(node('n'), [silent], [daemonPod('n')], nodeDecisions()), [])
})

test('pods of other owners and of nobody do not count', () => {
  const stranger = daemonPod('n', { owner: daemonSet({ name: 'other' }) })
  const found = concernedBy(
    node('n'),
    [daemonSet()],
    [stranger, daemonPod('n', { owner: null })],
    nodeDecisions(),
  )
  assert.deepEqual(found, ['ns/ds'])
  const [reference] = daemonPod('n').metadata!.ownerReferences!
  const ownerReferences = [{ ...reference!, kind: 'ReplicaSet' }]
  const replica = { ...daemonPod('n'), metadata: { ...daemonPod('n').metadata, ownerReferences } }
  assert.deepEqual(concernedBy(node('n'), [daemonSet()], [replica], nodeDecisions()), ['ns/ds'])
})

test('pods of a former DaemonSet of the name do not count', () => {
  const former = daemonPod('n', {
    owner: { ...daemonSet(), metadata: { ...daemonSet().metadata, uid: 'former' } },
  })
  assert.deepEqual(concernedBy(node('n'), [daemonSet()], [former], nodeDecisions()), ['ns/ds'])
})

test('a node that came back under a pod is news: what is counted was counted without it', () => {
  const made = <T extends { metadata?: object }>(object: T, creationTimestamp: string): T => ({
    ...object,
    metadata: { ...object.metadata, creationTimestamp },
  })
  const pod = made(daemonPod('n'), '2026-01-01T00:00:05Z')
  const news = (nodeMade: string, options = {}): readonly string[] =>
    concernedBy(made(node('n', options), nodeMade), [daemonSet()], [pod], nodeDecisions())
  assert.deepEqual(news('2026-01-01T00:00:06Z'), ['ns/ds'])
  assert.deepEqual(news('2026-01-01T00:00:05Z'), [])
  assert.deepEqual(news('2026-01-01T00:00:06Z', closed), [])
})

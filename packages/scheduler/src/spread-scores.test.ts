import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, TopologySpreadConstraint } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { NodeInfo } from './node-info.ts'
import { countedGroup } from './counted-group.ts'
import { snapshotOf } from './snapshot.ts'
import { spreadScores } from './spread-scores.ts'

const ZONE = 'topology.kubernetes.io/zone'
const web = countedGroup('default', 'web', ({ metadata }) => metadata?.labels?.app === 'web')

function infoOf(name: string, labels: Readonly<Record<string, string>>, pods = 0): NodeInfo {
  const info = new NodeInfo(name)
  info.setNode(node({ name, labels }))
  for (let i = 0; i < pods; i++) info.addPod(pod({ name: `${name}-${i}`, labels: { app: 'web' } }))
  return info
}

const asking = (...constraints: readonly Partial<TopologySpreadConstraint>[]): Pod =>
  pod({
    name: 'x',
    labels: { app: 'web' },
    spec: {
      topologySpreadConstraints: constraints.map((constraint) => ({
        maxSkew: 1,
        topologyKey: ZONE,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: 'web' } },
        ...constraint,
      })),
    },
  })

test('pods of a domain count on all of its nodes, also on those that cannot take the pod', () => {
  const full = infoOf('full', { [ZONE]: 'a' }, 2)
  const feasible = [infoOf('a', { [ZONE]: 'a' }), infoOf('b', { [ZONE]: 'b' })]
  const snapshot = snapshotOf([full, ...feasible])
  const own = spreadScores({ pod: asking({}), snapshot, feasible, group: undefined })
  assert.deepEqual(own, [0, 100])
  const byDefault = spreadScores({ pod: pod({ name: 'x' }), snapshot, feasible, group: web })
  assert.ok(byDefault[0]! < byDefault[1]!, String(byDefault))
})

test('but not on those that the policies of the constraint leave out', () => {
  const elsewhere = infoOf('elsewhere', { [ZONE]: 'a' }, 2)
  const feasible = [infoOf('a', { [ZONE]: 'a', ok: 'y' }), infoOf('b', { [ZONE]: 'b', ok: 'y' }, 1)]
  const snapshot = snapshotOf([elsewhere, ...feasible])
  const selecting = (constraint: Partial<TopologySpreadConstraint>): Pod => {
    const made = asking(constraint)
    return { ...made, spec: { ...made.spec!, nodeSelector: { ok: 'y' } } }
  }
  const scores = (constraint: Partial<TopologySpreadConstraint>) =>
    spreadScores({ pod: selecting(constraint), snapshot, feasible, group: undefined })
  assert.deepEqual(scores({}), [100, 0])
  assert.deepEqual(scores({ nodeAffinityPolicy: 'Ignore' }), [33, 100])
})

test('nodes that lack a label of the own constraints have 0, and their pods do not count', () => {
  const bare = infoOf('bare', { rack: '1' })
  const zoned = infoOf('zoned', { [ZONE]: 'b', rack: '1' }, 2)
  const feasible = [bare, zoned]
  const scores = (...constraints: readonly Partial<TopologySpreadConstraint>[]) =>
    spreadScores({
      pod: asking(...constraints),
      snapshot: snapshotOf(feasible),
      feasible,
      group: undefined,
    })
  assert.deepEqual(scores({}), [0, 100])
  assert.deepEqual(scores({}, { topologyKey: 'rack' }), [0, 100])
})

test('by default a node without a zone is judged by its own pods alone', () => {
  const feasible = [infoOf('bare', { 'kubernetes.io/hostname': 'bare' }, 1)]
  feasible.push(infoOf('zoned', { 'kubernetes.io/hostname': 'zoned', [ZONE]: 'b' }, 1))
  const snapshot = snapshotOf(feasible)
  const [bare, zoned] = spreadScores({ pod: pod({ name: 'x' }), snapshot, feasible, group: web })
  assert.ok(bare! > zoned!, `${bare} ${zoned}`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { NOW_MS } from '../workload-support/fixtures.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet, node, nodes } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'
import { allowsSurge, planNodes } from './plan-nodes.ts'
import { podsByNode } from './pods-by-node.ts'

const SURGE = { maxSurge: 1, maxUnavailable: 0 }

function planned(
  pods: readonly Pod[],
  owner: DaemonSet = daemonSet(),
  onNodes: readonly Node[] = [node('n')],
  waits: Readonly<Record<string, number>> = {},
) {
  const replaced: string[] = []
  const plan = planNodes({
    daemonSet: owner,
    hash: HASH,
    nodes: onNodes,
    pods: podsByNode(pods),
    decide: nodeDecisions(),
    failedPods: { waitMs: (id) => waits[id], replaced: (id) => void replaced.push(id) },
    nowMs: NOW_MS,
  })
  return {
    create: plan.create,
    remove: plan.remove.map(({ metadata }) => metadata?.name),
    ended: plan.ended.map((each) => [each.pod.metadata?.name, each.node]),
    waitMs: plan.waitMs,
    replaced,
  }
}

const noSchedule = node('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
const noExecute = node('n', { taints: [{ key: 'k', effect: 'NoExecute' }] })

test('each node that should run a pod and has none gets one', () => {
  const { create, remove } = planned([daemonPod('n1')], daemonSet(), [...nodes(3), node('n')])
  assert.deepEqual([create, remove], [['n0', 'n2', 'n'], []])
})

test('a node that should not run one gets none', () => {
  assert.deepEqual(planned([], daemonSet(), [noSchedule]).create, [])
})

test('a pod that may stay stays, one that may not goes, unless it is going already', () => {
  const pods = [daemonPod('n'), daemonPod('n', { name: 'going', deleting: true })]
  assert.deepEqual(planned(pods, daemonSet(), [noSchedule]).remove, [])
  assert.deepEqual(planned(pods, daemonSet(), [noExecute]).remove, ['on-n'])
})

test('of several pods of a node the first stays', () => {
  const pods = [
    daemonPod('n', { name: 'young', ageSeconds: 5 }),
    daemonPod('n', { name: 'waiting', waiting: true, ageSeconds: 90 }),
    daemonPod('n', { name: 'old' }),
    daemonPod('n', { name: 'going', ageSeconds: 95, deleting: true }),
  ]
  assert.deepEqual(planned(pods).remove, ['young', 'waiting'])
})

test('of two pods of a node one goes', () => {
  const pods = [daemonPod('n', { name: 'young', ageSeconds: 5 }), daemonPod('n', { name: 'old' })]
  assert.deepEqual(planned(pods).remove, ['young'])
})

test('Without surge the replacement waits until the old pod object is gone; with surge it does not.', () => {
  const going = [daemonPod('n', { deleting: true })]
  assert.deepEqual(planned(going).create, [])
  assert.deepEqual(planned(going, daemonSet({ rolling: SURGE })).create, ['n'])
})

test('with surge, too, a node that should not run a pod gets none', () => {
  const going = [daemonPod('n', { deleting: true })]
  assert.deepEqual(planned(going, daemonSet({ rolling: SURGE }), [noSchedule]).create, [])
})

for (const phase of ['Failed', 'Succeeded']) {
  test(`a pod that is ${phase} goes and is told of`, () => {
    const { remove, ended, create } = planned([daemonPod('n', { phase })])
    assert.deepEqual([remove, ended, create], [['on-n'], [['on-n', 'n']], []])
  })
}

test('a failed pod is kept while its node is in back-off, which is known by DaemonSet, generation and node', () => {
  const owner = daemonSet({ status: { observedGeneration: 3 } })
  const failed = [daemonPod('a', { phase: 'Failed' }), daemonPod('b', { phase: 'Failed' })]
  const both = [node('a'), node('b')]
  const first = planned(failed, owner, both)
  assert.deepEqual(first.replaced, ['ds-uid/3/a', 'ds-uid/3/b'])
  assert.equal(first.waitMs, undefined)
  const second = planned(failed, owner, both, { 'ds-uid/3/a': 700, 'ds-uid/3/b': 300 })
  assert.deepEqual([second.remove, second.ended, second.replaced], [[], [], []])
  assert.equal(second.waitMs, 300)
  const turned = planned(failed, owner, both, { 'ds-uid/3/a': 300, 'ds-uid/3/b': 700 })
  assert.equal(turned.waitMs, 300, 'the shortest')
  const third = planned(failed, owner, both, { 'ds-uid/3/a': 700 })
  assert.deepEqual([third.remove, third.waitMs], [['on-b'], 700])
})

test('a failed pod in back-off is none of the pods that run: the one that does stays', () => {
  const pods = [
    daemonPod('n', { name: 'failed', phase: 'Failed', ageSeconds: 90 }),
    daemonPod('n', { name: 'runs', ageSeconds: 5 }),
  ]
  assert.deepEqual(planned(pods, daemonSet(), [node('n')], { 'ds-uid/0/n': 500 }).remove, [])
  const succeeded = [daemonPod('n', { name: 'over', phase: 'Succeeded', ageSeconds: 90 }), pods[1]!]
  assert.deepEqual(planned(succeeded).remove, ['over'])
})

test('with surge the replacement starts beside a pod that is over', () => {
  const owner = daemonSet({ rolling: SURGE })
  const failed = [daemonPod('n', { phase: 'Failed' })]
  const waiting = planned(failed, owner, [node('n')], { 'ds-uid/0/n': 500 })
  assert.deepEqual([waiting.create, waiting.remove, waiting.waitMs], [['n'], [], 500])
  const succeeded = planned([daemonPod('n', { phase: 'Succeeded' })], owner)
  assert.deepEqual([succeeded.create, succeeded.remove], [['n'], ['on-n']])
})

test('a node without an observed generation has a back-off too', () => {
  assert.deepEqual(planned([daemonPod('n', { phase: 'Failed' })]).replaced, ['ds-uid/0/n'])
})

test('Given a pending pod targeting a missing node, then it is deleted', () => {
  const pods = [
    daemonPod('gone', { name: 'waiting', waiting: true }),
    daemonPod('gone', { name: 'bound' }),
    daemonPod('gone', { name: 'going', waiting: true, deleting: true }),
    daemonPod('n'),
  ]
  assert.deepEqual(planned(pods).remove, ['waiting'])
})

const ready = { readySeconds: 100 }
const surging: readonly (readonly [string, readonly Pod[], number, readonly string[]])[] = [
  [
    'Given surge and an unready old pod next to a new one, then the old one is deleted',
    [daemonPod('n', { name: 'old', hash: OLD_HASH }), daemonPod('n', { name: 'new' })],
    0,
    ['old'],
  ],
  [
    'ready old and unavailable new: both stay',
    [
      daemonPod('n', { name: 'old', hash: OLD_HASH, ...ready }),
      daemonPod('n', { name: 'new', readySeconds: 5 }),
    ],
    10,
    [],
  ],
  [
    'ready old and available new: the old one goes',
    [
      daemonPod('n', { name: 'old', hash: OLD_HASH, ...ready }),
      daemonPod('n', { name: 'new', readySeconds: 10 }),
    ],
    10,
    ['old'],
  ],
  [
    'more than one of a kind: the first of each stays',
    [
      daemonPod('n', { name: 'old', hash: OLD_HASH, ...ready }),
      daemonPod('n', { name: 'old too', hash: 'older', ageSeconds: 5, ...ready }),
      daemonPod('n', { name: 'new', ageSeconds: 4 }),
      daemonPod('n', { name: 'new too', ageSeconds: 3 }),
    ],
    0,
    ['old too', 'new too'],
  ],
  ['one of a kind alone stays', [daemonPod('n', { name: 'old', hash: OLD_HASH })], 0, []],
  [
    'two old ones and no new one: the first stays',
    [daemonPod('n', { name: 'b', hash: OLD_HASH }), daemonPod('n', { name: 'a', hash: OLD_HASH })],
    0,
    ['b'],
  ],
  [
    'two new ones and no old one: the first stays',
    [daemonPod('n', { name: 'b' }), daemonPod('n', { name: 'a' })],
    0,
    ['b'],
  ],
]
for (const [title, pods, minReadySeconds, removed] of surging) {
  test(title, () => {
    const owner = daemonSet({ rolling: SURGE, minReadySeconds })
    const { remove, create } = planned(pods, owner)
    assert.deepEqual([remove, create], [removed, []])
  })
}

test('surge without minReadySeconds: the old pod goes as soon as the new one is ready', () => {
  const pods = [
    daemonPod('n', { name: 'old', hash: OLD_HASH, ...ready }),
    daemonPod('n', { name: 'new', readySeconds: 0 }),
  ]
  assert.deepEqual(planned(pods, daemonSet({ rolling: SURGE })).remove, ['old'])
})

type Strategy = NonNullable<DaemonSet['spec']>['updateStrategy']

function withStrategy(updateStrategy: Strategy): DaemonSet {
  const base = daemonSet()
  return { ...base, spec: { ...base.spec!, updateStrategy } } as DaemonSet
}

const surges: readonly (readonly [string, DaemonSet, boolean])[] = [
  ['no surge', daemonSet(), false],
  ['a number', daemonSet({ rolling: { maxSurge: 2 } }), true],
  ['a share', daemonSet({ rolling: { maxSurge: '1%' } }), true],
  ['a share of nothing', daemonSet({ rolling: { maxSurge: '0%' } }), false],
  ['no number', daemonSet({ rolling: { maxSurge: 'x' } }), false],
  ['nothing said', daemonSet({ rolling: {} }), false],
  ['OnDelete', withStrategy({ type: 'OnDelete', rollingUpdate: { maxSurge: 1 } }), false],
  ['no strategy', withStrategy(undefined), false],
]
for (const [title, owner, expected] of surges)
  test(`surge: ${title}`, () => assert.equal(allowsSurge(owner), expected))

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, Node, Pod } from '@gyropilot/api'
import { NOW_MS } from '../workload-support/fixtures.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet, node, nodes } from './fixtures.ts'
import type { DaemonPodOptions } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'
import { podsByNode } from './pods-by-node.ts'
import { limitsOf, planRoll } from './rolling-update.ts'

const READY = { readySeconds: 100 }

function old(nodeName: string, options: DaemonPodOptions = READY): Pod {
  return daemonPod(nodeName, { name: `old-${nodeName}`, hash: OLD_HASH, ...options })
}

function fresh(nodeName: string, options: DaemonPodOptions = READY): Pod {
  return daemonPod(nodeName, { name: `new-${nodeName}`, ...options })
}

function rolled(owner: DaemonSet, pods: readonly Pod[], onNodes: readonly Node[]) {
  const plan = planRoll({
    daemonSet: owner,
    hash: HASH,
    nodes: onNodes,
    pods: podsByNode(pods),
    decide: nodeDecisions(),
    nodeNamed: (name) => onNodes.find(({ metadata }) => metadata?.name === name),
    nowMs: NOW_MS,
  })
  return { create: plan.create, remove: plan.remove.map(({ metadata }) => metadata?.name) }
}

function replaced(maxUnavailable: number | string, pods: readonly Pod[], onNodes: readonly Node[]) {
  const { create, remove } = rolled(
    daemonSet({ rolling: { maxUnavailable, maxSurge: 0 } }),
    pods,
    onNodes,
  )
  assert.deepEqual(create, [])
  return remove
}

const limits: readonly (readonly [number | string, number | string, number, number, number])[] = [
  [1, 0, 5, 0, 1],
  ['50%', 0, 3, 0, 2],
  ['1%', '1%', 3, 1, 1],
  [0, 0, 3, 0, 1],
  ['0%', '0%', 3, 0, 1],
  [0, 0, 0, 0, 0],
  ['50%', 0, 0, 0, 0],
  [7, 4, 3, 4, 7],
  [0, 1, 3, 1, 0],
]
for (const [unavailable, surge, desired, maxSurge, maxUnavailable] of limits) {
  test(`${unavailable} unavailable and ${surge} surge of ${desired} nodes are ${maxUnavailable} and ${maxSurge}`, () => {
    const owner = daemonSet({ rolling: { maxUnavailable: unavailable, maxSurge: surge } })
    assert.deepEqual(limitsOf(owner, desired), { maxSurge, maxUnavailable })
  })
}

test('maxUnavailable and maxSurge both round up: 50% of 3 is 2.', () => {
  const pods = nodes(3).map(({ metadata }) => old(metadata!.name!))
  assert.deepEqual(replaced('50%', pods, nodes(3)), ['old-n0', 'old-n1'])
})

test('without limits one pod may be unavailable', () => {
  const owner = { ...daemonSet(), spec: { ...daemonSet().spec!, updateStrategy: {} } }
  assert.deepEqual(limitsOf(owner, 3), { maxSurge: 0, maxUnavailable: 1 })
  assert.deepEqual(limitsOf(daemonSet({ rolling: { maxSurge: 2 } }), 3), {
    maxSurge: 2,
    maxUnavailable: 0,
  })
  assert.deepEqual(limitsOf(daemonSet({ rolling: { maxUnavailable: 2 } }), 3), {
    maxSurge: 0,
    maxUnavailable: 2,
  })
})

test('a share that is none throws', () => {
  assert.throws(() => limitsOf(daemonSet({ rolling: { maxUnavailable: 'x' } }), 3))
})

test('candidates go in the order of their nodes, as many as may be unavailable', () => {
  const pods = ['n2', 'n0', 'n1'].map((name) => old(name))
  assert.deepEqual(replaced(2, pods, nodes(3)), ['old-n0', 'old-n1'])
})

test('a node without a pod is unavailable, and so is one with old and new', () => {
  const pods = [old('n0'), old('n1'), fresh('n1'), old('n2')]
  assert.deepEqual(replaced(1, pods, nodes(3)), [])
  assert.deepEqual(replaced(2, pods, nodes(3)), ['old-n0'])
  assert.deepEqual(replaced(2, [old('n0')], nodes(3)), [])
  assert.deepEqual(replaced(3, [old('n0')], nodes(3)), ['old-n0'])
})

test('without minReadySeconds a pod is available from the moment it is ready', () => {
  const pods = [fresh('n0', { readySeconds: 0 }), old('n1')]
  assert.deepEqual(replaced(1, pods, nodes(2)), ['old-n1'])
})

test('a node that should not run a pod and has none does not count', () => {
  const closed = node('closed', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  assert.deepEqual(replaced(1, [old('n0')], [node('n0'), closed]), ['old-n0'])
})

test('a node with more pods than a rollout can have is unavailable and left to the next sync', () => {
  const twoOld = [old('n0'), old('n0', { name: 'second', ...READY }), old('n1')]
  assert.deepEqual(replaced(1, twoOld, nodes(2)), [])
  const twoNew = [fresh('n0'), fresh('n0', { name: 'second', ...READY }), old('n1')]
  assert.deepEqual(replaced(1, twoNew, nodes(2)), [])
  assert.deepEqual(replaced(2, twoNew, nodes(2)), ['old-n1'])
})

test('a new pod that is not available is unavailable', () => {
  const pods = [fresh('n0', {}), old('n1')]
  assert.deepEqual(replaced(1, pods, nodes(2)), [])
  assert.deepEqual(replaced(2, pods, nodes(2)), ['old-n1'])
  assert.deepEqual(replaced(1, [fresh('n0'), old('n1')], nodes(2)), ['old-n1'])
})

test('a pod on its way out is none: its node is empty', () => {
  const pods = [old('n0', { deleting: true, ...READY }), old('n1')]
  assert.deepEqual(replaced(1, pods, nodes(2)), [])
  assert.deepEqual(replaced(2, pods, nodes(2)), ['old-n1'])
})

test('Old unavailable pods are always replaceable, even beyond maxUnavailable.', () => {
  const pods = [old('n0', {}), old('n1', {}), old('n2')]
  assert.deepEqual(replaced(1, pods, nodes(3)), ['old-n0', 'old-n1'])
  assert.deepEqual(replaced(3, pods, nodes(3)), ['old-n0', 'old-n1', 'old-n2'])
})

test('Given 10 unready old pods, any maxUnavailable below 10, then exactly these 10 are replaced and ready ones stay', () => {
  const pods = nodes(20).map(({ metadata }, index) => old(metadata!.name!, index < 10 ? {} : READY))
  for (const maxUnavailable of [1, 5, 9]) {
    const names = replaced(maxUnavailable, pods, nodes(20))
    assert.deepEqual(
      names,
      Array.from({ length: 10 }, (_, index) => `old-n${index}`),
    )
  }
})

test('minReadySeconds decide what is available', () => {
  const owner = daemonSet({ minReadySeconds: 10 })
  const pods = [old('n0', { readySeconds: 9 }), old('n1', { readySeconds: 10 })]
  assert.deepEqual(rolled(owner, pods, nodes(2)).remove, ['old-n0'])
})

test('a pod on a node that is no longer there is rolled as others are', () => {
  assert.deepEqual(replaced(1, [old('gone')], []), ['old-gone'])
  assert.deepEqual(replaced(1, [old('gone'), old('n0')], nodes(1)), ['old-gone'])
})

function surged(maxSurge: number | string, pods: readonly Pod[], onNodes: readonly Node[]) {
  return rolled(daemonSet({ rolling: { maxSurge, maxUnavailable: 0 } }), pods, onNodes)
}

test('new pods start beside available old ones, as many as may', () => {
  const pods = [old('n2'), old('n1'), old('n0')]
  assert.deepEqual(surged(2, pods, nodes(3)), { create: ['n0', 'n1'], remove: [] })
  assert.deepEqual(surged('34%', pods, nodes(3)), { create: ['n0', 'n1'], remove: [] })
})

test('where more surges are under way than may, no other begins', () => {
  const underWay = ['n0', 'n1'].flatMap((name) => [old(name), fresh(name, {})])
  const pods = [...underWay, old('n2'), old('n3'), old('n4')]
  assert.deepEqual(surged(1, pods, nodes(5)), { create: [], remove: [] })
})

test('a new pod counts when it was ready for minReadySeconds', () => {
  const pods = [old('n0'), fresh('n0', { readySeconds: 100 })]
  for (const [minReadySeconds, remove] of [
    [100, ['old-n0']],
    [101, []],
  ] as const) {
    const owner = daemonSet({ minReadySeconds, rolling: { maxSurge: 1, maxUnavailable: 0 } })
    assert.deepEqual(rolled(owner, pods, nodes(1)).remove, remove)
  }
})

test('a surge under way counts until the new pod is available, and then the old one goes', () => {
  const underWay = [old('n0'), fresh('n0', {}), old('n1')]
  assert.deepEqual(surged(1, underWay, nodes(2)), { create: [], remove: [] })
  assert.deepEqual(surged(2, underWay, nodes(2)), { create: ['n1'], remove: [] })
  const done = [old('n0'), fresh('n0'), old('n1')]
  assert.deepEqual(surged(1, done, nodes(2)), { create: ['n1'], remove: ['old-n0'] })
})

test('a node with too many pods counts as surging', () => {
  const pods = [old('n0'), old('n0', { name: 'second', ...READY }), old('n1')]
  assert.deepEqual(surged(1, pods, nodes(2)), { create: [], remove: [] })
  assert.deepEqual(surged(2, pods, nodes(2)), { create: ['n1'], remove: [] })
})

test('Given surge and only a terminating pod, then a pod is created beyond maxSurge', () => {
  const pods = [old('n0', {}), old('n1', {}), old('n2')]
  assert.deepEqual(surged(1, pods, nodes(3)), { create: ['n0', 'n1', 'n2'], remove: [] })
})

test('nodes with new pods alone, or with none, are left to the next sync', () => {
  assert.deepEqual(surged(1, [fresh('n0'), fresh('n1', {})], nodes(3)), { create: [], remove: [] })
})

const closed = node('n0', { taints: [{ key: 'k', effect: 'NoSchedule' }] })

test('Given surge and a node that no longer matches, then its old pod goes only when enough others are available', () => {
  const onNodes = [closed, node('n1')]
  assert.deepEqual(surged(1, [old('n0'), fresh('n1', {})], onNodes), { create: [], remove: [] })
  assert.deepEqual(surged(1, [old('n0'), fresh('n1')], onNodes), { create: [], remove: ['old-n0'] })
})

test('of two pods that should move only as many go as others are available', () => {
  const taints = [{ key: 'k', effect: 'NoSchedule' }] as const
  const onNodes = [closed, node('n1', { taints }), node('n2'), node('n3')]
  const pods = [old('n1'), old('n0'), fresh('n2')]
  assert.deepEqual(surged(1, pods, onNodes), { create: [], remove: ['old-n0'] })
})

test('an unavailable old pod on a node that should not run it goes at once', () => {
  assert.deepEqual(surged(1, [old('n0', {})], [closed]), { create: [], remove: ['old-n0'] })
})

test('an old pod on a node that is gone fails the step', () => {
  assert.throws(() => surged(1, [old('gone')], nodes(1)), {
    message: 'couldn\'t get node for nodeName "gone": not found',
  })
  assert.doesNotThrow(() => surged(1, [fresh('gone')], nodes(1)))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { verdictBy } from './feasible-nodes.ts'
import { filters, prepared } from './filters/index.ts'
import { NodeInfo } from './node-info.ts'
import { snapshotOf } from './snapshot.ts'
import type { Snapshot } from './snapshot.ts'
import { bestCandidate, victimsOn, whyNotEligible } from './preemption.ts'
import type { PreemptionCandidate } from './preemption.ts'

function infoOf(name: string, pods: readonly Pod[], cpu = '4'): NodeInfo {
  const info = new NodeInfo(name)
  info.setNode(node({ name, allocatable: { cpu, memory: '8Gi', pods: '110' } }))
  for (const one of pods) info.addPod(one)
  return info
}

interface Given {
  readonly cpu?: string
  readonly priority?: number
  readonly startTime?: string
  readonly labels?: Readonly<Record<string, string>>
}

function sized(name: string, { cpu = '1', priority = 0, startTime, labels }: Given = {}): Pod {
  return pod({
    name,
    labels: labels ?? { app: name },
    spec: { priority, containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] },
    status: { phase: 'Running', ...(startTime === undefined ? {} : { startTime }) },
  })
}

const verdictOf = (candidate: Pod, info: NodeInfo, snapshot: Snapshot) =>
  verdictBy(prepared(filters, candidate, snapshot), info)

const rules = (budgets: readonly PodDisruptionBudget[] = []) => ({ verdictOf, budgets })
const on = (...of: Parameters<typeof victimsOn>) => victimsOn(...of).candidate
const names = (found: PreemptionCandidate | undefined) =>
  found?.victims.map(({ metadata }) => metadata?.name)

const important = (cpu: string): Pod => sized('important', { cpu, priority: 100 })

test('only as many go as it takes, the least important', () => {
  const info = infoOf('n', [
    sized('a', { priority: 3 }),
    sized('b', { priority: 1 }),
    sized('c', { priority: 2 }),
    sized('d', { priority: 1, startTime: '2026-01-01T00:00:00Z' }),
  ])
  assert.deepEqual(names(on(important('1'), info, snapshotOf([info]), rules())), ['b'])
  assert.deepEqual(names(on(important('2'), info, snapshotOf([info]), rules())), ['d', 'b'])
})

test('pods of equal priority are never victims', () => {
  const info = infoOf('n', [sized('a', { cpu: '4', priority: 100 })])
  assert.equal(on(important('1'), info, snapshotOf([info]), rules()), undefined)
})

test('the node is made up once, however many of its pods are put back', () => {
  const pods = Array.from({ length: 20 }, (_, at) => sized(`p${at}`, { priority: at }))
  const info = infoOf('n', pods, '20')
  const judged: NodeInfo[] = []
  const counting = {
    budgets: [],
    verdictOf: (candidate: Pod, left: NodeInfo, snapshot: Snapshot) => {
      judged.push(left)
      assert.deepEqual(
        snapshot.nodes.map(({ pods: there }) => there.size),
        [left.pods.size],
      )
      return verdictOf(candidate, left, snapshot)
    },
  }
  const found = on(important('3'), info, snapshotOf([info]), counting)
  assert.deepEqual(names(found), ['p2', 'p1', 'p0'])
  assert.deepEqual([judged.length, new Set(judged).size, info.pods.size], [21, 1, 20])
})

test('nobody goes where it would not help', () => {
  const info = infoOf('n', [sized('a', { cpu: '1' })])
  assert.equal(on(important('5'), info, snapshotOf([info]), rules()), undefined)
  assert.deepEqual([...info.pods.values()].length, 1, 'trying it changes nothing')
})

test('why nobody need go is what is left when all have gone', () => {
  const info = infoOf('n', [sized('a', { cpu: '4' })])
  const large = pod({
    name: 'large',
    spec: {
      priority: 100,
      containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '2', memory: '9Gi' } } }],
    },
  })
  const snapshot = snapshotOf([info])
  assert.deepEqual(victimsOn(large, info, snapshot, rules()).reasons, ['Insufficient memory'])
  assert.deepEqual(victimsOn(sized('equal'), info, snapshot, rules()).reasons, [
    'No preemption victims found for incoming pod',
  ])
})

test('pods of a budget without room are spared when others will do, and go when none will', () => {
  const budget: PodDisruptionBudget = {
    metadata: { name: 'b', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    status: { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1 },
  }
  const info = infoOf('n', [sized('a', { cpu: '2' }), sized('b', { cpu: '2', priority: 5 })])
  const spared = on(important('2'), info, snapshotOf([info]), rules([budget]))
  assert.deepEqual([names(spared), spared?.budgetViolations], [['b'], 0])
  const forced = on(important('4'), info, snapshotOf([info]), rules([budget]))
  assert.deepEqual([names(forced), forced?.budgetViolations], [['b', 'a'], 1])
})

test('a pod is one that a budget awaits to go when the budget says so, not when objects have a member of its name', () => {
  const budget: PodDisruptionBudget = {
    metadata: { name: 'b', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'constructor' } } },
    status: { disruptionsAllowed: 0, disruptedPods: {} } as PodDisruptionBudget['status'],
  }
  const info = infoOf('n', [sized('constructor', { cpu: '4' })])
  const found = on(important('2'), info, snapshotOf([info]), rules([budget]))
  assert.deepEqual([names(found), found?.budgetViolations], [['constructor'], 1])
})

const candidate = (node: string, victims: readonly Pod[], budgetViolations = 0) => ({
  node,
  victims,
  budgetViolations,
})

const CHOICES: readonly (readonly [string, readonly PreemptionCandidate[], string])[] = [
  [
    'fewest budget violations',
    [candidate('a', [sized('x')], 1), candidate('b', [sized('y', { priority: 50 })])],
    'b',
  ],
  [
    'the least important victim',
    [candidate('a', [sized('x', { priority: 2 })]), candidate('b', [sized('y', { priority: 1 })])],
    'b',
  ],
  [
    'the smaller sum of priorities',
    [
      candidate('a', [sized('x', { priority: 2 }), sized('z', { priority: 2 })]),
      candidate('b', [sized('y', { priority: 2 }), sized('w', { priority: 1 })]),
    ],
    'b',
  ],
  [
    'fewer victims, also of negative priority',
    [
      candidate('a', [sized('x', { priority: -1 }), sized('z', { priority: -5 })]),
      candidate('b', [sized('y', { priority: -1 })]),
    ],
    'b',
  ],
  [
    'who started latest',
    [
      candidate('a', [sized('x', { startTime: '2026-01-01T00:00:00Z' })]),
      candidate('b', [sized('y', { startTime: '2026-01-01T00:01:00Z' })]),
    ],
    'b',
  ],
  ['the first by name', [candidate('b', [sized('x')]), candidate('a', [sized('y')])], 'a'],
]
for (const [title, candidates, wanted] of CHOICES) {
  test(`of several nodes: ${title}`, () => {
    assert.equal(bestCandidate(candidates)?.node, wanted)
    assert.equal(bestCandidate(candidates.toReversed())?.node, wanted)
  })
}

test('a budget with an empty selector spares nobody', () => {
  const budget: PodDisruptionBudget = {
    metadata: { name: 'b', namespace: 'default' },
    spec: { minAvailable: 1, selector: {} },
    status: { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1 },
  }
  const info = infoOf('n', [sized('a', { cpu: '4' })])
  const found = on(important('2'), info, snapshotOf([info]), rules([budget]))
  assert.deepEqual([names(found), found?.budgetViolations], [['a'], 0])
})

test('who waits for its victims takes no others', () => {
  const conditions = [
    { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' },
  ]
  const leaving = pod({
    name: 'leaving',
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { priority: 0 },
    status: { phase: 'Running', conditions },
  })
  const info = infoOf('n', [leaving])
  assert.match(whyNotEligible(important('1'), info) ?? '', /terminating pod on the nominated node/)
  assert.equal(whyNotEligible(important('1'), infoOf('n', [])), undefined)
  assert.equal(whyNotEligible(important('1'), undefined), undefined)
})

test('unless the node that it was promised would be of no use to it any more', () => {
  const conditions = [
    { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' },
  ]
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const info = infoOf('n', [
    pod({
      name: 'leaving',
      metadata,
      spec: { priority: 0 },
      status: { phase: 'Running', conditions },
    }),
  ])
  const verdict = (node: string, curable: boolean) => [{ node, reasons: ['r'], curable }]
  const of = (node: string, curable: boolean) =>
    whyNotEligible(important('1'), info, verdict(node, curable)) === undefined
  assert.deepEqual([of('n', false), of('n', true), of('other', false)], [true, false, false])
})

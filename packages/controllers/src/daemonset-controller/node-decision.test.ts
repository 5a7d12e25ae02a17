import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplateSpec, Taint } from '@gyropilot/api'
import { daemonSet, node } from './fixtures.ts'
import type { NodeOptions } from './fixtures.ts'
import { nodeDecisions } from './node-decision.ts'

const RUNS = [true, true]
const STAYS = [false, true]
const NEVER = [false, false]

type Spec = Partial<NonNullable<PodTemplateSpec['spec']>>

function decided(spec: Spec, options: NodeOptions = {}, comparisonOperators = false) {
  const decide = nodeDecisions({ comparisonOperators })
  const { shouldRun, shouldContinueRunning } = decide(daemonSet({ spec }), node('n', options))
  return [shouldRun, shouldContinueRunning]
}

function taint(effect: Taint['effect'], key = 'k'): NodeOptions {
  return { taints: [{ key, value: 'v', effect }] }
}

function affinity(matchFields: readonly object[], matchExpressions: readonly object[] = []): Spec {
  const nodeSelectorTerms = [{ matchFields, matchExpressions }]
  const required = { nodeSelectorTerms }
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  } as Spec
}

const named = (name: string) => [{ key: 'metadata.name', operator: 'In', values: [name] }]
const zone = [{ key: 'zone', operator: 'In', values: ['a'] }]
const labelled = { labels: { zone: 'a' } }

const cases: readonly (readonly [string, Spec, NodeOptions, readonly boolean[]])[] = [
  ['nothing asked for', {}, {}, RUNS],
  ['its name', { nodeName: 'n' }, {}, RUNS],
  ['another name', { nodeName: 'm' }, {}, NEVER],
  ['a selector that matches', { nodeSelector: { zone: 'a' } }, labelled, RUNS],
  ['a selector that does not', { nodeSelector: { zone: 'b' } }, labelled, NEVER],
  ['an affinity by name', affinity(named('n')), {}, RUNS],
  ['an affinity by another name', affinity(named('m')), {}, NEVER],
  ['an affinity by labels', affinity([], zone), labelled, RUNS],
  ['an affinity by labels it lacks', affinity([], zone), {}, NEVER],
  ['a NoSchedule taint', {}, taint('NoSchedule'), STAYS],
  ['a NoExecute taint', {}, taint('NoExecute'), NEVER],
  ['a PreferNoSchedule taint', {}, taint('PreferNoSchedule'), RUNS],
  [
    'a tolerated taint',
    { tolerations: [{ key: 'k', operator: 'Exists' }] },
    taint('NoExecute'),
    RUNS,
  ],
  [
    'one of two taints tolerated',
    { tolerations: [{ key: 'k', operator: 'Exists' }] },
    { taints: [...taint('NoExecute').taints!, ...taint('NoSchedule', 'other').taints!] },
    STAYS,
  ],
  [
    'A cordoned node still gets the pod: the taint unschedulable is tolerated. A NotReady node too.',
    {},
    {
      unschedulable: true,
      taints: [
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      ],
    },
    RUNS,
  ],
  [
    'a node not ready for scheduling is not tolerated',
    {},
    taint('NoSchedule', 'node.kubernetes.io/not-ready'),
    STAYS,
  ],
  [
    'a node without a network',
    {},
    taint('NoSchedule', 'node.kubernetes.io/network-unavailable'),
    STAYS,
  ],
  [
    'a node without a network, for the network of the host',
    { hostNetwork: true },
    taint('NoSchedule', 'node.kubernetes.io/network-unavailable'),
    RUNS,
  ],
  [
    'Given insufficient resources or host port conflicts, then the node still should run',
    {
      containers: [
        {
          name: 'c',
          image: 'i',
          ports: [{ containerPort: 1, hostPort: 1 }],
          resources: { requests: { cpu: '1000' } },
        },
      ],
    },
    {},
    RUNS,
  ],
]
for (const [title, spec, options, expected] of cases)
  test(title, () => assert.deepEqual(decided(spec, options), expected))

test('numbers of taints are compared only with the gate', () => {
  const tolerations = [{ key: 'k', operator: 'Gt' as 'Equal', value: '1' }]
  const options: NodeOptions = { taints: [{ key: 'k', value: '2', effect: 'NoExecute' }] }
  assert.deepEqual(decided({ tolerations }, options, true), RUNS)
  assert.deepEqual(decided({ tolerations }, options), NEVER)
})

test('a decision is made once per node and template as they are', () => {
  const decide = nodeDecisions()
  const owner = daemonSet()
  let looks = 0
  const here = Object.defineProperty(node('n'), 'spec', {
    get() {
      looks += 1
      return {}
    },
  })
  decide(owner, here)
  const first = looks
  decide({ ...owner, metadata: { name: 'changed' } }, here)
  assert.equal(looks, first)
  decide(daemonSet({ spec: { nodeSelector: {} } }), here)
  assert.ok(looks > first)
  assert.equal(decide(owner, node('n', taint('NoSchedule'))).shouldRun, false)
  assert.equal(decide(daemonSet({ spec: { nodeName: 'm' } }), here).shouldRun, false)
})

test('a DaemonSet without a template runs nowhere', () => {
  assert.deepEqual(nodeDecisions()({}, node('n')), {
    shouldRun: false,
    shouldContinueRunning: false,
  })
})

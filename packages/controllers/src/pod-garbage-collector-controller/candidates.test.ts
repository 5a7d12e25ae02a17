import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@gyropilot/api'
import { Candidates, OUT_OF_SERVICE_TAINT, beyondThreshold, inDeletionOrder } from './candidates.ts'
import { QUARANTINE_MS, SCAN_PERIOD_MS } from './config.ts'
import { node, pod } from './fixtures.ts'
import type { NodeOptions, PodOptions } from './fixtures.ts'

function namesOf(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => metadata?.name ?? '')
}

function among(pods: readonly Pod[], ...nodes: readonly Node[]) {
  const candidates = new Candidates(new Map(nodes.map((each) => [each.metadata?.name ?? '', each])))
  for (const each of pods) candidates.look(each)
  return candidates
}

const phases: readonly (readonly [string, boolean])[] = [
  ['Pending', false],
  ['Running', false],
  ['Unknown', false],
  ['Succeeded', true],
  ['Failed', true],
  ['', true],
  ['Other', true],
]
for (const [phase, isFinished] of phases) {
  test(`a pod of phase ${phase || '(none)'} ${isFinished ? 'is' : 'is not'} finished`, () => {
    const { finished } = among([pod('p', { phase, node: 'n' })], node('n'))
    assert.equal(finished.length, isFinished ? 1 : 0)
  })
}

test('A Pod that already has deletionTimestamp is still counted as finished and may be selected again.', () => {
  const { finished } = among(
    [pod('p', { phase: 'Failed', terminating: true, node: 'n' })],
    node('n'),
  )
  assert.deepEqual(namesOf(finished), ['p'])
})

test('the first beyond the threshold are chosen, none at it or below', () => {
  const pods = ['a', 'b', 'c'].map((name, index) =>
    pod(name, { phase: 'Failed', ageSeconds: 30 - index }),
  )
  const chosen = (threshold: number) => namesOf(beyondThreshold(pods.toReversed(), threshold))
  assert.deepEqual(chosen(1), ['a', 'b'])
  assert.deepEqual(chosen(2), ['a'])
  assert.deepEqual([chosen(3), chosen(4)], [[], []])
})

test('Threshold 0 or less disables only step 1.', () => {
  const pods = [pod('a', { phase: 'Failed' }), pod('b', { phase: 'Failed' })]
  assert.deepEqual([beyondThreshold(pods, 0), beyondThreshold(pods, -1)], [[], []])
})

test('Evicted Pods go first even when they are the newest.', () => {
  const evicted = { reason: 'Evicted' }
  const pods = [
    pod('old', { phase: 'Failed', ageSeconds: 90 }),
    pod('not failed', { phase: 'Succeeded', ageSeconds: 95, status: evicted }),
    pod('new', { phase: 'Failed', ageSeconds: 1, status: evicted }),
    pod('newer', { phase: 'Failed', ageSeconds: 0, status: evicted }),
  ]
  assert.deepEqual(namesOf(inDeletionOrder(pods)), ['new', 'newer', 'not failed', 'old'])
})

test('Equal creationTimestamps are ordered by name only; namespace is not compared.', () => {
  const pods = [pod('b', { namespace: 'a' }), pod('a', { namespace: 'z' })]
  assert.deepEqual(namesOf(inDeletionOrder(pods)), ['a', 'b'])
  assert.deepEqual(namesOf(inDeletionOrder(pods.toReversed())), ['a', 'b'])
})

test('age decides before the name', () => {
  const pods = [pod('a', { ageSeconds: 10 }), pod('b', { ageSeconds: 20 })]
  assert.deepEqual(namesOf(inDeletionOrder(pods)), ['b', 'a'])
  assert.deepEqual(namesOf(inDeletionOrder(pods.toReversed())), ['b', 'a'])
})

const outOfService: readonly (readonly [string, PodOptions, NodeOptions, boolean])[] = [
  ['terminating, not ready, tainted', { terminating: true }, { ready: 'False' }, true],
  ['terminating, ready unknown, tainted', { terminating: true }, { ready: 'Unknown' }, true],
  ['terminating, no ready condition, tainted', { terminating: true }, { ready: 'absent' }, true],
  ['The out-of-service taint on a Ready node does nothing.', { terminating: true }, {}, false],
  [
    'A terminating Pod on a healthy node, or on a not-ready node without the taint, is left alone.',
    { terminating: true },
    { ready: 'False', taints: ['other'] },
    false,
  ],
  [
    'A Pod without deletionTimestamp on an out-of-service node is left alone by this controller.',
    {},
    { ready: 'False' },
    false,
  ],
]
for (const [title, podOptions, nodeOptions, isCandidate] of outOfService) {
  test(title, () => {
    const taints = nodeOptions.taints ?? [OUT_OF_SERVICE_TAINT]
    const found = among(
      [pod('p', { node: 'n', ...podOptions })],
      node('n', { ...nodeOptions, taints }),
    )
    assert.deepEqual(namesOf(found.outOfService), isCandidate ? ['p'] : [])
    assert.deepEqual([found.orphans.size, found.unscheduled.length], [0, 0])
  })
}

test('Node names are compared exactly; an empty nodeName is never an orphan.', () => {
  const pods = [
    pod('a', { node: 'N' }),
    pod('b', { node: 'n2' }),
    pod('c', { node: '' }),
    pod('d'),
    pod('e', { node: 'N', phase: 'Succeeded' }),
  ]
  const { orphans } = among(pods, node('n'), node('n22'))
  assert.deepEqual(
    [...orphans].map(([name, found]) => [name, namesOf(found)]),
    [
      ['N', ['a', 'e']],
      ['n2', ['b']],
    ],
  )
})

test('Unscheduled Pods without deletionTimestamp are left alone in any phase.', () => {
  const pods = ['Pending', 'Running', 'Failed', 'Succeeded', 'Unknown', ''].flatMap((phase) => [
    pod(`${phase}-stays`, { phase, node: '' }),
    pod(`${phase}-goes`, { phase, terminating: true }),
  ])
  assert.deepEqual(namesOf(among(pods).unscheduled), [
    'Pending-goes',
    'Running-goes',
    'Failed-goes',
    'Succeeded-goes',
    'Unknown-goes',
    '-goes',
  ])
})

test('the taint, the period and the quarantine are those of the page', () => {
  assert.equal(OUT_OF_SERVICE_TAINT, 'node.kubernetes.io/out-of-service')
  assert.deepEqual([SCAN_PERIOD_MS, QUARANTINE_MS], [20_000, 40_000])
})

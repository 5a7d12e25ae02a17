import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import type { Outcome, Verdict } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { leaving, node, nodeRanges } from './fixtures.ts'
import type { NodeRanges } from './node-ranges.ts'
import { reconcile } from './reconcile.ts'
import { nodeWatch } from './watches.ts'

/** What was written: the podCIDRs of each patch. */
function sync(ranges: NodeRanges, target: Node, onWrite?: (index: number) => Outcome | undefined) {
  const { result, writes, events } = drive(reconcile(target, ranges), {
    onWrite: (_, index) => onWrite?.(index),
  })
  const proposals = writes.map((write) => {
    assert.ok(write.verb === 'patch' && write.patch.type === 'strategic')
    return (write.patch.value as { spec: { podCIDRs: readonly string[] } }).spec.podCIDRs
  })
  return {
    proposals,
    events,
    writes,
    error: ((result as Verdict | undefined)?.error as Error)?.message,
  }
}

/** What the node gets; one that was written is seen on it. */
function given(ranges: NodeRanges, name: string): readonly string[] | undefined {
  const [cidrs] = sync(ranges, node(name)).proposals
  if (cidrs !== undefined) ranges.occupy(node(name, cidrs))
  return cidrs
}

const small = () => nodeRanges([['10.0.0.0/29', 30]])
const no = refused(403, 'Forbidden')
const lost: Outcome = {
  ok: false,
  error: new TransportError('ECONNRESET', 'connection reset'),
  attempted: true,
}

test('5. the patch has podCIDR and podCIDRs, the uid of the node and nothing else', () => {
  const ranges = nodeRanges([
    ['10.0.0.0/16', 24],
    ['fd00::/48', 64],
  ])
  assert.deepEqual(sync(ranges, node('n')).writes, [
    {
      verb: 'patch',
      type: resources.nodes,
      namespace: undefined,
      name: 'n',
      patch: {
        type: 'strategic',
        value: {
          metadata: { uid: 'n-uid' },
          spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] },
        },
      },
      subresource: undefined,
    },
  ])
})

test('Given dual stack v4,v6 and v6,v4, then both orders are honoured', () => {
  const v4 = ['10.0.0.0/16', 24] as const
  const v6 = ['fd00::/48', 64] as const
  assert.deepEqual(given(nodeRanges([v4, v6]), 'n'), ['10.0.0.0/24', 'fd00::/64'])
  assert.deepEqual(given(nodeRanges([v6, v4]), 'n'), ['fd00::/64', '10.0.0.0/24'])
})

test('1. a node under deletion gets no range', () => {
  const { proposals, events, error } = sync(small(), leaving(node('n')))
  assert.deepEqual([proposals, events, error], [[], [], undefined])
})

test('1. a node under deletion keeps what it has, and nothing about it is looked at', () => {
  const { error } = sync(small(), leaving(node('n', ['192.168.0.0/24'])))
  assert.equal(error, undefined)
})

test('2. what a node has is not handed out again', () => {
  const ranges = small()
  const seen = sync(ranges, node('a', ['10.0.0.0/30']))
  assert.deepEqual([seen.proposals, seen.events, seen.error], [[], [], undefined])
  assert.deepEqual(given(ranges, 'b'), ['10.0.0.4/30'])
})

const wrong: readonly (readonly [string, readonly string[], string])[] = [
  [
    'outside',
    ['10.9.0.0/30'],
    'failed to mark cidr[10.9.0.0/30] at idx [0] as occupied for node: n: cidr 10.9.0.0/30 is out the range of cluster cidr 10.0.0.0/29',
  ],
  [
    'of the other family',
    ['fd00::/64'],
    'failed to mark cidr[fd00::/64] at idx [0] as occupied for node: n: cidr fd00::/64 is out the range of cluster cidr 10.0.0.0/29',
  ],
  [
    'beyond the sets',
    ['10.0.0.0/30', 'fd00::/64'],
    'node:n has an allocated cidr: fd00::/64 at index:1 that does not exist in cluster cidrs configuration',
  ],
  ['no CIDR', ['nonsense'], 'failed to parse node n, CIDR nonsense'],
]
for (const [what, cidrs, message] of wrong)
  test(`2. a range ${what} is an error that is tried again, and no event`, () => {
    const { error, events, proposals } = sync(small(), node('n', cidrs))
    assert.deepEqual([error, events, proposals], [message, [], []])
  })

test('Given all slots used, then the sync errors and nothing is patched', () => {
  const ranges = small()
  given(ranges, 'a')
  given(ranges, 'b')
  const { proposals, events, error } = sync(ranges, node('c'))
  assert.deepEqual(proposals, [])
  assert.equal(
    error,
    'failed to allocate cidr from cluster cidr at idx:0: CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range',
  )
  assert.deepEqual(events, [
    {
      type: 'Normal',
      reason: 'CIDRNotAvailable',
      message: 'Node c status is now: CIDRNotAvailable',
    },
  ])
})

test('Given a released CIDR in an otherwise full set, then it is handed out again', () => {
  const ranges = small()
  given(ranges, 'a')
  given(ranges, 'b')
  ranges.deleted('a', node('a', ['10.0.0.0/30']))
  assert.deepEqual(given(ranges, 'c'), ['10.0.0.0/30'])
})

test('a second set that is full takes nothing of the first', () => {
  const ranges = nodeRanges([
    ['10.0.0.0/29', 30],
    ['fd00::/64', 64],
  ])
  assert.deepEqual(given(ranges, 'a'), ['10.0.0.0/30', 'fd00::/64'])
  for (let tries = 0; tries < 3; tries++)
    assert.match(sync(ranges, node('b')).error!, /at idx:1: CIDR allocation failed/)
  ranges.deleted('a', node('a', ['10.0.0.0/30', 'fd00::/64']))
  assert.deepEqual(given(ranges, 'b'), ['10.0.0.4/30', 'fd00::/64'])
})

test('a node whose patch was taken is not patched again while the cache does not show it', () => {
  const ranges = small()
  assert.equal(sync(ranges, node('a')).proposals.length, 1)
  assert.equal(sync(ranges, node('a')).proposals.length, 0)
  assert.deepEqual(given(ranges, 'b'), ['10.0.0.4/30'])
})

test('5. a patch that fails is tried three times at once, and the first that is taken ends it', () => {
  const ranges = small()
  const { proposals, events, error } = sync(ranges, node('a'), (index) =>
    index < 2 ? no : undefined,
  )
  assert.equal(proposals.length, 3)
  assert.deepEqual([events, error], [[], undefined])
  assert.deepEqual(sync(ranges, node('a')).proposals, [])
})

test('6. refused three times, the range is free again, the node hears of it, and the sync is tried again', () => {
  const ranges = small()
  const { proposals, events, error } = sync(ranges, node('a'), () => no)
  assert.equal(proposals.length, 3)
  assert.deepEqual(events, [
    {
      type: 'Normal',
      reason: 'CIDRAssignmentFailed',
      message: 'Node a status is now: CIDRAssignmentFailed',
    },
  ])
  assert.match(error!, /^failed to patch node CIDR: /)
  assert.deepEqual(given(ranges, 'b'), ['10.0.0.4/30'])
  assert.deepEqual(given(ranges, 'c'), ['10.0.0.0/30'])
})

const unsure: readonly (readonly [string, Outcome])[] = [
  ['ServerTimeout', refused(500, 'ServerTimeout')],
  ['Timeout', refused(504, 'Timeout')],
  ['a lost connection', lost],
]
for (const [what, outcome] of unsure)
  test(`6. after ${what} the range stays this node's: the write may have happened`, () => {
    const ranges = small()
    const first = sync(ranges, node('a'), (index) => (index === 0 ? outcome : no))
    assert.equal(first.events.length, 1)
    assert.deepEqual(given(ranges, 'b'), ['10.0.0.4/30'])
    assert.match(sync(ranges, node('c')).error!, /CIDR allocation failed/)
    assert.deepEqual(given(ranges, 'a'), ['10.0.0.0/30'])
  })

test('a range that stays a node’s is free when the node turns out to have another, or goes', () => {
  const ranges = nodeRanges([['10.0.0.0/28', 30]])
  sync(ranges, node('a'), () => lost)
  sync(ranges, node('a', ['10.0.0.12/30']))
  sync(ranges, node('b'), () => lost)
  ranges.deleted('b', node('b'))
  const rest = ['c', 'd', 'e', 'f'].map((name) => given(ranges, name)?.[0])
  assert.deepEqual(rest, ['10.0.0.8/30', '10.0.0.0/30', '10.0.0.4/30', undefined])
})

test('what was proposed to a node is not proposed to its namesake', () => {
  const ranges = nodeRanges([['10.0.0.0/28', 30]])
  assert.deepEqual(sync(ranges, node('a')).proposals, [['10.0.0.0/30']])
  assert.deepEqual(sync(ranges, node('a', [], 'another')).proposals, [['10.0.0.4/30']])
  assert.deepEqual(
    ['b', 'c', 'd', 'e'].map((name) => given(ranges, name)?.[0]),
    ['10.0.0.8/30', '10.0.0.12/30', '10.0.0.0/30', undefined],
  )
})

test('what was proposed to a node stays its own when a namesake has something else', () => {
  const ranges = nodeRanges([['10.0.0.0/28', 30]])
  sync(ranges, node('a'), () => lost)
  assert.equal(ranges.occupy(node('a', ['10.0.0.12/30'], 'another')), undefined)
  assert.deepEqual(given(ranges, 'a'), ['10.0.0.0/30'])
})

test('events name the node by name and uid, of whatever version', () => {
  const target = node('n')
  const versioned = { ...target, metadata: { ...target.metadata, resourceVersion: '7' } }
  const ranges = nodeRanges([['10.0.0.0/30', 30]])
  given(ranges, 'first')
  const [told] = drive(reconcile(versioned, ranges)).effects
  assert.deepEqual(told?.effect === 'event' && told.event.regarding, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'n-uid' },
  })
})

test('a node that goes late takes nothing from the namesake that has its own part already', () => {
  const ranges = nodeRanges([['10.0.0.0/29', 30]])
  const { onDelete } = nodeWatch(ranges, () => {})
  const former = node('a', ['10.0.0.0/30'])
  ranges.occupy(former)
  const namesake = node('a', [], 'another')
  assert.deepEqual(ranges.propose(namesake)?.cidrs, ['10.0.0.4/30'])
  onDelete!(former)
  assert.deepEqual(ranges.propose(namesake)?.cidrs, ['10.0.0.4/30'])
  assert.deepEqual(ranges.propose(node('b'))?.cidrs, ['10.0.0.0/30'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { electedSpec, nextStep } from './election.ts'
import type { Step } from './election.ts'
import { NOW_MS, OLDEST, at, candidate, lease } from './fixtures.ts'

type Given = Parameters<typeof nextStep>[0]
type Candidates = Parameters<typeof nextStep>[1]

const elects = (holder: string): Step => ({ kind: 'elect', elected: { strategy: OLDEST, holder } })
const REST: Step = { kind: 'rest' }
const WAIT: Step = { kind: 'wait' }
const pings = (...names: string[]): Step => ({ kind: 'ping', names })

const CASES: readonly (readonly [string, Given, Candidates, Step])[] = [
  ['no candidates', undefined, [], REST],
  ['expired candidates only', undefined, [candidate('a', { renewed: -1801 })], REST],
  ['no lease, a fresh candidate', undefined, [candidate('a')], elects('a')],
  ['no lease, one not renewed for 6 s', undefined, [candidate('a', { renewed: -6 })], pings('a')],
  [
    'asked 2 s ago: its answer is awaited',
    undefined,
    [candidate('a', { renewed: -60, pinged: -2 })],
    WAIT,
  ],
  [
    'one is awaited, another was not asked yet',
    undefined,
    [candidate('a', { renewed: -60, pinged: -2 }), candidate('b', { renewed: -60 })],
    pings('b'),
  ],
  [
    'answered in the moment it was asked',
    undefined,
    [candidate('a', { renewed: 0, pinged: 0 })],
    elects('a'),
  ],
  [
    'one gave no answer for 5 s: those that did take part',
    undefined,
    [
      candidate('a', { renewed: -60, pinged: -5, emulation: '1.0.0' }),
      candidate('b', { renewed: -5, pinged: -5 }),
    ],
    elects('b'),
  ],
  [
    'nobody answered: they are not asked again',
    undefined,
    [candidate('a', { renewed: -60, pinged: -5 })],
    REST,
  ],
  [
    'an answer that is older than 5 s is asked for again',
    undefined,
    [candidate('a', { renewed: -6, pinged: -7 })],
    pings('a'),
  ],
  ['a live lease of the best', lease('a'), [candidate('a', { renewed: -60 })], REST],
  ['a lease without holder', lease(''), [candidate('a')], elects('a')],
  ['an expired lease', lease('x', { renewTime: at(-15.001) }), [candidate('a')], elects('a')],
  [
    'a lease that expires in this moment is live',
    lease('a', { renewTime: at(-15) }),
    [candidate('a', { renewed: -60 })],
    REST,
  ],
  [
    'a lease without times is expired',
    lease('x', { renewTime: undefined }),
    [candidate('a')],
    elects('a'),
  ],
  [
    'a better candidate than the holder: all are asked',
    lease('a'),
    [candidate('a', { renewed: -60 }), candidate('b', { emulation: '1.35.0' })],
    pings('a'),
  ],
  [
    'the better one, when all have answered',
    lease('a'),
    [candidate('a'), candidate('b', { emulation: '1.35.0' })],
    elects('b'),
  ],
  [
    'one that counts but gives no answer does not unseat the holder',
    lease('a'),
    [
      candidate('a', { renewed: -60 }),
      candidate('b', { renewed: -900, pinged: -60, emulation: '1.35.0' }),
    ],
    REST,
  ],
  [
    'a candidate not renewed for 15 minutes is asked',
    lease('a'),
    [candidate('a'), candidate('b', { renewed: -901 })],
    pings('b'),
  ],
  [
    'somebody else elects by this strategy: a live lease is left alone',
    lease('x'),
    [candidate('a', { strategy: 'example.com/mine' })],
    REST,
  ],
  [
    'somebody else elects: the lease is made without holder',
    undefined,
    [candidate('a', { strategy: 'example.com/mine' })],
    { kind: 'elect', elected: { strategy: 'example.com/mine' } },
  ],
  [
    'two strategies at one binary version',
    undefined,
    [candidate('a', { strategy: 'example.com/mine' }), candidate('b')],
    {
      kind: 'conflict',
      message:
        'candidates "a", "b" at same binary version but received differing strategies example.com/mine, OldestEmulationVersion',
    },
  ],
]
for (const [title, given, candidates, wanted] of CASES) {
  test(`next step: ${title}`, () => {
    assert.deepEqual(nextStep(given, candidates, NOW_MS), wanted)
  })
}

const by = (holder?: string) => ({ strategy: OLDEST, ...(holder === undefined ? {} : { holder }) })

test('no lease: made for 5 s', () => {
  assert.deepEqual(electedSpec(undefined, by('a'), NOW_MS), {
    holderIdentity: 'a',
    leaseDurationSeconds: 5,
    renewTime: at(0),
    strategy: OLDEST,
  })
  assert.equal('holderIdentity' in electedSpec(undefined, by(), NOW_MS), false)
})

test('a free lease changes hands: the wish is gone, what counts transitions stays', () => {
  const free = { acquireTime: at(-60), leaseTransitions: 3, preferredHolder: 'a' }
  const wanted = {
    holderIdentity: 'a',
    leaseDurationSeconds: 5,
    renewTime: at(0),
    strategy: OLDEST,
    leaseTransitions: 3,
  }
  const expired = lease('x', { ...free, renewTime: at(-16) }).spec
  assert.deepEqual(electedSpec(expired, by('a'), NOW_MS), wanted)
  assert.deepEqual(electedSpec(lease('', free).spec, by('a'), NOW_MS), wanted)
})

test('a live lease of another holder: only the wish is written', () => {
  const held = lease('x').spec!
  assert.deepEqual(electedSpec(held, by('a'), NOW_MS), { ...held, preferredHolder: 'a' })
})

test('a lease of the elected one is left as it is, with the strategy', () => {
  const held = lease('a', { strategy: undefined }).spec!
  assert.deepEqual(electedSpec(held, by('a'), NOW_MS), { ...held, strategy: OLDEST })
  const theirs = lease('x').spec!
  assert.deepEqual(electedSpec(theirs, { strategy: 'example.com/mine' }, NOW_MS), {
    ...theirs,
    strategy: 'example.com/mine',
  })
})

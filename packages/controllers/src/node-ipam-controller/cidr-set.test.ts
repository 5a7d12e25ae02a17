import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cidrSet } from './fixtures.ts'

test('Given cluster 127.123.234.0/24, mask 30, no service range, then the first CIDR is 127.123.234.0/30', () => {
  const { next } = cidrSet('127.123.234.0/24', 30)
  assert.deepEqual([next(), next()], ['127.123.234.0/30', '127.123.234.4/30'])
})

test('Given service range 127.123.234.0/26 inside it, then the first CIDR is 127.123.234.64/30', () => {
  const { next, occupy, tries } = cidrSet('127.123.234.0/24', 30)
  assert.ok(occupy('127.123.234.0/26'))
  assert.equal(next(), '127.123.234.64/30')
  assert.deepEqual(tries(), [16])
})

test('Given a full range, then the next allocation errors until a release', () => {
  const { set, next, release } = cidrSet('10.0.0.0/30', 31)
  assert.ok(!set.isFull)
  assert.deepEqual([next(), next(), set.isFull], ['10.0.0.0/31', '10.0.0.2/31', true])
  assert.ok(release('10.0.0.2/31'))
  assert.deepEqual([set.isFull, next(), set.isFull], [false, '10.0.0.2/31', true])
})

test('Given occupied slots, then allocation skips them', () => {
  const { next, occupy, release, tries } = cidrSet('10.0.0.0/28', 30)
  for (const text of ['10.0.0.0/30', '10.0.0.8/30']) assert.ok(occupy(text))
  assert.deepEqual([next(), next()], ['10.0.0.4/30', '10.0.0.12/30'])
  assert.deepEqual(tries(), [1, 1])
  assert.ok(release('10.0.0.4/30'))
  // The cursor is at 0 again.
  assert.equal(next(), '10.0.0.4/30')
  assert.deepEqual(tries(), [1, 1, 1])
})

test('slots that are skipped are counted over the end too', () => {
  const { next, occupy, release, tries } = cidrSet('10.0.0.0/28', 30)
  for (let count = 0; count < 3; count++) next()
  occupy('10.0.0.12/30')
  release('10.0.0.4/30')
  assert.equal(next(), '10.0.0.4/30')
  assert.deepEqual(tries(), [0, 0, 0, 2])
})

test('a freed slot is handed out only when the cursor has come round', () => {
  const { next, release } = cidrSet('10.0.0.0/28', 30)
  assert.equal(next(), '10.0.0.0/30')
  assert.ok(release('10.0.0.0/30'))
  assert.deepEqual(
    [next(), next(), next(), next()],
    ['10.0.0.4/30', '10.0.0.8/30', '10.0.0.12/30', '10.0.0.0/30'],
  )
})

test('Given double occupy/release sequences, then counts stay consistent', () => {
  const { set, occupy, release, value } = cidrSet('10.42.0.0/16', 24)
  const steps: readonly (readonly [(text: string) => boolean, string, number, number])[] = [
    [occupy, '10.42.9.0/24', 1, 0],
    [occupy, '10.42.9.0/24', 1, 0],
    [release, '10.42.9.0/24', 1, 1],
    [release, '10.42.9.0/24', 1, 1],
    [occupy, '10.42.0.0/22', 5, 1],
    [occupy, '10.42.2.0/23', 5, 1],
    [release, '10.42.3.0/24', 5, 2],
    [release, '10.42.0.0/22', 5, 5],
  ]
  for (const [step, text, taken, released] of steps) {
    assert.ok(step(text))
    const counted = [
      value('cidrset_cidrs_allocations_total'),
      value('cidrset_cidrs_releases_total'),
    ]
    assert.deepEqual(counted, [taken, released], text)
    assert.equal(value('cidrset_usage_cidrs'), (taken - released) / 256)
  }
  assert.ok(!set.isFull)
})

test('Given slot indexes up to 6425 with masks /63, /48, /72, /96, then the computed IPv6 blocks are exact', () => {
  const exact: readonly (readonly [string, number, number, string])[] = [
    ['fd01:1234:5678::/47', 63, 0, 'fd01:1234:5678::/63'],
    ['fd01:1234:5678::/47', 63, 1, 'fd01:1234:5678:2::/63'],
    ['fd01:1234:5678::/47', 63, 8, 'fd01:1234:5678:10::/63'],
    ['fd01::/32', 48, 0, 'fd01::/48'],
    ['fd01::/32', 48, 6425, 'fd01:0:1919::/48'],
    ['fd01:1234:5678:9abc::/64', 72, 6, 'fd01:1234:5678:9abc:600::/72'],
    ['fd01:1234:5678:9abc::/64', 72, 255, 'fd01:1234:5678:9abc:ff00::/72'],
    ['fd01:1234:5678:9abc:d::/80', 96, 1, 'fd01:1234:5678:9abc:d:1::/96'],
    ['fd01:1234:5678:9abc:d::/80', 96, 6425, 'fd01:1234:5678:9abc:d:1919::/96'],
  ]
  for (const [range, nodeBits, slot, expected] of exact) {
    const { next } = cidrSet(range, nodeBits)
    for (let before = 0; before < slot; before++) next()
    assert.equal(next(), expected)
  }
})

test('of every block the slot is found again, at the ends of 32 and of 128 bits', () => {
  const ranges: readonly (readonly [string, number, string, string])[] = [
    ['255.255.0.0/16', 24, '255.255.255.0/24', '255.255.0.0/24'],
    [
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:0/112',
      128,
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128',
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:0/128',
    ],
  ]
  for (const [range, nodeBits, last, first] of ranges) {
    const { set, next, occupy, release } = cidrSet(range, nodeBits)
    assert.ok(occupy(range))
    assert.ok(set.isFull)
    assert.ok(release(last))
    assert.equal(next(), last)
    assert.ok(release(first))
    assert.equal(next(), first)
    assert.ok(set.isFull)
  }
})

const outside: readonly (readonly [string, string, boolean])[] = [
  ['10.1.0.0/24', 'beside', false],
  ['11.0.0.0/8', 'beside and larger', false],
  ['fd00::/64', 'of the other family', false],
  ['::/0', 'all of the other family', false],
  ['10.0.255.0/24', 'at its end', true],
  ['10.0.0.0/15', 'larger and over it', true],
  ['0.0.0.0/0', 'everything', true],
  ['10.0.3.128/25', 'smaller than a slot', true],
]
for (const [text, where, expected] of outside)
  test(`a range ${where} is ${expected ? 'in' : 'outside'}`, () => {
    assert.equal(cidrSet('10.0.0.0/16', 24).occupy(text), expected)
    assert.equal(cidrSet('10.0.0.0/16', 24).release(text), expected)
  })

test('a range that touches a slot takes all of it, and one around the cluster takes all slots', () => {
  const part = cidrSet('10.0.0.0/16', 24)
  part.occupy('10.0.3.128/25')
  assert.equal(part.value('cidrset_cidrs_allocations_total'), 1)
  assert.deepEqual([part.next(), part.next(), part.next(), part.next()].at(-1), '10.0.4.0/24')
  const whole = cidrSet('10.0.0.0/16', 24)
  whole.occupy('10.0.0.0/15')
  assert.ok(whole.set.isFull)
  assert.equal(whole.value('cidrset_cidrs_allocations_total'), 256)
})

test('Given allocations and releases, then the metrics above match', () => {
  const { metrics, next, occupy, release, value, tries } = cidrSet('10.0.0.0/16', 24)
  assert.equal(value('cirdset_max_cidrs'), 256)
  next()
  next()
  assert.deepEqual(
    ['cidrset_cidrs_allocations_total', 'cidrset_cidrs_releases_total', 'cidrset_usage_cidrs'].map(
      value,
    ),
    [2, 0, 2 / 256],
  )
  release('10.0.0.0/24')
  assert.equal(value('cidrset_cidrs_releases_total'), 1)
  assert.equal(value('cidrset_usage_cidrs'), 1 / 256)
  occupy('10.0.4.0/22')
  assert.equal(value('cidrset_cidrs_allocations_total'), 6)
  for (let count = 0; count < 3; count++) next()
  assert.deepEqual(tries(), [0, 0, 0, 0, 4])
  const names = [...metrics.families.keys()].map((name) =>
    name.replace('node_ipam_controller_', ''),
  )
  assert.deepEqual(names, [
    'cidrset_cidrs_allocations_total',
    'cidrset_cidrs_releases_total',
    'cirdset_max_cidrs',
    'cidrset_usage_cidrs',
    'cidrset_allocation_tries_per_request',
  ])
  const { buckets } = metrics.families.get(
    'node_ipam_controller_cidrset_allocation_tries_per_request',
  ) as { buckets: readonly number[] }
  assert.deepEqual(buckets, [1, 5, 25, 125, 625])
})

test('what changes nothing is not told to the metrics', () => {
  const { release, metrics } = cidrSet('10.0.0.0/16', 24)
  release('10.0.0.0/16')
  assert.doesNotMatch(metrics.expose(), /releases_total|usage/)
})

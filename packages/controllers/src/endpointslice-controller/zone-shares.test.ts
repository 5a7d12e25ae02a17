import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../endpoint-support/fixtures.ts'
import { allocations, isOverloaded, zoneShares } from './zone-shares.ts'

const a = node({ name: 'a', zone: 'a', cpu: '3' })
const b = node({ name: 'b', zone: 'b', cpu: '1000m' })

const cases: readonly (readonly [
  title: string,
  nodes: readonly ReturnType<typeof node>[],
  shares: object | undefined,
])[] = [
  ['allocatable CPU of ready nodes per zone', [a, b], { a: 0.75, b: 0.25 }],
  ['nodes of a zone add up', [a, b, node({ name: 'b2', zone: 'b', cpu: '2' })], { a: 0.5, b: 0.5 }],
  [
    'control planes do not count, whatever they lack',
    [
      a,
      b,
      node({ name: 'm', labels: { 'node-role.kubernetes.io/master': '' } }),
      node({
        name: 'c',
        zone: 'c',
        cpu: '8',
        labels: { 'node-role.kubernetes.io/control-plane': '' },
      }),
    ],
    { a: 0.75, b: 0.25 },
  ],
  [
    'nor do nodes that are not ready',
    [a, b, node({ name: 'x', ready: false })],
    { a: 0.75, b: 0.25 },
  ],
  ['none with a ready node without zone', [a, b, node({ name: 'x', cpu: '1' })], undefined],
  ['none with a ready node without CPU', [a, b, node({ name: 'x', zone: 'a' })], undefined],
  [
    'none with a ready node of zero CPU',
    [a, b, node({ name: 'x', zone: 'a', cpu: '0' })],
    undefined,
  ],
  ['none with one zone', [a], undefined],
  ['none without nodes', [], undefined],
]
for (const [title, nodes, expected] of cases) {
  test(`shares: ${title}`, () => {
    const shares = zoneShares(nodes)
    assert.deepEqual(shares && Object.fromEntries(shares), expected)
  })
}

const halves = new Map([
  ['a', 0.5],
  ['b', 0.5],
])

test('a zone needs its share less a fifth, and may have what is spare', () => {
  const shares = new Map([
    ['a', 0.75],
    ['b', 0.25],
  ])
  assert.deepEqual(Object.fromEntries(allocations(shares, 10)!), {
    a: { minimum: 7, desired: 7.5, maximum: 7 },
    b: { minimum: 3, desired: 3, maximum: 3 },
  })
  assert.deepEqual(Object.fromEntries(allocations(halves, 10)!), {
    a: { minimum: 5, desired: 5, maximum: 5 },
    b: { minimum: 5, desired: 5, maximum: 5 },
  })
  assert.equal(allocations(halves, 24)?.get('a')?.maximum, 14)
  assert.equal(allocations(halves, 1), undefined)
})

const overloads: readonly (readonly [title: string, hints: object, overloaded: boolean])[] = [
  ['no hints', {}, false],
  ['even', { a: 5, b: 5 }, false],
  ['within the threshold', { a: 14, b: 10 }, false],
  ['beyond it', { a: 15, b: 9 }, true],
  ['a zone without any', { a: 5 }, true],
]
for (const [title, hints, overloaded] of overloads) {
  test(`overload: ${title}`, () => {
    assert.equal(isOverloaded(new Map(Object.entries(hints)), halves), overloaded)
  })
}

test('hints without shares are overload', () => {
  assert.ok(isOverloaded(new Map([['a', 1]]), undefined))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cidr } from '@gyropilot/api'
import type { Route } from '@gyropilot/cloud-provider'
import { internalIp, externalIp, node } from '../cloud-support/fixtures.ts'
import { clusterCidrs } from './cluster-cidrs.ts'
import { isOurs, planRoutes, sameAddresses } from './plan.ts'

const cluster = clusterCidrs('10.120.0.0/16')
const dual = clusterCidrs('10.120.0.0/16,fd00:120::/48')

const responsible: readonly (readonly [string, readonly Cidr[], boolean])[] = [
  ['10.120.1.0/24', cluster, true],
  ['10.120.255.0/24', cluster, true],
  ['10.121.0.0/24', cluster, false],
  // Only its last address lies inside.
  ['10.119.0.0/15', clusterCidrs('10.119.128.0/17'), true],
  // Only its first one.
  ['10.120.0.0/15', cluster, true],
  // Around it, with neither end.
  ['10.0.0.0/8', cluster, false],
  ['fd00:120:0:1::/64', cluster, false],
  ['fd00:120:0:1::/64', dual, true],
  ['not a cidr', cluster, false],
]

test('Given route CIDRs inside and outside cluster CIDRs, then responsibility is as defined', () => {
  for (const [destinationCidr, cidrs, expected] of responsible)
    assert.equal(isOurs({ destinationCidr }, cidrs), expected, destinationCidr)
})

const route = (targetNode: string, destinationCidr: string, more: Partial<Route> = {}): Route => ({
  name: `${targetNode}-${destinationCidr}`,
  targetNode,
  destinationCidr,
  ...more,
})
const A = '10.120.0.0/24'
const B = '10.120.1.0/24'
const SIX = 'fd00:120:0:1::/64'
const addresses = [internalIp('1.1.1.1')]
const a = node('a', { podCidrs: [A], addresses })

interface Case {
  readonly what: string
  readonly nodes?: Parameters<typeof planRoutes>[0]
  readonly routes: readonly Route[]
  readonly cidrs?: readonly Cidr[]
  readonly actions: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Indexes of routes that are deleted. */
  readonly deleted: readonly number[]
  readonly deletesFirst?: boolean
}

const tracked = { enableNodeAddresses: true }

const cases: readonly Case[] = [
  { what: 'no routes', routes: [], actions: { a: { [A]: 'add' } }, deleted: [] },
  { what: 'all', routes: [route('a', A)], actions: { a: { [A]: 'keep' } }, deleted: [] },
  { what: 'wrong', routes: [route('a', B)], actions: { a: { [A]: 'add' } }, deleted: [0] },
  {
    what: "another node's",
    routes: [route('b', A)],
    actions: { a: { [A]: 'add' } },
    deleted: [0],
  },
  {
    what: 'too many',
    routes: [route('a', A), route('a', B), route('gone', B), route('', B)],
    actions: { a: { [A]: 'keep' } },
    deleted: [1, 2, 3],
  },
  {
    what: 'duplicates are all kept',
    routes: [route('a', A), { ...route('a', A), name: 'twin' }],
    actions: { a: { [A]: 'keep' } },
    deleted: [],
  },
  {
    what: 'foreign ones are left',
    routes: [route('gone', '10.1.0.0/24'), route('', '10.1.0.0/24'), route('gone', 'x')],
    actions: { a: { [A]: 'add' } },
    deleted: [],
  },
  {
    what: 'a node without CIDRs loses its routes',
    nodes: [node('a')],
    routes: [route('a', A)],
    actions: {},
    deleted: [0],
  },
  {
    what: 'CIDRs are compared as text',
    nodes: [node('a', { podCidrs: [SIX] })],
    cidrs: dual,
    routes: [route('a', 'fd00:120:0:0001::/64')],
    actions: { a: { [SIX]: 'add' } },
    deleted: [0],
  },
  {
    what: 'two families',
    nodes: [node('a', { podCidrs: [A, SIX] })],
    cidrs: dual,
    routes: [route('a', A)],
    actions: { a: { [A]: 'keep', [SIX]: 'add' } },
    deleted: [],
  },
  {
    what: 'a node that lists a CIDR twice has one action',
    nodes: [node('a', { podCidrs: [A, A] })],
    routes: [],
    actions: { a: { [A]: 'add' } },
    deleted: [],
  },
  {
    what: 'tracked addresses that are equal',
    routes: [route('a', A, { ...tracked, targetNodeAddresses: addresses })],
    actions: { a: { [A]: 'keep' } },
    deleted: [],
    deletesFirst: true,
  },
  {
    what: 'tracked addresses that are missing',
    routes: [route('a', A, tracked)],
    actions: { a: { [A]: 'update' } },
    deleted: [0],
    deletesFirst: true,
  },
  {
    what: 'tracked addresses that changed',
    routes: [route('a', A, { ...tracked, targetNodeAddresses: [internalIp('2.2.2.2')] })],
    actions: { a: { [A]: 'update' } },
    deleted: [0],
    deletesFirst: true,
  },
  {
    what: 'addresses that are not tracked say nothing',
    routes: [route('a', A, { targetNodeAddresses: [internalIp('2.2.2.2')] })],
    actions: { a: { [A]: 'keep' } },
    deleted: [],
  },
  {
    what: 'one good route among equals is enough',
    routes: [route('a', A, tracked), route('a', A, { ...tracked, targetNodeAddresses: addresses })],
    actions: { a: { [A]: 'keep' } },
    deleted: [],
    deletesFirst: true,
  },
  {
    what: 'a blackhole in range goes though its CIDR is kept',
    routes: [route('a', A, { blackhole: true })],
    actions: { a: { [A]: 'keep' } },
    deleted: [0],
  },
  {
    what: 'a blackhole out of range stays',
    routes: [route('', '10.1.0.0/24', { blackhole: true })],
    actions: { a: { [A]: 'add' } },
    deleted: [],
  },
  {
    what: 'the first route says whether addresses are tracked',
    routes: [route('a', A), route('a', A, tracked)],
    actions: { a: { [A]: 'keep' } },
    deleted: [],
    deletesFirst: false,
  },
]

for (const {
  what,
  nodes = [a],
  routes,
  cidrs = cluster,
  actions,
  deleted,
  deletesFirst = false,
} of cases) {
  test(`routes: ${what}`, () => {
    const plan = planRoutes(nodes, routes, cidrs)
    const planned = [...plan.actions].map(([name, of]) => [name, Object.fromEntries(of)])
    assert.deepEqual(Object.fromEntries(planned), actions)
    assert.deepEqual(
      plan.toDelete,
      deleted.map((index) => routes[index]),
    )
    assert.equal(plan.deletesFirst, deletesFirst)
  })
}

test('addresses are equal without regard to order, but not to type', () => {
  const [one, two] = [internalIp('1.1.1.1'), internalIp('2.2.2.2')]
  assert.equal(sameAddresses([one, two], [two, one]), true)
  assert.equal(sameAddresses([one], [one, two]), false)
  assert.equal(sameAddresses([one], [externalIp('1.1.1.1')]), false)
  assert.equal(sameAddresses([one], [two]), false)
  assert.equal(sameAddresses([one, two], [one, externalIp('2.2.2.2')]), false)
})

test('cluster CIDRs are one, or one of each family', () => {
  assert.equal(clusterCidrs('10.0.0.0/8').length, 1)
  assert.equal(clusterCidrs('fd00::/48, 10.0.0.0/8').length, 2)
  for (const text of [
    '',
    ' ',
    'x',
    '10.0.0.0/8,',
    '10.0.0.0/8,11.0.0.0/8',
    '10.0.0.0/8,fd00::/48,x',
    '10.0.0.0/8,fd00::/48,fd01::/48',
  ]) {
    assert.throws(() => clusterCidrs(text), { code: 'CLUSTER_CIDR_INVALID' }, text)
  }
  for (const text of ['', ' ']) assert.throws(() => clusterCidrs(text), /at least one CIDR/)
})

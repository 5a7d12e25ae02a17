import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seatsOf } from './priority-level-seats.ts'

const level = (name: string, limited: object | undefined, exempt?: object) => ({
  metadata: { name },
  spec: limited === undefined ? { type: 'Exempt', exempt } : { type: 'Limited', limited },
})

test('seats are what kube-apiserver 1.36 showed for its own levels and one of a user', () => {
  const levels = [
    level('exempt', undefined, { nominalConcurrencyShares: 0, lendablePercent: 0 }),
    level('catch-all', { nominalConcurrencyShares: 5, lendablePercent: 0 }),
    level('global-default', { nominalConcurrencyShares: 20, lendablePercent: 50 }),
    level('leader-election', { nominalConcurrencyShares: 10, lendablePercent: 0 }),
    level('node-high', { nominalConcurrencyShares: 40, lendablePercent: 25 }),
    level('system', { nominalConcurrencyShares: 30, lendablePercent: 33 }),
    level('workload-high', { nominalConcurrencyShares: 40, lendablePercent: 50 }),
    level('workload-low', { nominalConcurrencyShares: 100, lendablePercent: 90 }),
    level('plc-a', { nominalConcurrencyShares: 5, lendablePercent: 50, borrowingLimitPercent: 10 }),
  ]
  const seats = [...seatsOf(levels, 6_000)].map(
    ([name, { nominal, lower, upper }]) => `${name} ${nominal} ${lower} ${upper}`,
  )
  assert.deepEqual(seats, [
    'exempt 0 0 6000',
    'catch-all 120 120 6120',
    'global-default 480 240 6480',
    'leader-election 240 240 6240',
    'node-high 960 720 6960',
    'system 720 482 6720',
    'workload-high 960 480 6960',
    'workload-low 2400 240 8400',
    'plc-a 120 60 132',
  ])
})

test('a level without shares has the usual ones, an exempt level none', () => {
  const seats = seatsOf([level('a', {}), level('b', {}), level('free', undefined)], 100)
  assert.deepEqual(
    [...seats.values()].map(({ nominal }) => nominal),
    [50, 50, 0],
  )
})

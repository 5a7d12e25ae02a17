import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceTaint, DeviceTaintRule, DeviceToleration } from '@gyropilot/api'
import { claimEviction } from './eviction.ts'
import { claim, rule, START, taint, tolerating } from './fixtures.ts'

const START_MS = Date.parse(START)

/** Seconds from START, or none; of a claim with one device. */
function evictedAfterSeconds(
  taints: readonly DeviceTaint[],
  tolerations?: readonly DeviceToleration[],
  rules: readonly DeviceTaintRule[] = [],
): number | undefined {
  const indexed = taints.map((each, index) => ({ taint: each, index }))
  const found = claimEviction(claim('c', { tolerations }), { taintsOf: () => indexed, rules })
  return found && (found.timeMs - START_MS) / 1000
}

test('Given tolerations: timed, mismatching, forever, partial, many taints, then the time is as defined.', () => {
  const [a, b] = [taint('a', { value: 'x' }), taint('b')]
  const later = taint('late', { timeAdded: '2026-01-01T00:01:00Z' })
  const equal = (value?: string): DeviceToleration => ({
    key: 'a',
    operator: 'Equal',
    effect: 'NoExecute',
    ...(value === undefined ? {} : { value }),
  })
  const cases: readonly [
    string,
    readonly DeviceTaint[],
    readonly DeviceToleration[],
    number | undefined,
  ][] = [
    ['no taint', [], [], undefined],
    ['none', [a], [], 0],
    ['for ever', [a], [tolerating('a')], undefined],
    ['timed', [a], [tolerating('a', 60)], 60],
    ['negative', [a], [tolerating('a', -5)], 0],
    ['one for ever wins', [a], [tolerating('a', 5), tolerating('a')], undefined],
    ['else the least', [a], [tolerating('a', 30), tolerating('a', 20)], 20],
    ['another key', [a], [tolerating('b')], 0],
    ['no key', [a], [{ operator: 'Exists', effect: 'NoExecute' }], undefined],
    ['an empty key', [a], [{ key: '', operator: 'Exists', effect: 'NoExecute' }], undefined],
    ['no effect', [a], [{ key: 'a', operator: 'Exists' }], 0],
    ['another effect', [a], [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }], 0],
    ['another value', [a], [equal('y')], 0],
    ['the value', [a], [equal('x')], undefined],
    ['no operator', [a], [{ key: 'a', value: 'x', effect: 'NoExecute' }], undefined],
    ['no value on either side', [b], [{ key: 'b', effect: 'NoExecute' }], undefined],
    ['a value where there is none', [b], [{ ...equal('x'), key: 'b' }], 0],
    ['an unknown operator', [a], [{ ...tolerating('a'), operator: 'In' as 'Exists' }], 0],
    ['partial', [a, b], [tolerating('a')], 0],
    ['the earliest', [a, later], [tolerating('a', 90), tolerating('late', 20)], 80],
    ['all timed', [a, b], [tolerating('a', 9), tolerating('b', 7)], 7],
    ['since when nobody knows', [taint('a', { timeAdded: undefined })], [], undefined],
    ['nor with seconds', [taint('a', { timeAdded: undefined })], [tolerating('a', 3)], undefined],
  ]
  for (const [title, taints, tolerations, seconds] of cases)
    assert.equal(evictedAfterSeconds(taints, tolerations), seconds, title)
})

test('which devices a rule selects', () => {
  const cases: readonly [DeviceTaintRule['spec']['deviceSelector'], boolean][] = [
    [undefined, false],
    [{}, true],
    [{ driver: 'd.example' }, true],
    [{ driver: 'other' }, false],
    [{ pool: 'pool' }, true],
    [{ pool: 'other' }, false],
    [{ device: 'gpu-0' }, true],
    [{ device: 'gpu-1' }, false],
    [{ driver: 'd.example', pool: 'pool', device: 'gpu-1' }, false],
  ]
  for (const [selector, isSelected] of cases)
    assert.equal(evictedAfterSeconds([], [], [rule('r', selector)]) === 0, isSelected)
  assert.equal(evictedAfterSeconds([], [tolerating('bad', 4)], [rule('r', {})]), 4)
})

test('reasons are sorted and told once: rules by name, then devices and their taints', () => {
  const byDevice = new Map([
    ['b', [taint('x')]],
    ['a', [taint('x'), taint('late', { timeAdded: '2026-01-01T00:01:00Z' })]],
  ])
  const found = claimEviction(claim('c', { devices: ['b', 'a'], tolerations: [tolerating('y')] }), {
    taintsOf: ({ device }) =>
      (byDevice.get(device) ?? []).map((each, index) => ({ taint: each, index })),
    rules: [rule('z', {}), rule('m', { device: 'a' }), rule('ignored', {}, { key: 'y' })],
  })
  const pool = { driver: 'd.example', pool: 'pool' }
  assert.deepEqual(found, {
    timeMs: START_MS,
    reasons: [
      { rule: 'm', uid: 'm-uid' },
      { rule: 'z', uid: 'z-uid' },
      { ...pool, device: 'a', taintIndex: 0 },
      { ...pool, device: 'a', taintIndex: 1 },
      { ...pool, device: 'b', taintIndex: 0 },
    ],
  })
})

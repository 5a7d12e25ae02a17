import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeWithBehavior, rememberedScale } from './behavior.ts'
import type { Behavior } from './behavior.ts'
import { normalize } from './normalize.ts'
import type { Proposal } from './normalize.ts'
import { NO_HISTORY } from './scaling-history.ts'
import type { Recommendation, ScaleEvent, ScalingHistory } from './scaling-history.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const WINDOW_MS = 300_000

const proposal = (
  currentReplicas: number,
  proposedReplicas: number,
  rest: Partial<Proposal> = {},
): Proposal => ({
  currentReplicas,
  proposedReplicas,
  minReplicas: 1,
  maxReplicas: 1_000,
  nowMs: NOW_MS,
  ...rest,
})
const before = (seconds: number, replicas: number): Recommendation => ({
  replicas,
  timeMs: NOW_MS - seconds * 1_000,
})

test('Given history 10 (10 min ago), 4 (1 min ago) and proposal 2, then 4', () => {
  const { replicas, able, recommendations } = normalize(
    proposal(4, 2),
    [before(600, 10), before(60, 4)],
    WINDOW_MS,
  )
  assert.deepEqual([replicas, able.reason], [4, 'ScaleDownStabilized'])
  assert.deepEqual(recommendations, [before(0, 2), before(60, 4)])
})

test('without behavior, scale-up acts at once and is limited to the greater of double and four', () => {
  const up = (current: number, proposed: number, rest: Partial<Proposal> = {}) => {
    const { replicas, limit, able } = normalize(proposal(current, proposed, rest), [], WINDOW_MS)
    assert.equal(able.reason, 'ReadyForNewScale')
    return [replicas, limit]
  }
  assert.deepEqual(up(3, 100), [6, 'ScaleUpLimit'])
  assert.deepEqual(up(1, 100), [4, 'ScaleUpLimit'])
  assert.deepEqual(up(3, 6), [6, 'DesiredWithinRange'])
  assert.deepEqual(up(3, 100, { maxReplicas: 5 }), [5, 'TooManyReplicas'])
  assert.deepEqual(up(3, 100, { maxReplicas: 6 }), [6, 'TooManyReplicas'])
  assert.deepEqual(up(3, 1, { minReplicas: 2 }), [2, 'TooFewReplicas'])
  assert.deepEqual(up(3, 2, { minReplicas: 2 }), [2, 'DesiredWithinRange'])
})

test('an entry as old as the window still counts, one that is older is overwritten, the last of them first', () => {
  const at = (seconds: number) => normalize(proposal(9, 2), [before(seconds, 9)], WINDOW_MS)
  assert.deepEqual([at(300).replicas, at(300).recommendations.length], [9, 2])
  assert.deepEqual([at(300.001).replicas, at(300.001).recommendations.length], [2, 1])
  const { recommendations } = normalize(proposal(9, 2), [before(500, 7), before(400, 8)], WINDOW_MS)
  assert.deepEqual(recommendations, [before(500, 7), before(0, 2)])
})

const UP_DEFAULT = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const DOWN_DEFAULT = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

function behaved(
  given: Proposal,
  behavior: Behavior = {},
  history: Partial<ScalingHistory> = {},
): readonly unknown[] {
  const { replicas, limit, able } = normalizeWithBehavior(
    given,
    { ...NO_HISTORY, ...history },
    { scaleUp: UP_DEFAULT, scaleDown: DOWN_DEFAULT, ...behavior },
    WINDOW_MS,
  )
  return [replicas, limit, able.reason]
}

test('Given 3 replicas and huge demand: 6 without behavior; 700%/60 s: 24, max 20: 20.', () => {
  assert.equal(normalize(proposal(3, 500), [], WINDOW_MS).replicas, 6)
  const policies = [{ type: 'Percent', value: 700, periodSeconds: 60 }]
  const scaleUp = { ...UP_DEFAULT, policies }
  assert.deepEqual(behaved(proposal(3, 500), { scaleUp }).slice(0, 2), [24, 'ScaleUpLimit'])
  assert.deepEqual(behaved(proposal(3, 500, { maxReplicas: 20 }), { scaleUp }).slice(0, 2), [
    20,
    'TooManyReplicas',
  ])
})

test('Given 1000 replicas, 20 pods/60 s down, proposal 3, then 980 ScaleDownLimit', () => {
  const scaleDown = {
    stabilizationWindowSeconds: 0,
    policies: [{ type: 'Pods', value: 20, periodSeconds: 60 }],
  }
  assert.deepEqual(behaved(proposal(1_000, 3), { scaleDown }).slice(0, 2), [980, 'ScaleDownLimit'])
})

test('Min of 2 pods and 50% from 5: floor 3, from 1 up: 2', () => {
  const policies = [
    { type: 'Pods', value: 2, periodSeconds: 60 },
    { type: 'Percent', value: 50, periodSeconds: 60 },
  ]
  const rules = { selectPolicy: 'Min', stabilizationWindowSeconds: 0, policies }
  assert.deepEqual(behaved(proposal(5, 0), { scaleDown: rules }).slice(0, 2), [3, 'ScaleDownLimit'])
  assert.deepEqual(behaved(proposal(1, 9), { scaleUp: rules }).slice(0, 2), [2, 'ScaleUpLimit'])
  const most = { ...rules, selectPolicy: 'Max' }
  assert.deepEqual(behaved(proposal(5, 0), { scaleDown: most }).slice(0, 2), [2, 'ScaleDownLimit'])
  assert.deepEqual(behaved(proposal(1, 9), { scaleUp: most }).slice(0, 2), [3, 'ScaleUpLimit'])
})

test('Disabled keeps what there is', () => {
  const policies = [{ type: 'Pods', value: 4, periodSeconds: 15 }]
  const rules = { selectPolicy: 'Disabled', stabilizationWindowSeconds: 0, policies }
  assert.deepEqual(behaved(proposal(5, 9), { scaleUp: rules }).slice(0, 2), [5, 'ScaleUpLimit'])
  assert.deepEqual(behaved(proposal(5, 1), { scaleDown: rules }).slice(0, 2), [5, 'ScaleDownLimit'])
})

test('what a policy just allows is within range, and where policy and bound agree it is the bound that limits', () => {
  const policies = [{ type: 'Pods', value: 4, periodSeconds: 60 }]
  const rules = { stabilizationWindowSeconds: 0, policies }
  const up = (proposed: number, maxReplicas: number) =>
    behaved(proposal(10, proposed, { maxReplicas }), { scaleUp: rules }).slice(0, 2)
  const down = (proposed: number, minReplicas: number) =>
    behaved(proposal(10, proposed, { minReplicas }), { scaleDown: rules }).slice(0, 2)
  assert.deepEqual(up(14, 99), [14, 'DesiredWithinRange'])
  assert.deepEqual(up(15, 99), [14, 'ScaleUpLimit'])
  assert.deepEqual(up(15, 14), [14, 'TooManyReplicas'])
  assert.deepEqual(down(6, 1), [6, 'DesiredWithinRange'])
  assert.deepEqual(down(5, 1), [6, 'ScaleDownLimit'])
  assert.deepEqual(down(5, 6), [6, 'TooFewReplicas'])
})

test('with behavior an entry is overwritten when it is older than the longer of both windows', () => {
  const scaleUp = { ...UP_DEFAULT, stabilizationWindowSeconds: 60 }
  const kept = (seconds: number, scaleDown: Behavior['scaleDown'] = DOWN_DEFAULT) =>
    normalizeWithBehavior(
      proposal(5, 5),
      { ...NO_HISTORY, recommendations: [before(seconds, 7)] },
      { scaleUp, scaleDown },
      WINDOW_MS,
    ).recommendations.length
  assert.deepEqual([kept(59), kept(61), kept(300), kept(300.001)], [2, 2, 2, 1])
  const short = { ...DOWN_DEFAULT, stabilizationWindowSeconds: 10 }
  assert.deepEqual([kept(11, short), kept(60, short), kept(60.001, short)], [2, 2, 1])
})

const event = (seconds: number, change: number): ScaleEvent => ({
  change,
  timeMs: NOW_MS - seconds * 1_000,
})

test('policies count from what there was at the start of their period: small steps do not add up beyond them', () => {
  const policies = [{ type: 'Pods', value: 4, periodSeconds: 60 }]
  const scaleUp = { ...UP_DEFAULT, policies }
  const limitWith = (history: Partial<ScalingHistory>) =>
    behaved(proposal(10, 99), { scaleUp }, history)[0]
  assert.equal(limitWith({}), 14)
  assert.equal(limitWith({ scaledUp: [event(59, 3)] }), 11)
  assert.equal(limitWith({ scaledUp: [event(60, 3)] }), 14)
  assert.equal(limitWith({ scaledUp: [event(1, 9)] }), 10)
  assert.equal(limitWith({ scaledUp: [event(59, 3)], scaledDown: [event(10, 2)] }), 13)
  const scaleDown = { stabilizationWindowSeconds: 0, policies }
  const downWith = (history: Partial<ScalingHistory>) =>
    behaved(proposal(10, 1), { scaleDown }, history)[0]
  assert.equal(downWith({}), 6)
  assert.equal(downWith({ scaledDown: [event(5, 3)] }), 9)
  assert.equal(downWith({ scaledUp: [event(5, 2)] }), 4)
  assert.equal(downWith({ scaledDown: [event(5, 9)] }), 10)
})

test('percent scale-up rounds up, percent scale-down truncates', () => {
  const policies = [{ type: 'Percent', value: 10, periodSeconds: 60 }]
  const rules = { stabilizationWindowSeconds: 0, policies }
  assert.equal(behaved(proposal(5, 99), { scaleUp: rules })[0], 6)
  assert.equal(behaved(proposal(5, 1), { scaleDown: rules })[0], 4)
  const half = { ...rules, policies: [{ type: 'Percent', value: 50, periodSeconds: 60 }] }
  const huge = { minReplicas: 1, maxReplicas: 9_000 }
  assert.equal(behaved({ ...proposal(1_000, 9_000), ...huge }, { scaleUp: half })[0], 1_500)
  assert.equal(behaved({ ...proposal(1_000, 1), ...huge }, { scaleDown: half })[0], 500)
})

test('windows keep the lowest of what was asked for on the way up, the highest on the way down', () => {
  const scaleUp = { ...UP_DEFAULT, stabilizationWindowSeconds: 60 }
  const scaleDown = { ...DOWN_DEFAULT, stabilizationWindowSeconds: 120 }
  const both = { scaleUp, scaleDown }
  const recommendations = [before(150, 1), before(90, 9), before(30, 7)]
  const known = { recommendations }
  assert.deepEqual(behaved(proposal(5, 8), both, known), [
    7,
    'DesiredWithinRange',
    'ScaleUpStabilized',
  ])
  assert.deepEqual(behaved(proposal(10, 2), both, known), [
    9,
    'DesiredWithinRange',
    'ScaleDownStabilized',
  ])
  assert.deepEqual(behaved(proposal(8, 2), both, known), [
    8,
    'DesiredWithinRange',
    'ScaleDownStabilized',
  ])
  assert.deepEqual(behaved(proposal(5, 6), both, known), [
    6,
    'DesiredWithinRange',
    'ReadyForNewScale',
  ])
  const none = { recommendations: [] }
  assert.deepEqual(behaved(proposal(5, 8), both, none), [
    8,
    'DesiredWithinRange',
    'ReadyForNewScale',
  ])
})

test('without a window of its own, scale-down has the one of the flag', () => {
  const known = (seconds: number) => ({ recommendations: [before(seconds, 9)] })
  assert.equal(behaved(proposal(9, 2), {}, known(299))[0], 9)
  assert.equal(behaved(proposal(9, 2), {}, known(300))[0], 2)
})

test('what is allowed stays between the least and the most', () => {
  assert.deepEqual(behaved(proposal(3, 9, { maxReplicas: 5 })).slice(0, 2), [5, 'TooManyReplicas'])
  assert.deepEqual(behaved(proposal(5, 1, { minReplicas: 2 })).slice(0, 2), [2, 'TooFewReplicas'])
  assert.deepEqual(behaved(proposal(5, 5)).slice(0, 2), [5, 'DesiredWithinRange'])
})

test('a rescale is remembered in its direction, in the place of one that no policy looks back to', () => {
  const behavior = { scaleUp: UP_DEFAULT, scaleDown: DOWN_DEFAULT }
  const history = { ...NO_HISTORY, scaledUp: [event(16, 5)], scaledDown: [event(15, 5)] }
  const up = rememberedScale(history, behavior, 3, 7, NOW_MS)
  assert.deepEqual(up.scaledUp, [event(0, 4)])
  assert.deepEqual(up.scaledDown, history.scaledDown)
  const down = rememberedScale(history, behavior, 7, 3, NOW_MS)
  assert.deepEqual(down.scaledDown, [event(15, 5), event(0, 4)])
})

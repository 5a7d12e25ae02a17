import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reconcile } from '@gyropilot/runtime'
import type { ReplicaSet } from '@gyropilot/api'
import { refused, secondsAgo } from '../workload-support/fixtures.ts'
import { deployment, outcome, owned, rollout } from './fixtures.ts'
import { cleanUpHistory } from './history.ts'

const web = deployment({ spec: { revisionHistoryLimit: 1 } })
const idle = (name: string, revision: string, ageSeconds = 100) =>
  owned(web, { name, revision, ageSeconds })

function cleaned(old: readonly ReplicaSet[], of = web, options = {}) {
  function* rules(): Reconcile {
    return (yield* cleanUpHistory(rollout(of, undefined, ...old))) ?? {}
  }
  return outcome(rules(), options)
}

test('Given limit 1 and three idle old RSs, when cleaning, then 2 deleted; the lowest revisions', () => {
  assert.deepEqual(cleaned([idle('c', '3'), idle('a', '1'), idle('b', '2')]).deleted, ['a', 'b'])
})

test('busy ones stay', () => {
  const busy = [
    owned(web, { name: 'a', revision: '1', replicas: 1 }),
    owned(web, { name: 'b', revision: '2', status: { replicas: 1, observedGeneration: 1 } }),
    owned(web, { name: 'c', revision: '3', status: { replicas: 0 } }),
  ]
  assert.deepEqual(cleaned(busy, deployment({ spec: { revisionHistoryLimit: 0 } })).deleted, [])
})

test('one that is asked for pods and has none yet is in use', () => {
  const wanted = owned(web, {
    name: 'a',
    revision: '1',
    replicas: 1,
    status: { replicas: 0, observedGeneration: 1 },
  })
  assert.deepEqual(cleaned([wanted], deployment({ spec: { revisionHistoryLimit: 0 } })).deleted, [])
})

test('fewer than the limit stay', () => {
  const old = ['1', '2', '3'].map((revision) => idle(`rs${revision}`, revision))
  assert.deepEqual(cleaned(old, deployment({ spec: { revisionHistoryLimit: 5 } })).deleted, [])
})

test('revisions decide before age and name', () => {
  assert.deepEqual(cleaned([idle('a', '2', 20), idle('b', '1', 10)]).deleted, ['b'])
  assert.deepEqual(cleaned([idle('b', '1', 10), idle('a', '2', 20)]).deleted, ['b'])
})

test('skipped ones still use up a slot', () => {
  const old = [
    owned(web, { name: 'a', revision: '1', replicas: 1 }),
    idle('b', '2'),
    idle('c', '3'),
  ]
  assert.deepEqual(cleaned(old).deleted, ['b'])
})

test('those being deleted are no candidates', () => {
  const going = idle('a', '1')
  const deleting = { ...going, metadata: { ...going.metadata, deletionTimestamp: secondsAgo(1) } }
  assert.deepEqual(cleaned([deleting, idle('b', '2')]).deleted, [])
})

test('ties and unparsable revisions go by creation time, then name', () => {
  assert.deepEqual(cleaned([idle('a', 'x', 10), idle('b', 'x', 20)]).deleted, ['b'])
  assert.deepEqual(cleaned([idle('b', '1'), idle('a', '1')]).deleted, ['a'])
  for (const pair of [
    [idle('a', '5', 20), idle('b', 'x', 10)],
    [idle('a', 'x', 20), idle('b', '5', 10)],
  ]) {
    assert.deepEqual(cleaned(pair).deleted, ['a'])
    assert.deepEqual(cleaned(pair.toReversed()).deleted, ['a'])
  }
})

test('MaxInt32 deletes none, and so does no limit; limit 0 deletes all', () => {
  const old = [idle('a', '1'), idle('b', '2')]
  assert.deepEqual(
    cleaned(old, deployment({ spec: { revisionHistoryLimit: 2_147_483_647 } })).deleted,
    [],
  )
  assert.deepEqual(
    cleaned(old, deployment({ spec: { revisionHistoryLimit: undefined } })).deleted,
    [],
  )
  assert.deepEqual(cleaned(old, deployment({ spec: { revisionHistoryLimit: 0 } })).deleted, [
    'a',
    'b',
  ])
})

test('404 ignored; other error stops', () => {
  const old = [idle('a', '1'), idle('b', '2'), idle('c', '3')]
  const gone = cleaned(old, web, { onWrite: () => refused(404, 'NotFound') })
  assert.deepEqual([gone.deleted, gone.verdict.error], [['a', 'b'], undefined])
  const failing = cleaned(old, web, { onWrite: () => refused(500, 'InternalError', 'broken') })
  assert.deepEqual(failing.deleted, ['a'])
  assert.equal((failing.verdict.error as Error).message, 'broken')
})

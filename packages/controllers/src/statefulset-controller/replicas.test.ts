import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { NOW_MS } from '../workload-support/fixtures.ts'
import { setPod, statefulSet } from './fixtures.ts'
import {
  arrange,
  firstUnavailable,
  isCreated,
  isRunningAndReady,
  isUnavailable,
} from './replicas.ts'

const set = statefulSet({ replicas: 2, spec: { ordinals: { start: 1 } } })
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata?.name)
const missing = (ordinal: number): Pod => ({ metadata: { name: `missing-${ordinal}` } })
const first = (pods: readonly Pod[], minReadySeconds = 0) =>
  firstUnavailable(
    arrange(set, pods, (ordinal) => setPod(set, ordinal)),
    minReadySeconds,
    NOW_MS,
  )?.metadata?.name

test('pods stand at ordinal - start, gaps are filled, others are condemned from the highest, and odd names have no place', () => {
  const pods = [setPod(set, 0), setPod(set, 3), setPod(set, 2), setPod(set, 11), setPod(set, 4)]
  const odd = { ...setPod(set, 1), metadata: { name: 'db-99999999999' } }
  const { inRange, condemned } = arrange(set, [...pods, odd], missing)
  assert.deepEqual(names(inRange), ['missing-1', 'db-2'])
  assert.deepEqual(names(condemned), ['db-11', 'db-4', 'db-3', 'db-0'])
  assert.deepEqual(names(arrange(statefulSet({ replicas: 0 }), [], missing).inRange), [])
})

test('a pod is created when it has a phase', () => {
  assert.ok(isCreated(setPod(set, 1, { phase: 'Pending' })))
  assert.ok(!isCreated({ status: { phase: '' as never } }))
  assert.ok(!isCreated({}))
})

test('running and ready are both asked for', () => {
  assert.ok(isRunningAndReady(setPod(set, 1)))
  assert.ok(!isRunningAndReady(setPod(set, 1, { readySeconds: null })))
  const running = setPod(set, 1)
  assert.ok(!isRunningAndReady({ ...running, status: { ...running.status, phase: 'Pending' } }))
})

test('Availability of a pod needs Ready only; the Running phase is checked separately', () => {
  const running = setPod(set, 1)
  const ready: Pod = { ...running, status: { ...running.status, phase: 'Pending' } }
  assert.ok(!isUnavailable(ready, 0, NOW_MS))
  assert.ok(isUnavailable(setPod(set, 1, { readySeconds: null }), 0, NOW_MS))
  assert.ok(isUnavailable(setPod(set, 1, { deleting: true }), 0, NOW_MS))
  assert.ok(isUnavailable(setPod(set, 1, { readySeconds: 29 }), 30, NOW_MS))
  assert.ok(!isUnavailable(setPod(set, 1, { readySeconds: 30 }), 30, NOW_MS))
})

test('the first unavailable is the lowest in range, else the lowest of the condemned', () => {
  const out = { readySeconds: null }
  assert.equal(first([setPod(set, 1), setPod(set, 2, out), setPod(set, 7, out)]), 'db-2')
  assert.equal(first([setPod(set, 0, out), setPod(set, 1, out), setPod(set, 2, out)]), 'db-1')
  assert.equal(first([setPod(set, 5), setPod(set, 6, out), setPod(set, 7, out)]), 'db-6')
  assert.equal(first([setPod(set, 5)]), undefined)
  assert.equal(first([setPod(set, 1, { readySeconds: 5 })], 10), 'db-1')
})

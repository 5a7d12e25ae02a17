import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { EventRecord } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { NOW_MS, pod, secondsAgo } from '../workload-support/fixtures.ts'
import { budget } from './fixtures.ts'
import { budgetWatch, podWatch, stalePodWatch } from './watches.ts'

function watching(...budgets: readonly PodDisruptionBudget[]) {
  const recorded: EventRecord[] = []
  const { lister } = fakeInformers(budgets).informer(resources.poddisruptionbudgets)
  return { recorded, watch: podWatch(lister, (event) => recorded.push(event)) }
}

test('a budget is queued for every add, update and delete', () => {
  assert.deepEqual([...budgetWatch.onAdd!(budget())], ['ns/b'])
  assert.deepEqual([...budgetWatch.onUpdate!(budget(), budget())], ['ns/b'])
  assert.deepEqual([...budgetWatch.onDelete!(budget())], ['ns/b'])
  const tombstone = new DeletedFinalStateUnknown<PodDisruptionBudget>('ns/b', undefined)
  assert.deepEqual([...budgetWatch.onDelete!(tombstone)], ['ns/b'])
})

test('a pod concerns the budget that selects it, by its labels of now', () => {
  const other = budget({ name: 'other', spec: { selector: { matchLabels: { app: 'b' } } } })
  const { watch, recorded } = watching(budget(), other)
  assert.deepEqual([...watch.onAdd!(pod())], ['ns/b'])
  assert.deepEqual([...watch.onUpdate!(pod(), pod())], ['ns/b'])
  assert.deepEqual([...watch.onUpdate!(pod(), pod({ labels: { app: 'b' } }))], ['ns/other'])
  assert.deepEqual([...watch.onUpdate!(pod(), pod({ labels: { app: 'z' } }))], [])
  assert.deepEqual([...watch.onDelete!(pod())], ['ns/b'])
  assert.deepEqual([...watch.onDelete!(new DeletedFinalStateUnknown<Pod>('ns/pod', undefined))], [])
  assert.deepEqual(recorded, [])
})

test('an empty selector selects all, none and one that cannot be understood nobody', () => {
  const unlabelled = pod({ labels: {} })
  const selecting = (selector: object | undefined) =>
    watching(budget({ spec: { selector: selector as never } })).watch.onAdd!(unlabelled)
  assert.deepEqual([...selecting({})], ['ns/b'])
  assert.deepEqual([...selecting(undefined)], [])
  assert.deepEqual([...selecting({ matchExpressions: [{ key: 'a', operator: 'Nonsense' }] })], [])
})

test('Given pods without labels and a DoesNotExist selector, then they are matched', () => {
  const selector = { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] }
  const { watch } = watching(budget({ spec: { selector } }))
  const { labels: _, ...metadata } = pod().metadata!
  assert.deepEqual([...watch.onAdd!({ ...pod(), metadata })], ['ns/b'])
})

test('of several budgets each is looked at, and the pod is told the first by name', () => {
  const { watch, recorded } = watching(budget({ name: 'z' }), budget({ name: 'a' }))
  assert.deepEqual([...watch.onAdd!(pod())], ['ns/a', 'ns/z'])
  assert.deepEqual(
    recorded.map(({ regarding, ...rest }) => ({ ...rest, name: regarding.metadata?.name })),
    [
      {
        name: 'pod',
        type: 'Warning',
        reason: 'MultiplePodDisruptionBudgets',
        message: 'Pod "ns"/"pod" matches multiple PodDisruptionBudgets.  Chose "a" arbitrarily.',
      },
    ],
  )
})

test('a pod whose disruption was announced is looked at when that is stale', () => {
  const watch = stalePodWatch(() => NOW_MS)
  const announced = {
    ...pod(),
    status: {
      conditions: [
        { type: 'DisruptionTarget', status: 'True', lastTransitionTime: secondsAgo(30) } as const,
      ],
    },
  }
  const later = [{ key: 'ns/pod', afterMs: 90_000 }]
  assert.deepEqual([...watch.onAdd!(announced)], later)
  assert.deepEqual([...watch.onUpdate!(pod(), announced)], later)
  assert.deepEqual([...watch.onUpdate!(announced, pod())], [])
})

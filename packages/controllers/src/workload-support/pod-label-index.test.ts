import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelQueryOf, resources } from '@gyropilot/api'
import type { LabelSelector, Pod } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod } from './fixtures.ts'
import { addPodLabelIndex, podLabelIndexValues, podsMatching } from './pod-label-index.ts'

const labelled = (name: string, labels: Record<string, string>, namespace = 'ns') => {
  const base = pod({ name })
  return { ...base, metadata: { ...base.metadata, labels, namespace } }
}

function cache() {
  const informers = fakeInformers([
    labelled('a1', { app: 'a', tier: 'web' }),
    labelled('a2', { app: 'a', tier: 'db' }),
    labelled('b1', { app: 'b', tier: 'web' }),
    labelled('none', {}),
    labelled('elsewhere', { app: 'a', tier: 'web' }, 'other'),
  ])
  const pods = informers.informer(resources.pods)
  addPodLabelIndex(pods)
  const matching = (selector: LabelSelector): readonly string[] =>
    podsMatching(pods.lister, 'ns', labelQueryOf(selector))
      .map(({ metadata }) => metadata?.name ?? '')
      .toSorted()
  return { informers, pods, matching }
}

const cases: readonly (readonly [string, LabelSelector, readonly string[]])[] = [
  ['one label', { matchLabels: { app: 'a' } }, ['a1', 'a2']],
  ['two labels', { matchLabels: { app: 'a', tier: 'web' } }, ['a1']],
  ['a label that nobody has', { matchLabels: { app: 'c' } }, []],
  ['everything', {}, ['a1', 'a2', 'b1', 'none']],
  [
    'one value of a set',
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['b'] }] },
    ['b1'],
  ],
  [
    'several values of a set',
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
    ['a1', 'a2', 'b1'],
  ],
  ['no label', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, ['none']],
  [
    'not this value, and a label',
    {
      matchLabels: { tier: 'web' },
      matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }],
    },
    ['b1'],
  ],
]

for (const [what, selector, names] of cases) {
  test(`pods of the namespace by ${what}`, () =>
    assert.deepEqual(cache().matching(selector), names))
}

test('a pod is found by the labels that it has now', () => {
  const { informers, matching } = cache()
  informers.apply(resources.pods, labelled('a1', { app: 'b' }))
  assert.deepEqual(matching({ matchLabels: { app: 'a' } }), ['a2'])
  assert.deepEqual(matching({ matchLabels: { app: 'b' } }), ['a1', 'b1'])
  informers.remove(resources.pods, labelled('a1', { app: 'b' }))
  assert.deepEqual(matching({ matchLabels: { app: 'b' } }), ['b1'])
})

/** Tells which values of the index were looked up. */
function watched(of: Lister<Pod>) {
  const looked: string[] = []
  const lister: Lister<Pod> = {
    get: of.get.bind(of),
    getByKey: of.getByKey.bind(of),
    list: of.list.bind(of),
    count: of.count.bind(of),
    byIndex(index: string, value: string) {
      looked.push(value)
      return of.byIndex(index, value)
    },
  }
  return { looked, lister }
}

test('a pod is in the index by each of its labels', () => {
  assert.deepEqual(podLabelIndexValues(labelled('x', { app: 'a', tier: 'web' })), [
    'ns/app=a',
    'ns/tier=web',
  ])
  assert.deepEqual(podLabelIndexValues(labelled('x', {})), [])
})

test('a set of one value is looked up, one of several is not', () => {
  const { pods } = cache()
  const { looked, lister } = watched(pods.lister)
  for (const values of [['b'], ['a', 'b']]) {
    const expression = { key: 'app', operator: 'In', values }
    podsMatching(lister, 'ns', labelQueryOf({ matchExpressions: [expression] }))
  }
  assert.deepEqual(looked, ['ns/app=b'])
})

test('the rarest label of a selector is looked up, and another one when that has become common', () => {
  const { informers, pods } = cache()
  const query = labelQueryOf({ matchLabels: { app: 'a', tier: 'web' } })
  const { looked, lister } = watched(pods.lister)
  for (let index = 0; index < 3; index++)
    informers.apply(resources.pods, labelled(`w${index}`, { tier: 'web' }))
  podsMatching(lister, 'ns', query)
  podsMatching(lister, 'ns', query)
  assert.deepEqual(looked, ['ns/app=a', 'ns/tier=web', 'ns/app=a'])
  // Of the two there were twice as many and 64 are tolerated.
  for (let index = 0; index < 66; index++)
    informers.apply(resources.pods, labelled(`x${index}`, { app: 'a' }))
  looked.length = 0
  podsMatching(lister, 'ns', query)
  assert.deepEqual(looked, ['ns/app=a'])
  informers.apply(resources.pods, labelled('x66', { app: 'a' }))
  looked.length = 0
  podsMatching(lister, 'ns', query)
  podsMatching(lister, 'ns', query)
  assert.deepEqual(looked, ['ns/app=a', 'ns/app=a', 'ns/tier=web', 'ns/tier=web'])
})

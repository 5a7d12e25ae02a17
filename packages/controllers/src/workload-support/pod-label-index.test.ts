import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelQueryOf, resources } from '@gyropilot/api'
import type { LabelSelector } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { pod } from './fixtures.ts'
import { addPodLabelIndex, podsMatching } from './pod-label-index.ts'

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

test('the rarest label of a selector is looked up, and another one when that has become common', () => {
  const { informers, pods } = cache()
  const query = labelQueryOf({ matchLabels: { app: 'a', tier: 'web' } })
  const looked: string[] = []
  const lister = {
    get: pods.lister.get.bind(pods.lister),
    getByKey: pods.lister.getByKey.bind(pods.lister),
    list: pods.lister.list.bind(pods.lister),
    byIndex(index: string, value: string) {
      looked.push(value)
      return pods.lister.byIndex(index, value)
    },
  }
  for (let index = 0; index < 3; index++)
    informers.apply(resources.pods, labelled(`w${index}`, { tier: 'web' }))
  podsMatching(lister, 'ns', query)
  podsMatching(lister, 'ns', query)
  assert.deepEqual(looked, ['ns/app=a', 'ns/tier=web', 'ns/app=a'])
  for (let index = 0; index < 100; index++)
    informers.apply(resources.pods, labelled(`x${index}`, { app: 'a' }))
  looked.length = 0
  podsMatching(lister, 'ns', query)
  podsMatching(lister, 'ns', query)
  assert.deepEqual(looked, ['ns/app=a', 'ns/app=a', 'ns/tier=web', 'ns/tier=web'])
})

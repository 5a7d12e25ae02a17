import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, ObjectMeta } from '@gyropilot/api'
import {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  matchingLabels,
  not,
  or,
  resourceVersionChanged,
  where,
} from './predicates.ts'
import type { Predicate } from './predicates.ts'

const object = (metadata: ObjectMeta): KubernetesObject => ({ metadata })
const passes = (predicate: Predicate, before: ObjectMeta, after: ObjectMeta): boolean =>
  predicate.update?.(object(before), object(after)) ?? true

const UPDATES: readonly (readonly [string, Predicate, ObjectMeta, ObjectMeta, boolean])[] = [
  ['a resync', resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '1' }, false],
  ['a change', resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '2' }, true],
  ['the same generation', generationChanged, { generation: 1 }, { generation: 1 }, false],
  ['another generation', generationChanged, { generation: 1 }, { generation: 2 }, true],
  ['no generation', generationChanged, { labels: {} }, { labels: { a: 'b' } }, false],
  ['the same labels', labelsChanged, { labels: { a: '1' } }, { labels: { a: '1' } }, false],
  ['another label', labelsChanged, { labels: { a: '1' } }, { labels: { a: '2' } }, true],
  ['no labels at last', labelsChanged, { labels: { a: '1' } }, {}, true],
  ['annotations only', labelsChanged, {}, { annotations: { a: '1' } }, false],
  ['an annotation', annotationsChanged, {}, { annotations: { a: '1' } }, true],
  ['no annotation', annotationsChanged, { annotations: {} }, {}, false],
  ['labels of the new object', matchingLabels('a=1'), {}, { labels: { a: '1' } }, true],
  ['labels of the old object', matchingLabels('a=1'), { labels: { a: '1' } }, {}, false],
]

for (const [what, predicate, before, after, expected] of UPDATES) {
  test(`update predicates: ${what} ${expected ? 'passes' : 'is dropped'}`, () => {
    assert.equal(passes(predicate, before, after), expected)
  })
}

test('predicates of changes have nothing against creations and deletions; a selector applies to them too', () => {
  for (const predicate of [resourceVersionChanged, generationChanged, labelsChanged]) {
    assert.equal(predicate.create, undefined)
    assert.equal(predicate.delete, undefined)
  }
  const selected = matchingLabels({ matchLabels: { a: '1' } })
  assert.equal(selected.create?.(object({ labels: { a: '1' } })), true)
  assert.equal(selected.create?.(object({})), false)
  assert.equal(selected.delete?.(object({})), false)
  assert.equal(selected.generic?.(object({ labels: { a: '1' } })), true)
})

test('and, or, not: a missing function passes', () => {
  const yes = where(() => true)
  const no = where(() => false)
  const combinations: readonly (readonly [Predicate, boolean])[] = [
    [and(yes, yes), true],
    [and(yes, no), false],
    [and(yes, generationChanged), true],
    [or(no, yes), true],
    [or(no, no), false],
    [or(no, generationChanged), true],
    [not(no), true],
    [not(yes), false],
    [not(generationChanged), false],
  ]
  for (const [predicate, expected] of combinations) {
    assert.equal(predicate.create?.(object({})), expected)
    assert.equal(predicate.delete?.(object({})), expected)
    assert.equal(predicate.generic?.(object({})), expected)
  }
  assert.equal(passes(not(generationChanged), { generation: 1 }, { generation: 1 }), true)
  assert.equal(passes(or(no, labelsChanged), {}, { labels: { a: '1' } }), true)
  assert.equal(passes(and(yes, labelsChanged), {}, {}), false)
})

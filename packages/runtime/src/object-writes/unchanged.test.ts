import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnchanged } from './unchanged.ts'

const CASES: readonly [what: string, before: object, after: object, same: boolean][] = [
  ['nothing and null', { a: null }, {}, true],
  ['nothing and no items', { items: [] }, {}, true],
  ['nothing and no labels', { metadata: { labels: {} } }, { metadata: {} }, true],
  ['an empty template', { template: { metadata: { labels: {} } } }, { template: {} }, true],
  ['what servers write out', { containers: [{ resources: {} }] }, { containers: [{}] }, true],
  ['a selector of all', { from: [{ namespaceSelector: {} }] }, { from: [{}] }, false],
  ['a status of its own', { subresources: { status: {} } }, {}, false],
  [
    'one beside a scale',
    { subresources: { status: {}, scale: {} } },
    { subresources: { scale: {} } },
    false,
  ],
  ['an empty status', { status: {} }, {}, true],
  ['an empty volume', { volumes: [{ emptyDir: {} }] }, { volumes: [{}] }, false],
  ['other labels', { labels: { a: 'b' } }, { labels: {} }, false],
  ['other items', { items: [1, 2] }, { items: [2, 1] }, false],
  ['an item and a field', { items: [1] }, { items: { 0: 1 } }, false],
  ['a name of every object', {}, JSON.parse('{"constructor": {"a": 1}}') as object, false],
]

test('empty maps are as good as none, empty objects that say something are not', () => {
  for (const [what, before, after, same] of CASES) {
    assert.equal(isUnchanged(before, after), same, what)
    assert.equal(isUnchanged(after, before), same, `${what}, the other way round`)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJsonPatch } from './create-json-patch.ts'
import { applyJsonPatch } from './json-patch.ts'

const before = {
  kind: 'Shop',
  metadata: { name: 'a', labels: { 'a/b': '1', 'c~d': '2' } },
  spec: { ports: [1, 2], note: null, gone: 'x', text: 'x' },
}

for (const [what, after, paths] of [
  ['nothing', before, []],
  ['a copy', structuredClone(before), []],
  ['a field added', { ...before, status: { ready: true } }, ['add /status']],
  [
    'names with the separators of a path',
    { ...before, metadata: { name: 'a', labels: { 'c~d': '3', 'e/f': '4' } } },
    ['remove /metadata/labels/a~1b', 'replace /metadata/labels/c~0d', 'add /metadata/labels/e~1f'],
  ],
  [
    'a list, and what changes its type',
    { ...before, spec: { ports: [2], note: {}, text: ['x'] } },
    ['remove /spec/gone', 'replace /spec/ports', 'replace /spec/note', 'replace /spec/text'],
  ],
  ['an undefined field', { ...before, spec: undefined }, ['remove /spec']],
  [
    'a field of any name',
    JSON.parse('{"__proto__":{"x":1}}'),
    ['remove /kind', 'remove /metadata', 'remove /spec', 'add /__proto__'],
  ],
] as [string, object, string[]][]) {
  test(`a JSON patch makes of an object: ${what}`, () => {
    const patch = createJsonPatch(before, after)
    assert.deepEqual(
      patch.map(({ op, path }) => `${op} ${path}`),
      paths,
    )
    assert.equal(
      JSON.stringify(sorted(applyJsonPatch(before, patch))),
      JSON.stringify(sorted(after)),
    )
  })
}

/** By their keys, without those that have no value. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, sorted(part)])
}

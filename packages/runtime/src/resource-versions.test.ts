import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareResourceVersions, isResourceVersion } from './resource-versions.ts'

const ordered = ['1', '9', '10', '99', '100', '18446744073709551616']

test('versions are ordered as numbers, whatever their length', () => {
  for (const [i, a] of ordered.entries())
    for (const [j, b] of ordered.entries())
      assert.equal(Math.sign(compareResourceVersions(a, b)), Math.sign(i - j), `${a} ${b}`)
})

test('a version is a whole number above zero', () => {
  for (const text of ordered) assert.ok(isResourceVersion(text))
  for (const text of [undefined, '', '0', '01', '-1', '1.5', 'x', '1 '])
    assert.ok(!isResourceVersion(text), String(text))
})

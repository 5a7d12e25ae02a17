import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePattern } from './patterns.ts'

test('patterns match as RE2 matches them', () => {
  const cases: readonly [pattern: string, matching: string, other: string][] = [
    ['^a+$', 'aa', 'b'],
    ['^(?i)(abort|warn)?$', 'ABORT', 'x'],
    ['^((?i)january|may|[1-9])x$', 'MAYx', 'MAYX'],
    ['(?P<year>\\d{4})', '2026', 'x'],
    ['^[[:alpha:]_-]+$', 'a_-', '1'],
    ['\\Aab\\z', 'ab', 'abc'],
    ['^[]a]$', ']', 'b'],
    ['^[^:/[]+$', 'ab', 'a[b'],
    ['^/[a-z]+$', '/a', 'a'],
    ['^a\\-b$', 'a-b', 'ab'],
  ]
  for (const [pattern, matching, other] of cases) {
    const compiled = compilePattern(pattern)
    assert.ok(compiled, pattern)
    assert.equal(compiled.test(matching), true, pattern)
    assert.equal(compiled.test(other), false, pattern)
  }
})

test('what RE2 refuses does not compile', () => {
  for (const pattern of ['(', ')', '[a', '(?=a)', '(?<!a)', '(a)\\1', 'a{2,1}'])
    assert.equal(compilePattern(pattern), undefined, pattern)
})

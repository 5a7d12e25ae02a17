import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isKnownFormat, matchesFormat } from './formats.ts'

/** Values of fields of each format, most of them good ones with a character or two changed, as kube-apiserver 1.36.2 judged them. */
const judged = JSON.parse(
  readFileSync(new URL('judged-formats.json', import.meta.url), 'utf8'),
) as Record<string, { readonly valid: readonly string[]; readonly invalid: readonly string[] }>

test('a duration of nothing but digits, which is none, is read once', () => {
  assert.ok(!matchesFormat('duration', '1'.repeat(1_000_000)))
})

test('a type that is none knows no format, however it is called', () => {
  for (const type of ['__proto__', 'constructor', 'x'])
    assert.equal(isKnownFormat('date', type), false, type)
})

for (const [format, { valid, invalid }] of Object.entries(judged)) {
  test(`${format}: ${valid.length} values that fit and ${invalid.length} that do not`, () => {
    for (const text of valid) assert.ok(matchesFormat(format, text), JSON.stringify(text))
    for (const text of invalid) assert.ok(!matchesFormat(format, text), JSON.stringify(text))
  })
}

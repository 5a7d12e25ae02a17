import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withValues } from './variable-references.ts'

for (const [text, expected] of [
  ['$(A)-$(A)', 'one-one'],
  ['$(NONE) $() $(A', '$(NONE) $() $(A'],
  ['$$(A) $$$(A) $$$$(A)', '$(A) $one $$(A)'],
  ['pa$$word; kill $$; $$$$', 'pa$word; kill $; $$'],
  // Neither a shell's variable nor a lone sign.
  ['$A ${A} $', '$A ${A} $'],
  // A value is not read again.
  ['$(B)', '$(A)$$'],
] as const)
  test(`references of ${text}`, () => {
    const values: Readonly<Record<string, string>> = { A: 'one', B: '$(A)$$' }
    assert.equal(
      withValues(text, (name) => values[name]),
      expected,
    )
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerOfText, textOfHeader } from './header-text.ts'

test('what headers say goes as the bytes of UTF-8, and comes back', () => {
  const rows: readonly (readonly [text: string, header: string])[] = [
    ['alice', 'alice'],
    ['jörg', 'jÃ¶rg'],
    ['王', '\u00e7\u008e\u008b'],
    ['\ufeffx', '\u00ef\u00bb\u00bfx'],
    ['', ''],
  ]
  for (const [text, header] of rows) {
    assert.equal(headerOfText(text), header)
    assert.equal(textOfHeader(header), text)
  }
})

test('bytes that are no UTF-8 are left as they are', () => {
  assert.equal(textOfHeader('j\u00f6rg'), 'j\u00f6rg')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goQuote, goUnquote } from './go-quote.ts'

const QUOTED: readonly (readonly [text: string, quoted: string])[] = [
  ['a b', '"a b"'],
  ['"\\', String.raw`"\"\\"`],
  ['\x07\b\f\n\r\t\v', String.raw`"\a\b\f\n\r\t\v"`],
  ['\x00\x7f', String.raw`"\x00\x7f"`],
  ['\u0080\u00a0\u2028\ufeff', String.raw`"\u0080\u00a0\u2028\ufeff"`],
  ['é😀', '"é😀"'],
  ['\u{e0001}', String.raw`"\U000e0001"`],
]

for (const [text, quoted] of QUOTED)
  test(`${quoted} is how Go quotes a text, and what it is read as`, () => {
    assert.equal(goQuote(text), quoted)
    assert.equal(goUnquote(quoted), text)
  })

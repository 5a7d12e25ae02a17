import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goJsonError } from './go-json-error.ts'

const JSON_ERRORS: readonly (readonly [text: string, message: string])[] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['[1 2]', "invalid character '2' after array element"],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['-', "invalid character ' ' in numeric literal"],
  ['1.', "invalid character ' ' after decimal point in numeric literal"],
  ['1e+', "invalid character ' ' in exponent of numeric literal"],
  ['"\\', "invalid character ' ' in string escape code"],
  ['"\\u1', "invalid character ' ' in \\u hexadecimal character escape"],
  ['"a', 'unexpected end of JSON input'],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['{}x', "invalid character 'x' after top-level value"],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['\x07', "invalid character '\\a' looking for beginning of value"],
  ['\x7f', "invalid character '\\x7f' looking for beginning of value"],
  ['['.repeat(1_000), 'unexpected end of JSON input'],
  ['['.repeat(100_000), 'exceeded max depth'],
  ['{"a":'.repeat(100_000), 'exceeded max depth'],
  ['ü', "invalid character 'Ã' looking for beginning of value"],
]
for (const [text, message] of JSON_ERRORS) {
  test(`JSON ${JSON.stringify(text.slice(0, 20))}: ${message}`, () =>
    assert.equal(goJsonError(text), message))
}

const BYTES: readonly (readonly [byte: number, quoted: string])[] = [
  [0x80, '\\u0080'],
  [0xa0, '\\u00a0'],
  [0xad, '\\u00ad'],
  [0xff, 'ÿ'],
]
for (const [byte, quoted] of BYTES) {
  test(`the lone byte ${byte.toString(16)} is told as '${quoted}'`, () =>
    assert.equal(
      goJsonError(Uint8Array.of(byte)),
      `invalid character '${quoted}' looking for beginning of value`,
    ))
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileRegularExpression } from './regular-expressions.ts'

describe('patterns of RE2', () => {
  const rows: readonly (readonly [pattern: string, text: string, found: string | undefined])[] = [
    ['a+', 'baaa', 'aaa'],
    ['a+?', 'baaa', 'a'],
    ['a|ab', 'ab', 'a'],
    ['(a|ab)(c|bcd)', 'abcd', 'abcd'],
    ['a{2,3}', 'aaaa', 'aaa'],
    ['a{2}', 'aaa', 'aa'],
    ['a{,2}', 'a{,2}', 'a{,2}'],
    ['x*', 'aaa', ''],
    ['^$', '', ''],
    ['[^a-c]+', 'abcxyz', 'xyz'],
    ['[]a]+', 'a]b', 'a]'],
    ['[a-]+', '-a-', '-a-'],
    ['[[:alpha:]]+', '12ab3', 'ab'],
    ['[[:^alpha:]]+', 'ab12', '12'],
    ['\\d+\\s\\w', 'x12 y', '12 y'],
    ['[\\d.]+', 'v1.2', '1.2'],
    ['\\bfoo\\b', 'a foo b', 'foo'],
    ['\\Bo', 'foo', 'o'],
    ['(?i)ABC', 'xabc', 'abc'],
    ['(?i:A)B', 'aB', 'aB'],
    ['(?i:A)B', 'ab', undefined],
    ['(?s)a.b', 'a\nb', 'a\nb'],
    ['a.b', 'a\nb', undefined],
    ['(?m)^b$', 'a\nb\nc', 'b'],
    ['^b$', 'a\nb', undefined],
    ['(?U)a+', 'aaa', 'a'],
    ['(?P<year>\\d{4})', 'in 2026', '2026'],
    ['\\Qa.b\\E+', 'a.bbb', 'a.bbb'],
    ['\\pL+', '1héλ', 'héλ'],
    ['\\p{Greek}+', 'aλμ', 'λμ'],
    ['\\PL+', 'a12', '12'],
    ['\\x41\\x{1F600}', 'A😀', 'A😀'],
    ['.', '😀', '😀'],
    ['\\A[a-z]\\z', 'q', 'q'],
    ['(a*)*', 'aa', 'aa'],
    ['(|a)+', 'aa', ''],
    ['\\.', 'a.b', '.'],
  ]
  for (const [pattern, text, found] of rows)
    test(`${pattern} in ${JSON.stringify(text)}`, () =>
      assert.equal(compileRegularExpression(pattern)?.find(text), found))

  const refused = [
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '\\1',
    '[',
    '(',
    ')',
    'a**',
    '*a',
    'a{2,1}',
    'a{1001}',
    '[b-a]',
    '\\8',
    '(?z)',
    '\\p{Nope}',
    '[[:nope:]]',
    'a{1000}{1000}',
  ]
  for (const pattern of refused)
    test(`${pattern} is refused`, () => assert.equal(compileRegularExpression(pattern), undefined))
})

test('matches follow each other without overlap; empty ones stand alone', () => {
  assert.deepEqual(compileRegularExpression('a*')?.findAll('baac'), ['', 'aa', ''])
  assert.deepEqual(compileRegularExpression('\\d')?.findAll('1a2b3', 2), ['1', '2'])
})

test('no pattern takes longer than text and pattern are long', () => {
  const expression = compileRegularExpression('^(a+)+(b|a+)*c$')
  assert.equal(expression?.test('a'.repeat(20_000)), false)
})

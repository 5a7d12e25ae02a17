import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileRegularExpression, TooMuchToMatch } from './regular-expressions.ts'

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
    ['a{02}', 'aa a{02}', 'a{02}'],
    ['\\12', 'a\nb', '\n'],
    ['\\x{0000041}', 'A', 'A'],
    ['[+--]+', 'a+,-b', '+,-'],
    ['(?)a', 'a', 'a'],
    ['\\p{Letter}+', '1ab', 'ab'],
    ['\\p{Any}', '1', '1'],
    ['(a{10}){100}', 'a'.repeat(1000), 'a'.repeat(1000)],
    ['^(?i)(abort|warn)?$', 'ABORT', 'ABORT'],
    ['^((?i)january|may|[1-9])x$', 'MAYx', 'MAYx'],
    ['^((?i)january|may|[1-9])x$', 'MAYX', undefined],
    ['^[[:alpha:]_-]+$', 'a_-', 'a_-'],
    ['^[^:/[]+$', 'a[b', undefined],
    ['^a\\-b$', 'a-b', 'a-b'],
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
    '(a{11}){100}',
    '((a{1,10}){1,10}){1,11}',
    '\\C',
    '\\é',
    '\\Z',
    '\\k<a>',
    '\\p{Alphabetic}',
    '\\p{Emoji}',
    '\\x{110000}',
    '(?i-)a',
    'a++',
    '\\u0041',
    '[\\b]',
    '[[:constructor:]]',
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

test('what would still take long is given up, and the next text is not affected', () => {
  const expression = compileRegularExpression('^(a|b)*a(a|b){900}$')!
  assert.throws(() => expression.test('ab'.repeat(100_000)), TooMuchToMatch)
  assert.equal(expression.test('a'.repeat(1000)), true)
})

test('megabytes of text are matched against common patterns', () => {
  const label = compileRegularExpression(
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  )!
  assert.equal(label.test('abc-def.'.repeat(200_000)), false)
})

describe('a pattern may be used without end', () => {
  test('a loop that consumes nothing still ends', () => {
    const loop = compileRegularExpression('^(?:a*)*$')!
    for (let time = 0; time < 40_000; time++) assert.equal(loop.test('a'), true)
  })

  test('nothing of an earlier use is left when the counter of positions begins anew', () => {
    const expression = compileRegularExpression('^(?:ab|c)$')!
    // 3 positions, 32,766 times 2: 65,535, after which the next one has the number of the first.
    assert.equal(expression.test('ab'), true)
    for (let time = 0; time < 32_766; time++) assert.equal(expression.test('c'), true)
    assert.equal(expression.test('ab'), true)
  })
})

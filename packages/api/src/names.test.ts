import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  generateName,
  labelValueProblems,
  qualifiedNameProblems,
  randomSuffix,
  safeEncode,
} from './names.ts'

test('good names have no problems, bad ones are told why', () => {
  const cases: [(text: string) => readonly string[], string[], string[]][] = [
    [
      dnsLabelProblems,
      ['a', 'a-b', '1', 'a'.repeat(63)],
      ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a'.repeat(64)],
    ],
    [
      dnsSubdomainProblems,
      ['a', 'a.b-c', 'a'.repeat(253)],
      ['', '.a', 'a..b', 'a.', 'A', 'a'.repeat(254)],
    ],
    [dns1035LabelProblems, ['a', 'a-1'], ['1a', '', 'a.b', 'a'.repeat(64)]],
    [
      qualifiedNameProblems,
      ['a', 'A.b_c', 'e.com/x', 'a'.repeat(63), `e.com/${'a'.repeat(63)}`],
      ['', '/a', 'a/', 'E.com/x', 'a/b/c', '-a', 'a'.repeat(64)],
    ],
    [labelValueProblems, ['', 'a', 'A_b.c', 'a'.repeat(63)], ['-', 'a-', 'a/b', 'a'.repeat(64)]],
  ]
  for (const [check, good, bad] of cases) {
    for (const text of good) assert.deepEqual(check(text), [], text)
    for (const text of bad) assert.notDeepEqual(check(text), [], text)
  }
})

test('problems are told in the words of the API server', () => {
  assert.deepEqual(qualifiedNameProblems('e.com/'), [
    'name part must be non-empty',
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ])
  assert.equal(qualifiedNameProblems('/a')[0], 'prefix part must be non-empty')
  assert.match(qualifiedNameProblems('E/a')[0]!, /^prefix part a lowercase RFC 1123 subdomain must/)
  assert.match(
    qualifiedNameProblems('a/b/c')[0]!,
    /with an optional DNS subdomain prefix and '\/' \(e.g. 'example.com\/MyName'\)$/,
  )
  assert.deepEqual(dnsSubdomainProblems('a'.repeat(254)), ['must be no more than 253 characters'])
  assert.deepEqual(labelValueProblems('a'.repeat(64)), ['must be no more than 63 bytes'])
  for (const problems of [labelValueProblems, dnsLabelProblems, qualifiedNameProblems]) {
    assert.match(problems('é'.repeat(32))[0]!, /must be no more than 63 (?:bytes|characters)$/)
    assert.doesNotMatch(problems('é'.repeat(31)).join(), /no more than/)
  }
})

test('Given generateName of 70 characters, then a name of 63 with the first 58 kept.', () => {
  const name = generateName('x'.repeat(70), new SeededRandom(1))
  assert.match(name, /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.match(generateName('web-', new SeededRandom(2)), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
})

test('suffixes use the whole alphabet', () => {
  assert.equal(new Set(randomSuffix(new SeededRandom(3), 2000)).size, 27)
})

test('digits are encoded to letters that make no words', () => {
  assert.equal(safeEncode('0123456789'), '456789bcdf')
  assert.equal(safeEncode('3214735720'), '7658c79c64')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yamlValue } from '../yaml/index.ts'
import { formatYaml } from './index.ts'

test('keys in order; what is written is what is read', () => {
  const text = 'a: 9223372036854775807\nb: 1\nc:\n- 9007199254740993\n- "yes"\nd: 1.5\n'
  assert.equal(formatYaml(yamlValue(text)), text)
  assert.equal(formatYaml({ b: 1, a: 2 }), 'a: 2\nb: 1\n')
})

test('what Go would read as something else is quoted twice, what cannot stand plain once', () => {
  assert.equal(
    formatYaml({ '.': {}, a: ' x ', b: '#c', c: 'x: y', d: '012', e: 'null', f: 'a\tb', g: '.5' }),
    '.: {}\na: \' x \'\nb: \'#c\'\nc: \'x: y\'\nd: "012"\ne: "null"\nf: "a\\tb"\ng: ".5"\n',
  )
  const long = Array.from({ length: 20 }, () => 'long').join(' ')
  assert.equal(
    formatYaml({ a: { b: long } }),
    `a:\n  b: ${long.slice(0, 79)}\n    ${long.slice(80)}\n`,
  )
})

const ENDINGS: readonly (readonly [value: unknown, text: string])[] = [
  ['a\nb', '|-\n  a\n  b\n'],
  ['a\nb\n', '|\n  a\n  b\n'],
  ['a\n\n', '|+\n  a\n\n'],
  ['\n', '|2+\n\n'],
  [' a\nb', '|2-\n   a\n  b\n'],
  ['a \nb', '"a \\nb"\n'],
  ['---', "'---'\n"],
  ['<<', '<<\n'],
  ['12:30:45', '"12:30:45"\n'],
  ['2020-01-01', '"2020-01-01"\n'],
  ['1_000', '"1_000"\n'],
  ['😀', '"\\U0001F600"\n'],
  ['\ufeffa', '"\\uFEFF\\x61"\n'],
  [1234567.5, '1.2345675e+06\n'],
  [0.5, '0.5\n'],
  [[], '[]\n'],
  [{}, '{}\n'],
]
for (const [value, text] of ENDINGS) {
  test(`${JSON.stringify(value)} is written as ${JSON.stringify(text)}`, () => {
    const isCollection = typeof value === 'object'
    assert.equal(formatYaml({ a: value }), `a: ${text}`)
    if (!isCollection) assert.deepEqual(yamlValue(formatYaml({ a: value })), { a: value })
  })
}

test('lists stand below their keys, and what is in them beside their dashes', () => {
  const value = { a: [{ c: 1, b: [[1, 2], {}] }, 'x'] }
  assert.equal(formatYaml(value), 'a:\n- b:\n  - - 1\n    - 2\n  - {}\n  c: 1\n- x\n')
})

test('keys are sorted as people count, letters last; long ones stand behind a question mark', () => {
  const keys = ['a10', 'a2', 'B', '_x', '10', '2', 'z-1', 'z1']
  const sorted = formatYaml(Object.fromEntries(keys.map((key) => [key, null])))
  assert.deepEqual(
    sorted.split(': null\n').filter((key) => key !== ''),
    ['_x', '"2"', '"10"', 'B', 'a2', 'a10', 'z-1', 'z1'],
  )
  const long = 'k'.repeat(129)
  assert.equal(formatYaml({ [long]: { b: 1 } }), `? ${long}\n: b: 1\n`)
})

test('quoted text is broken where it is too long, and keeps its spaces', () => {
  const words = `# ${'word '.repeat(17)}`
  const lines = formatYaml({ a: words }).split('\n')
  assert.deepEqual(
    lines.map((line) => line.length),
    [85, 8, 0],
  )
  assert.deepEqual(yamlValue(formatYaml({ a: words })), { a: words })
})

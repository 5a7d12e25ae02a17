import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatYaml, parseYamlText } from './yaml.ts'

test('integers are exact, in and out; those that numbers hold are numbers', () => {
  const text = 'a: 9223372036854775807\nb: 1\nc:\n  - 9007199254740993\n  - x\nd: 1.5\n'
  const { value } = parseYamlText(text)
  assert.deepEqual(value, { a: 9223372036854775807n, b: 1, c: [9007199254740993n, 'x'], d: 1.5 })
  assert.equal(formatYaml(value), text)
  assert.deepEqual(parseYamlText('a: 9223372036854775808').value, { a: 2 ** 63 })
})

test('plain scalars mean what they mean to the real server: between YAML 1.1 and 1.2', () => {
  const text = 'a: yes\nb: "yes"\nc: 1_000\nd: 0b11\ne: 12:30\nf: 1e400\ng: !!str off\nn: ~\n'
  const value = { a: true, b: 'yes', c: 1000, d: 3, e: '12:30', f: '1e400', g: 'off', n: null }
  // `n` is a boolean too, and keys are texts.
  const { n, ...rest } = value
  assert.deepEqual(parseYamlText(text).value, { ...rest, false: n })
  assert.deepEqual(parseYamlText('a: &a {k: 1}\nb: {<<: *a, l: 2}').value, {
    a: { k: 1 },
    b: { k: 1, l: 2 },
  })
})

/** What kube-apiserver 1.36 said to a ConfigMap with this in its data, behind `(must be of type ConfigMap): `. */
const REFUSED: readonly (readonly [text: string, error: string])[] = [
  ['null: a', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"'],
  ['? \n: a', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"'],
  [
    '18446744073709551615: a',
    'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"',
  ],
  ['[a]: b', 'yaml: invalid map key: []interface {}{"a"}'],
  ['{a: b}: b', 'yaml: invalid map key: map[interface {}]interface {}{"a":"b"}'],
  ['a: .inf', 'json: unsupported value: +Inf'],
  ['x: [.nan]\nb: -.inf', 'json: unsupported value: -Inf'],
  ['a: *x', "yaml: unknown anchor 'x' referenced"],
  ['a: !!int b', 'yaml: cannot decode !!str `b` as a !!int'],
  ['x: 1\n\ta: b', 'yaml: line 2: found a tab character that violates indentation'],
  ['x:\n\ta: b', 'yaml: line 2: found character that cannot start any token'],
  ['a: @x', 'yaml: found character that cannot start any token'],
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['x: 1\na: 1\n b: 2\n', 'yaml: line 3: mapping values are not allowed in this context'],
  ['- a: b\n c: d\n', "yaml: line 1: did not find expected '-' indicator"],
  ['x: 1\na: {name: y1\n', "yaml: line 2: did not find expected ',' or '}'"],
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['a: {b: "c}\n', 'yaml: line 2: found unexpected end of stream'],
  ['a: "\\q"', 'yaml: found unknown escape character'],
  ['x: 1\na: "\\q"', 'yaml: line 2: found unknown escape character'],
]
for (const [text, error] of REFUSED)
  test(`${JSON.stringify(text)} is refused in the words of the real server`, () =>
    assert.deepEqual(parseYamlText(text), {
      value: undefined,
      problems: [],
      error,
    }))

test('keys that are no texts become texts as in the real server: fractions by way of 32 bits', () => {
  const keys = [
    ['true', 'true'],
    ['yes', 'true'],
    ['0x10', '16'],
    ['017', '15'],
    ['0x7fffffffffffffff', '9223372036854775807'],
    ['18446744073709551616', '1.8446744e+19'],
    ['1e3', '1000'],
    ['1.0', '1'],
    ['.5', '0.5'],
    ['123456.5', '123456.5'],
    ['1234567.5', '1.2345675e+06'],
    ['16777217.0', '1.6777216e+07'],
    ['1e-7', '1e-07'],
    ['1e39', '.inf'],
    ['.inf', '.inf'],
    ['-.inf', '-.inf'],
    ['.nan', '.nan'],
    ['2001-01-01', '2001-01-01'],
    ['!!binary aGFs', 'hal'],
  ]
  for (const [key, text] of keys)
    assert.deepEqual(parseYamlText(`? ${key}\n: v`).value, { [text!]: 'v' })
})

test('of several documents the first is read', () => {
  assert.deepEqual(parseYamlText('a: 1\n---\nb: 2\n').value, { a: 1 })
  assert.equal(parseYamlText('').value, null)
})

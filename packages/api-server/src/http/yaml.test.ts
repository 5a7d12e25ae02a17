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

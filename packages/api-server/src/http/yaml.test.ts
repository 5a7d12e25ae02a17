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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { formatYaml } from './yaml-text.ts'

test('keys in order; what is written is what is read', () => {
  const text = 'a: 9223372036854775807\nb: 1\nc:\n  - 9007199254740993\n  - "yes"\nd: 1.5\n'
  assert.equal(formatYaml(yamlValue(text)), text)
  assert.equal(formatYaml({ b: 1, a: 2 }), 'a: 2\nb: 1\n')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { formatYaml } from './yaml-text.ts'

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
    `a:\n  b: ${long.slice(0, 74)}\n    ${long.slice(75)}\n`,
  )
})

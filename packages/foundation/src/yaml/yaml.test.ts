/** Reads what kube-apiserver 1.36 was given, and says what it said. Contract: docs/behaviour/api-server/yaml.md. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { YamlError, readYaml, yamlValue } from './index.ts'

type Repeated = readonly string[]
const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-answers.json'), 'utf8'),
) as {
  readonly refusals: readonly (readonly [text: string, message: string])[]
  /** Numbers as JSON.parse of JavaScript takes them. */
  readonly values: readonly (readonly [text: string, x: unknown, repeated: Repeated])[]
}

function refusalOf(source: string | Uint8Array): string {
  try {
    readYaml(source)
  } catch (error) {
    if (error instanceof YamlError) return error.message
    throw error
  }
  return 'was read'
}

test('what the server refused is refused in its words, with its lines', () => {
  for (const [text, message] of RECORDED.refusals)
    assert.equal(refusalOf(text), message, JSON.stringify(text))
})

test('what the server read has the same value, and the same keys are repeated', () => {
  for (const [text, x, repeated] of RECORDED.values) {
    const { root, repeatedKeys } = readYaml(text)
    const read = (root!.value as Record<string, unknown>)['x']
    const numbers = (_key: string, value: unknown): unknown =>
      typeof value === 'bigint' ? Number(value) : value
    assert.deepEqual(JSON.parse(JSON.stringify(read, numbers)), x, JSON.stringify(text))
    assert.deepEqual(
      repeatedKeys.map(({ problem }) => problem),
      repeated,
      JSON.stringify(text),
    )
  }
})

test('integers of 64 bits keep their digits', () => {
  assert.deepEqual(yamlValue('[9223372036854775807, 9007199254740993, 1, 18446744073709551615]'), [
    9_223_372_036_854_775_807n,
    9_007_199_254_740_993n,
    1,
    2 ** 64,
  ])
})

test('keys that are no texts become texts: fractions by way of 32 bits', () => {
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
  ] as const
  for (const [key, text] of keys) assert.deepEqual(yamlValue(`? ${key}\n: v`), { [text]: 'v' })
})

test('a field of the name __proto__ is a field', () => {
  const value = yamlValue('__proto__: {a: 1}\n') as object
  assert.deepEqual(Object.entries(value), [['__proto__', { a: 1 }]])
})

test('of several documents the first is read; an empty one has no root', () => {
  assert.deepEqual(yamlValue('a: 1\n---\nb: [\n'), { a: 1 })
  for (const text of ['', '# nothing\n', '---\n', '---\n---\na: 1\n', '--- # c\n...\n']) {
    assert.equal(readYaml(text).root, undefined, text)
    assert.equal(yamlValue(text), null)
  }
  assert.equal(readYaml('~').root?.value, null)
})

test('bytes are UTF-8, or UTF-16 with its mark', () => {
  assert.deepEqual(yamlValue(Buffer.from('\ufeffa: é')), { a: 'é' })
  assert.deepEqual(yamlValue(Buffer.from('\ufeffa: é', 'utf16le')), { a: 'é' })
  assert.deepEqual(yamlValue(Buffer.from('\ufeffa: é', 'utf16le').swap16()), { a: 'é' })
  const refused: readonly (readonly [bytes: number[], problem: string])[] = [
    [[0x61, 0xff], 'invalid leading UTF-8 octet'],
    [[0x80], 'invalid leading UTF-8 octet'],
    [[0xc3], 'incomplete UTF-8 octet sequence'],
    [[0xc3, 0x28], 'invalid trailing UTF-8 octet'],
    [[0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
    [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
    [[0x61, 0x01], 'control characters are not allowed'],
    [[0x1f, 0x8b], 'control characters are not allowed'],
    [[0x8b, 0x1f], 'invalid leading UTF-8 octet'],
  ]
  for (const [bytes, problem] of refused)
    assert.equal(refusalOf(Uint8Array.from(bytes)), `yaml: ${problem}`)
})

test('aliases may not blow a small document up', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`)
  assert.equal(refusalOf(lines.slice(0, 3).join('\n')), 'was read')
  assert.equal(refusalOf(lines.join('\n')), 'yaml: document contains excessive aliasing')
})

test('deep documents are refused', () => {
  assert.equal(refusalOf(`${'['.repeat(400)}${']'.repeat(400)}`), 'was read')
  assert.equal(refusalOf('['.repeat(401)), 'exceeded max depth')
  assert.equal(refusalOf('- '.repeat(401)), 'exceeded max depth')
})

test('every value knows its place, also in a text out of a larger one', () => {
  const { root, repeatedKeys } = readYaml('a: [x, "y"]\nb: &b {c: 1, c: 2}\nd: *b\n', 100)
  const [a, b, d] = [...root!.members!.values()]
  assert.equal(a!.keyStart, 100)
  assert.deepEqual(
    a!.node.items!.map(({ start }) => start),
    [104, 107],
  )
  assert.equal(b!.node.start, 115)
  assert.deepEqual(repeatedKeys, [
    { key: 'c', start: 125, problem: 'line 2: key "c" already set in map' },
  ])
  assert.equal(d!.node.start, 134)
  assert.equal(d!.node.value, b!.node.value)
  assert.throws(() => readYaml('a: 1\n@', 100), { start: 105 })
})

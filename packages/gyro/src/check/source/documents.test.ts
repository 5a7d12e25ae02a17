import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsOf, isUnreadable } from './documents.ts'
import { SourceFile } from './source-file.ts'

function read(text: string, name = 'a.yaml') {
  const file = new SourceFile(name, text)
  return documentsOf(file).map((document) => {
    if (!isUnreadable(document)) return document.root?.value
    const { line, column } = file.positionOf(document.start)
    return `${line}:${column} ${document.problem}`
  })
}

const VALUES: readonly (readonly [what: string, text: string, values: readonly unknown[]])[] = [
  [
    'documents between dashes',
    'a: 1\n---\nb: 2\n--- # c\n\n---\nc: 3\n',
    [{ a: 1 }, { b: 2 }, { c: 3 }],
  ],
  ['carriage returns', 'a: 1\r\n---\r\nb: [x]\r\n', [{ a: 1 }, { b: ['x'] }]],
  ['dashes in a text', 'a: |\n  x\n  ---\n  y\n', [{ a: 'x\n---\ny\n' }]],
  [
    'what is quoted',
    `{a: "5", b: 'it''s', c: "\\u00e9\\x41", d: !!str 5}`,
    [{ a: '5', b: "it's", c: 'éA', d: '5' }],
  ],
  ['folded texts', 'a: >-\n  fo\n  lded\nb: |-\n', [{ a: 'fo lded', b: '' }]],
  ['tags', 'a: !!int "5"\nb: !!binary aGVsbG8=\nc: !mine yes\n', [{ a: 5, b: 'hello', c: 'yes' }]],
  [
    'keys that are no texts',
    '{0x1f: a, 010: b, no: c, 1e3: d}',
    [{ 31: 'a', 8: 'b', false: 'c', 1000: 'd' }],
  ],
  ['keys without values', '{a, ? b, c: }', [{ a: null, b: null, c: null }]],
  ['anchors', 'a: &x {k: v}\nb: *x\n', [{ a: { k: 'v' }, b: { k: 'v' } }]],
  [
    'merges: what stands behind wins',
    'a: {x: 1, <<: {x: 2, z: 3}}\nb: {<<: {x: 2, z: 3}, x: 1}\n',
    [{ a: { x: 2, z: 3 }, b: { x: 1, z: 3 } }],
  ],
  [
    'merges of several: the first wins',
    'a: {<<: [{x: 1}, {w: 2, x: 3}], z: 4}',
    [{ a: { x: 1, w: 2, z: 4 } }],
  ],
  ['a quoted merge key is a key', '{"<<": {a: 1}}', [{ '<<': { a: 1 } }]],
  ['the last of repeated keys', 'a: 1\na: 2\n', [{ a: 2 }]],
  [
    'JSON, one after the other',
    '{"a": [1, 2.50, -1e2]}\n{"b": "\\u00e9\\n", "c": {}, "d": []}',
    [{ a: [1, 2.5, -100] }, { b: 'é\n', c: {}, d: [] }],
  ],
  ['long integers in JSON', '{"a": 9223372036854775807}', [{ a: 9_223_372_036_854_775_807n }]],
  ['YAML that begins as JSON does', '{a: b, c: [d]}\n', [{ a: 'b', c: ['d'] }]],
  ['tabs between values of JSON', '{\n\t"a":\t1\n}', [{ a: 1 }]],
  ['nothing', '# only a comment\n---\n---\n', [undefined]],
]
for (const [what, text, values] of VALUES) {
  test(`reads ${what}`, () => assert.deepEqual(read(text), values))
}

const YAML = 'error converting YAML to JSON: yaml: line'
const PROBLEMS: readonly (readonly [what: string, text: string, problem: string])[] = [
  [
    'a tab',
    'a:\n\tb: c\n',
    `2:1 ${YAML} 2: found character that cannot start any token: a tab, where YAML takes only spaces`,
  ],
  [
    'a colon in a value',
    'a: b: c\n',
    `1:5 ${YAML} 1: mapping values are not allowed in this context`,
  ],
  ['an anchor that is not there', 'a: *x\n', `1:4 ${YAML} 1: unknown anchor 'x' referenced`],
  ['an anchor within itself', 'a: &x [*x]\n', `1:8 ${YAML} 1: anchor 'x' value contains itself`],
  [
    'a merge of no map',
    'a: {<<: 5}\n',
    `1:9 ${YAML} 1: map merge requires map or sequence of maps as the value`,
  ],
  ['a map as a key', '{? [a] : b}\n', `1:4 ${YAML} 1: invalid map key: []interface {}{"a"}`],
  [
    'null as a key',
    '~: a\n',
    '1:1 error converting YAML to JSON: unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"',
  ],
  ['infinity', 'a: .inf\n', '1:4 error converting YAML to JSON: json: unsupported value: +Inf'],
  [
    'a tag that does not fit',
    'a: !!int x\n',
    `1:4 ${YAML} 1: cannot decode !!str \`x\` as a !!int`,
  ],
  [
    'something behind the dashes',
    'a: 1\n--- {b: 2}\n',
    '2:11 error converting YAML to JSON: yaml: line 2: invalid Yaml document separator: {b: 2}',
  ],
  [
    'a template',
    'a: {{ .Values.b }}\n',
    '1:4 a template that is not rendered: give what comes out of it, as in helm template DIR | gyro check -',
  ],
  [
    'a template with conditions',
    '{{- if .Values.a }}\na: b\n{{- end }}\n',
    '1:1 a template that is not rendered: give what comes out of it, as in helm template DIR | gyro check -',
  ],
]
for (const [what, text, problem] of PROBLEMS) {
  test(`tells ${what}, and where`, () => {
    const found = read(text).find((value) => typeof value === 'string')
    assert.equal(found, problem)
  })
}

test('what cannot be read ends its document only', () => {
  assert.deepEqual(read('a: 1\n---\nb: c: d\n---\ne: 2\n'), [
    { a: 1 },
    `3:5 ${YAML} 3: mapping values are not allowed in this context`,
    { e: 2 },
  ])
})

test('braces in a text that is YAML are no template', () => {
  assert.deepEqual(read('a: "{{ $labels.pod }}"\n'), [{ a: '{{ $labels.pod }}' }])
})

test('JSON that is wrong is told in the words of Go', () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['{"a":1,}', "1:8 json: invalid character '}' looking for beginning of object key string"],
    ['{"a":\n 01}', "2:3 json: invalid character '1' after object key:value pair"],
    ['{"a": "x', '1:7 json: unexpected end of JSON input'],
    ['{"a": "\\q"}', "1:7 json: invalid character 'q' in string escape code"],
    ['{"a": "x\ty"}', "1:7 json: invalid character '\\t' in string literal"],
    ['{"a": "x\\', "1:7 json: invalid character ' ' in string escape code"],
    ['{"a": nope}', "1:7 json: invalid character 'o' in literal null (expecting 'u')"],
  ]
  for (const [text, problem] of wrong) assert.deepEqual(read(text, 'a.json'), [problem])
})

test('aliases may not blow a small document up', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 9; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`)
  assert.match(String(read(lines.join('\n'))[0]), /document contains excessive aliasing/)
})

test('repeated keys are told with their place, also in JSON', () => {
  const [yaml] = documentsOf(new SourceFile('a.yaml', 'a: 1\nb: {c: 1, c: 2}\na: 2\n'))
  assert.ok(yaml !== undefined && !isUnreadable(yaml))
  assert.deepEqual(
    yaml.repeatedKeys.map(({ key, start }) => [key, start]),
    [
      ['c', 15],
      ['a', 21],
    ],
  )
  const [json] = documentsOf(new SourceFile('a.json', '{"a": 1, "a": 2}'))
  assert.ok(json !== undefined && !isUnreadable(json))
  assert.deepEqual(json.repeatedKeys, [{ key: 'a', start: 9 }])
})

test('the template that Helm names is remembered', () => {
  const [, second] = documentsOf(
    new SourceFile('stdin', 'a: 1\n---\n# Source: web/templates/a.yaml\nb: 1\n'),
  )
  assert.equal(second!.origin, 'web/templates/a.yaml')
})

test('a text of JSON may be of any length, with signs that are escaped', () => {
  const long = 'x\\"'.repeat(8_000_000)
  assert.deepEqual(read(`{"a": "${long}"}`, 'a.json'), [{ a: long.replaceAll('\\', '') }])
})

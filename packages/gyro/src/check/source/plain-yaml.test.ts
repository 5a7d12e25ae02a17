/** Whatever the quick reader answers, the whole reader answers the same: values, places, repeated keys. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { stringify } from 'yaml'
import { parsePlainYaml } from './plain-yaml.ts'
import type { ParsedSource, SourceNode } from './source-node.ts'
import { parseYaml } from './yaml-tree.ts'

/** Where nothing stands, there is no place. */
function comparable({ start, value, members, items }: SourceNode): unknown {
  return {
    value,
    ...(value === null ? {} : { start }),
    members: [...(members ?? [])].map(([key, { keyStart, node }]) => [
      key,
      keyStart,
      comparable(node),
    ]),
    items: items?.map(comparable),
  }
}

function shown(parsed: ParsedSource | undefined): unknown {
  return {
    root: parsed?.root === undefined ? undefined : comparable(parsed.root),
    repeatedKeys: parsed?.repeatedKeys,
  }
}

/** Whether the quick reader took it. */
function compare(text: string): boolean {
  const quick = parsePlainYaml(text, 7)
  if (quick === undefined) return false
  assert.deepEqual(shown(quick), shown(parseYaml(text, 7)), text)
  return true
}

const TAKEN: readonly string[] = [
  'a: 1\nb: yes\nc: ~\nd:\ne: "5"\n',
  '# c\na: b # c\nc: d#e\n\nf: a: b'.slice(0, -5),
  'a:\n  b:\n    c: d\n  e: f\ng: h\n',
  'a:\n- b\n- c: d\n  e: f\n-   g: h\n    i: j\nk: l\n',
  'a:\n  - b\n  -\n    c: d\n  - - e\n'.slice(0, -8),
  'a: |\n  x\n\n    y\n  # z\n\nb: |-\n  x\nc: d\n',
  'a:\n  - |\n    x\n  - y\n',
  `a: "x\\ny \\"z\\""\nb: 'it''s' # c\n"c.d/e": 1\n'f': 2\n`,
  'a: []\nb: {}\nc: [x, "y, z", 3, [a]]\nd: {a: 1, b: {c: "d"}, "e": [f]}\n',
  'a: 1\na: 2\nb: {c: 1, c: 2}\n',
  'y: 1\n010: 2\ntrue: 3\n',
  '- a: b\n- c\n',
  '\n\n# nothing\n',
  'a: http://x:80/y?z\nb: -x\nc: :y\nd: 12:30\n',
  'a: 9223372036854775807\nb: 1e3\n',
  'a:\n\n  # c\n\n  b: c\n# d\n',
  'command: ["sh", "-c", "echo $(A) > b"]\nargs: [--a=b, -c]\n'.replace('--a=b, ', ''),
]
for (const text of TAKEN) {
  test(`takes ${JSON.stringify(text)}`, () => assert.ok(compare(text)))
}

const LEFT: readonly string[] = [
  'a: &x 1\nb: *x\n',
  'a: {<<: {b: c}}\n',
  '<<: {b: c}\n',
  'a: >\n  x\n  y\n',
  'a: |+\n  x\n',
  'a: |2\n  x\n',
  'a: x\n  y\n',
  'a: "x\n  y"\n',
  'a: !!str 5\n',
  'a:\tb\n',
  'a: b: c\n',
  'a: .inf\n',
  '~: a\n',
  'a: [b,\n c]\n',
  '? a\n: b\n',
  'a:\n    b: c\n  d: e\n',
  'a: "\\u00e9"\n',
  '- - a\n',
  'a\n',
  'a: @b\n',
  'a: b\n...\n',
  '__proto__: a\n',
]
for (const text of LEFT) {
  test(`leaves ${JSON.stringify(text)}`, () => assert.equal(parsePlainYaml(text, 0), undefined))
}

const vectors = join(import.meta.dirname, '../../../../../tests/recordings/vectors/manifests.json')
test('manifests of the recordings, as programs write them: almost all are taken', () => {
  const { scenarios } = JSON.parse(readFileSync(vectors, 'utf8')) as {
    scenarios: { steps: { body?: object }[] }[]
  }
  const bodies = scenarios.flatMap(({ steps }) => steps.flatMap(({ body }) => body ?? []))
  const texts = bodies.map((body) => stringify(body, { lineWidth: 0 }))
  const taken = texts.filter(compare)
  assert.ok(taken.length > texts.length * 0.9, `${taken.length} of ${texts.length}`)
})

test('texts with a random change: what is taken is read alike, what is an error is left', () => {
  const random = new SeededRandom('plain-yaml')
  const pieces = [
    ' ',
    '\n',
    ':',
    '- ',
    '#',
    '"',
    "'",
    '[',
    '}',
    ',',
    'a',
    '0',
    '|',
    '&',
    '?',
    '\n  ',
  ]
  let taken = 0
  for (let round = 0; round < 3000; round++) {
    let text = TAKEN[integerBetween(random, 0, TAKEN.length)]!
    for (let change = 0; change < 2; change++) {
      const at = integerBetween(random, 0, text.length)
      const piece = pieces[integerBetween(random, 0, pieces.length)]!
      text = text.slice(0, at) + piece + text.slice(at + integerBetween(random, 0, 2))
    }
    if (compare(text)) taken++
  }
  assert.ok(taken > 500, `${taken} were taken`)
})

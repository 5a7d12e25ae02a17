import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsOf, isUnreadable } from './documents.ts'
import { leadingPath, placeOfField } from './field-path.ts'
import { SourceFile } from './source-file.ts'

const TEXT = `kind: Pod
metadata:
  labels:
    app.kubernetes.io/name: a
    x[y]: b
  "é": 1
spec:
  containers:
  - name: a
    image: ""
  - {name: b, ports: [{containerPort: 1}, {containerPort: 2}]}
data:
  a.b: 1
  a: {b: 2, b.c: 3}
`
const PLACES: readonly (readonly [path: string, line: number, column: number])[] = [
  ['kind', 1, 1],
  ['spec', 7, 1],
  ['spec.containers[0].image', 10, 5],
  ['spec.containers[1].ports[1].containerPort', 11, 44],
  ['spec.containers[1].ports', 11, 15],
  ['spec.containers[*].name', 9, 5],
  ['spec.containers.0.image', 10, 5],
  ['metadata.labels[app.kubernetes.io/name]', 4, 5],
  ['metadata.labels.app.kubernetes.io/name', 4, 5],
  ['metadata.labels[x[y]]', 5, 5],
  ['data.a.b', 13, 3],
  ['data.a.b.c', 14, 13],
  ['data[a.b]', 13, 3],
  // What is not there is missing in the nearest that is.
  ['spec.containers[1].image', 11, 5],
  ['spec.containers[7].image', 8, 3],
  ['spec.volumes', 7, 1],
  ['status.phase', 1, 1],
  ['specs', 1, 1],
  ['', 1, 1],
]
const file = new SourceFile('a.yaml', TEXT)
const [document] = documentsOf(file)
for (const [path, line, column] of PLACES) {
  test(`${JSON.stringify(path)} is at ${line}:${column}`, () => {
    assert.ok(document !== undefined && !isUnreadable(document))
    assert.deepEqual(file.positionOf(placeOfField(document.root!, path)), { line, column })
  })
}

test('columns count characters', () => {
  const emoji = new SourceFile('a', '"😀": {b: 1}')
  assert.deepEqual(emoji.positionOf(emoji.text.indexOf('b')), { line: 1, column: 7 })
})

test('the path that a warning begins with', () => {
  for (const [text, path] of [
    [
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated',
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]',
    ],
    ['spec.containers[0].env[1]: hides', 'spec.containers[0].env[1]'],
    ['would violate PodSecurity "restricted:latest": x', ''],
    ['v1 Endpoints is deprecated', ''],
  ] as const)
    assert.equal(leadingPath(text), path)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForSomethingElse } from './folder-rules.ts'
import { documentsOf, isUnreadable } from './source/documents.ts'
import { SourceFile } from './source/source-file.ts'

/** All of them cannot be read. */
const BROKEN: readonly (readonly [what: string, name: string, text: string, other: boolean])[] = [
  ['JSON with comments', 'tsconfig.json', '{\n  // strict\n  "compilerOptions": {}\n}\n', true],
  ['tasks with templates', 'tasks.yml', '- hosts: all\n  vars:\n    a: {{ b }}: c\n', true],
  [
    'tasks that hold a manifest',
    'tasks.yml',
    '- k8s:\n    definition:\n      kind: Pod\n      name: {{ b }}: c\n',
    true,
  ],
  ['a manifest with a mistake', 'pod.yaml', 'kind: Pod\nmetadata: [\n', false],
  ['one that is indented', 'pod.yaml', '# ours\n---\n  apiVersion: v1\n  metadata: [\n', false],
  ['one in JSON', 'pod.json', '{"metadata": {}, "kind": "Pod",, }', false],
]
for (const [what, name, text, isOther] of BROKEN) {
  test(`${what}: ${isOther ? 'for something else' : 'told as a mistake'}`, () => {
    const documents = documentsOf(new SourceFile(name, text))
    assert.ok(documents.some(isUnreadable))
    assert.equal(isForSomethingElse(documents), isOther)
  })
}

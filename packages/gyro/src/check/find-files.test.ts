import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { findFiles } from './find-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-files-'))
  mkdirSync(join(folder, 'base'))
  writeFileSync(join(folder, 'web.yaml'), 'kind: Service\n')
})
afterEach(() => rmSync(folder, { recursive: true }))

function foundWith(kustomization: string) {
  writeFileSync(join(folder, 'kustomization.yaml'), kustomization)
  const { files, unreadable } = findFiles([folder], new Uint8Array())
  const shown = (name: string): string => name.replace(`${folder}/`, '')
  return {
    files: files.map(({ file }) => shown(file.name)),
    unreadable: unreadable.map(
      ({ file, line, severity, message }) => `${shown(file)}:${line}: ${severity}: ${message}`,
    ),
  }
}

test('a kustomization that cannot be read is an error: nobody knows what it lists', () => {
  assert.deepEqual(foundWith('resources:\n- web.yaml\n\tbad: [\n'), {
    files: [],
    unreadable: [
      'kustomization.yaml:3: error: error converting YAML to JSON: yaml: line 3: found a tab character that violates indentation: a tab, where YAML takes only spaces',
    ],
  })
})

test('what a kustomization lists and is not there is an error, also a folder; addresses are not looked at', () => {
  const listed = ['web.yaml', './base', 'gone.yaml', '../gone', 'absent', 'deep/gone.json']
  const elsewhere = [
    'https://example.com/a.yaml',
    'git@example.com:team/base',
    'example.com/team/base?ref=v1',
    'example.com/team/base',
  ]
  const gone = (name: string): string =>
    `kustomization.yaml:0: error: cannot be read: it lists ${name}, which does not exist`
  assert.deepEqual(foundWith(`resources: ${JSON.stringify([...listed, ...elsewhere])}\n`), {
    files: ['web.yaml'],
    unreadable: ['gone.yaml', '../gone', 'absent', 'deep/gone.json'].map(gone),
  })
})

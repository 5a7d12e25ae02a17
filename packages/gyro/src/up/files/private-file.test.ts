import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { directoryFiles } from './certificate-files.ts'
import { runningOwnerOf } from './kubeconfig-file.ts'
import { replacePrivateFile } from './private-file.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('a file is replaced for this user alone, where a link leads to, and nothing is left beside it', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'private-file-'))
  t.after(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, 'file'), 'before', { mode: 0o644 })
  symlinkSync('file', join(root, 'link'))
  replacePrivateFile(join(root, 'link'), 'after')
  assert.ok(lstatSync(join(root, 'link')).isSymbolicLink())
  assert.equal(readFileSync(join(root, 'file'), 'utf8'), 'after')
  assert.equal(modeOf(join(root, 'file')), 0o600)
  assert.deepEqual(readdirSync(root).sort(), ['file', 'link'])
})

test('a folder or a pipe is neither replaced nor waited for', { timeout: 10_000 }, (t) => {
  const root = mkdtempSync(join(tmpdir(), 'private-file-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [folder, pipe] = [join(root, 'folder'), join(root, 'pipe')] as const
  mkdirSync(folder)
  execFileSync('mkfifo', [pipe])
  assert.deepEqual(
    [folder, pipe].map((path) => runningOwnerOf(path, [])),
    [undefined, undefined],
  )
  assert.throws(() => replacePrivateFile(folder, 'text'), { code: 'EISDIR' })
  assert.throws(() => replacePrivateFile(pipe, 'text'), { message: `${pipe}: is no regular file` })
  assert.deepEqual(readdirSync(root).sort(), ['folder', 'pipe'])
})

test('certificates are kept as whole files, and keys for this user alone', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'certificate-files-'))
  t.after(() => rmSync(root, { recursive: true }))
  const files = directoryFiles(root)
  assert.equal(files.read('pki/ca.crt'), undefined)
  files.write('pki/ca.key', 'first', true)
  const { ino } = statSync(join(root, 'pki/ca.key'))
  files.write('pki/ca.key', 'key', true)
  files.write('pki/ca.crt', 'certificate', false)
  assert.notEqual(statSync(join(root, 'pki/ca.key')).ino, ino, 'not written in place')
  assert.deepEqual([files.read('pki/ca.key'), files.read('pki/ca.crt')], ['key', 'certificate'])
  assert.deepEqual(
    ['pki', 'pki/ca.key', 'pki/ca.crt'].map((name) => modeOf(join(root, name))),
    [0o700, 0o600, 0o644],
  )
})

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectory } from './make-directory.ts'

test('a folder and those above it are made with the mode, and one that is there is left as it is', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'make-directory-'))
  t.after(() => rmSync(root, { recursive: true }))
  const modeOf = (path: string): number => statSync(path).mode & 0o777
  makeDirectory(join(root, 'a', 'b'))
  makeDirectory(join(root, 'a', 'b', 'c'), 0o750)
  assert.deepEqual(
    ['a', 'a/b', 'a/b/c'].map((path) => modeOf(join(root, path))),
    [0o700, 0o700, 0o750],
  )
  makeDirectory(join(root, 'a'), 0o750)
  assert.equal(modeOf(join(root, 'a')), 0o700)
})

test('what cannot be made is an error: below a file, in the place of one, and below /proc, where Node would try for ever', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'make-directory-'))
  t.after(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, 'file'), '')
  assert.throws(() => makeDirectory(join(root, 'file')), { code: 'EEXIST' })
  for (const below of ['a', 'a/b'])
    assert.throws(() => makeDirectory(join(root, 'file', below)), { code: 'ENOTDIR' })
  if (existsSync('/proc/self'))
    assert.throws(() => makeDirectory('/proc/none/a'), { code: 'ENOENT' })
})

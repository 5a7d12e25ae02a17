import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileProblem } from './file-problem.ts'
import { makeDirectory } from './make-directory.ts'

test('what is in the way of a file is told with its place, without codes of the system', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'problem-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [file, other] = [join(folder, 'file'), join(folder, 'folder')]
  writeFileSync(file, '')
  mkdirSync(other)
  const of = (act: () => void): string => {
    try {
      act()
    } catch (error) {
      return fileProblem(error)
    }
    return 'none'
  }
  assert.equal(
    of(() => makeDirectory(file)),
    `${file}: it is a file, not a folder`,
  )
  assert.equal(
    of(() => makeDirectory(join(file, 'a', 'b'))),
    `${join(file, 'a')}: a part of its path is a file, not a folder`,
  )
  assert.equal(
    of(() => renameSync(file, other)),
    `${other}: it is a folder, not a file`,
  )
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  })
  assert.equal(fileProblem(full), full.message, 'the system did not say where')
  assert.equal(fileProblem(Object.assign(full, { path: '/a' })), '/a: the disk is full')
  assert.equal(
    of(() => makeDirectory('/proc/none/a')),
    '/proc/none: no such file or directory',
  )
  const rare = Object.assign(new Error("EMLINK: too many links, link '/a'"), {
    code: 'EMLINK',
    path: '/a',
  })
  assert.equal(
    of(() => {
      throw rare
    }),
    rare.message,
  )
  assert.equal(fileProblem('text'), 'text')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cut } from './cut-command.ts'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import type { Process } from '../shell/process.ts'

for (const [args, expected] of [
  [['-f2'], 'b\n\nx:y:z\n'],
  [['-f', '2-'], 'b\tc\n\nx:y:z\n'],
  [['-s', '-f', '1'], 'a\n'],
  [['-d:', '-f', '1,3'], 'a\tb\tc\n\nx:z\n'],
  [['-d', ':', '-f', '-2'], 'a\tb\tc\n\nx:y\n'],
  [['-c', '1-3'], 'a\tb\n\nx:y\n'],
  [['-c3', '-'], 'b\n\ny\n'],
  [['-f', 'two'], 'cut: bad list value\n'],
  [['-f1', '/nosuch'], 'cut: /nosuch: No such file or directory\n'],
] as const)
  test(`cut ${args.join(' ')}`, async () => {
    let said = ''
    const say = async (text: string | Uint8Array): Promise<void> => void (said += text)
    const task = {
      args,
      stdin: inputOf(Buffer.from('a\tb\tc\n\nx:y:z\n')),
      out: say,
      err: say,
      folder: { path: '/' },
      place: { files: new FileTree(new FileStore(), []) },
    }
    await cut(task as unknown as Process)
    assert.equal(said, expected)
  })

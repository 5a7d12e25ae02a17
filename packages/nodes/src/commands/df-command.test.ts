import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'
import { placeWith } from './fixtures.ts'

async function said(...words: string[]) {
  const data = new FileStore()
  data.set('/x', new Uint8Array(5 * 2 ** 20))
  const mount = {
    path: '/data',
    store: data,
    subPath: '',
    readOnly: false,
    sizeBytes: 10 * 2 ** 20,
  }
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> => void (all += String(text))
  const place = placeWith(new FileTree(new FileStore(), [mount]))
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const exitCode = await runCommand(words, streams, place, new Map())
  return {
    exitCode,
    lines: all
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ +/).join(' ')),
  }
}

test('what is mounted, with its size and what was written', async () => {
  const { exitCode, lines } = await said('df')
  assert.equal(exitCode, 0)
  assert.deepEqual(lines, [
    'Filesystem 1K-blocks Used Available Use% Mounted on',
    'overlay 104857600 0 104857600 0% /',
    'tmpfs 10240 5121 5120 51% /data',
  ])
})

test('of paths, in readable units, with types', async () => {
  assert.deepEqual((await said('df', '-h', '/data/x')).lines, [
    'Filesystem Size Used Available Use% Mounted on',
    'tmpfs 10.0M 5.0M 5.0M 51% /data',
  ])
  assert.deepEqual(
    (await said('df', '-hT', '/etc')).lines.at(-1),
    'overlay overlay 100.0G 0 100.0G 0% /',
  )
  assert.equal((await said('df', '-i')).exitCode, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeWith, saidWith } from '../commands/fixtures.ts'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from './input.ts'
import { runCommand } from './run-command.ts'

for (const [script, expected] of [
  ['({ echo why; exit 7; } > /e/f); echo $?; cat /e/f', '7\nwhy\n'],
  ['f() { echo why; exit 3; }; (f > /e/f); cat /e/f', 'why\n'],
  ['{ ls /e >&2; echo a; cat /e/n >&2; } > /e/n', 'n\na\n'],
  ['echo a > /e/f; cat /e/f > /e/f; wc -c < /e/f', '0\n'],
  ['{ echo aaaa; echo bb >> /e/f; echo c; } > /e/f; cat /e/f', 'aaaa\nc\n\n'],
  ['{ echo a; : > /e/f; echo b; } >> /e/f; cat /e/f', 'b\n'],
  ['{ echo a; rm /e/f; echo b; } > /e/f; ls /e', ''],
  [
    '{ echo a; ls /no; echo b; } > /e/f 2>&1; cat /e/f',
    'a\nls: /no: No such file or directory\nb\n',
  ],
  ['{ echo a >&2; echo b; } 2> /e/f; cat /e/f', 'b\na\n'],
  ['{ echo a; ls /no; } &> /e/f; cat /e/f', 'a\nls: /no: No such file or directory\n'],
  ['echo a > /e/f; ls /no &>>/e/f; cat /e/f', 'a\nls: /no: No such file or directory\n'],
  ['if ls /no &>/dev/null; then echo yes; fi; &> /e/f ls /no; wc -l < /e/f', '1\n'],
  ['echo $(ls /no &> /e/f) a=1&>/e/f; cat /e/f; echo b & wait', 'a=1\nb\n'],
  [
    'echo never > /ro/f; echo > /no/f; echo > /e; echo $?',
    "sh: can't create /ro/f: Read-only file system\nsh: can't create /no/f: No such file or directory\nsh: can't create /e: Is a directory\n1\n",
  ],
  ['touch /e/n > /no/f; ls /e', "sh: can't create /no/f: No such file or directory\n"],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))

test('`&>` is an ampersand and a redirection where the shell is dash', async () => {
  const script =
    'echo hi &> /f; wait; ls /; sh -c "$X"; bash -c "$X"; echo "$X" | sh; chmod +x /s; /s'
  let said = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (said += typeof text === 'string' ? text : Buffer.from(text).toString())
  const root = new FileStore()
  const X = 'echo in &> /dev/null; wait'
  root.set('/s', Buffer.from(`#!/bin/bash\n${X}\n`))
  const place = { ...placeWith(new FileTree(root, [])), hasDash: true }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  await runCommand(['/bin/sh', '-c', script], streams, place, new Map([['X', X]]))
  assert.equal(said, 'hi\nf\ns\nin\nin\n')
})

test('a loop that goes on has written what it has said so far', async () => {
  const root = new FileStore()
  const seen: string[] = []
  const place = {
    ...placeWith(new FileTree(root, [])),
    sleep: async (): Promise<void> => {
      seen.push(Buffer.from(root.get('/log') as Uint8Array).toString())
      if (seen.length === 3) throw new Error('stopped')
    },
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: async () => {}, err: async () => {} }
  const words = ['sh', '-c', 'while true; do echo on; sleep 1; done > /log']
  await assert.rejects(runCommand(words, streams, place, new Map()), /stopped/)
  assert.deepEqual(seen, ['on\n', 'on\non\n', 'on\non\non\n'])
})

test('what is made for each reader stays as it was when something is added', async () => {
  const root = new FileStore()
  root.set('/f', async () => Buffer.from('made\n'))
  const place = placeWith(new FileTree(root, []))
  const streams = { stdin: inputOf(new Uint8Array(0)), out: async () => {}, err: async () => {} }
  await runCommand(['sh', '-c', 'echo more >> /f'], streams, place, new Map())
  assert.equal(Buffer.from(await place.files.read('/f')).toString(), 'made\nmore\n')
})

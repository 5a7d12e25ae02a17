import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../../files/file-store.ts'
import { FileTree } from '../../files/file-tree.ts'
import { inputOf } from '../../shell/input.ts'
import { UnknownCommand } from '../../shell/process.ts'
import { runCommand } from '../../shell/run-command.ts'
import { AGNHOST_COMMANDS } from './agnhost-command.ts'
import { COMMANDS } from '../commands.ts'

async function said(words: readonly string[]): Promise<readonly (string | number)[]> {
  const root = new FileStore()
  root.set('/etc/hosts', Buffer.from('127.0.0.1\tlocalhost\n'))
  root.set('/etc/resolv.conf', Buffer.from('nameserver 1.1.1.1\nsearch a.local b.local\n'))
  const all: (string | number)[] = []
  let nowMs = Date.UTC(2026, 0, 2)
  const add = async (text: string | Uint8Array): Promise<void> =>
    void all.push(typeof text === 'string' ? text : Buffer.from(text).toString())
  const place = {
    commands: new Map([...COMMANDS, ...AGNHOST_COMMANDS]),
    files: new FileTree(root, []),
    hostname: 'p',
    user: { uid: 0, gid: 0, groups: [0] },
    program: '',
    nowMs: () => nowMs,
    sleep: async (delayMs: number) => {
      all.push(delayMs)
      nowMs += delayMs
    },
    yieldIfLong: () => undefined,
    onUnknown: (what: string): never => {
      throw new UnknownCommand(what)
    },
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const exitCode = await runCommand(words, streams, place, new Map())
  return exitCode === 0 ? all : [...all, `exit ${exitCode}`]
}

for (const [line, expected] of [
  ['/agnhost pause', [Infinity]],
  ['/agnhost netexec --http-port=80', [Infinity]],
  ['/agnhost-2 entrypoint-tester a b', ['[/agnhost-2 entrypoint-tester a b]\n']],
  ['/agnhost etc-hosts', ['127.0.0.1\tlocalhost\n']],
  ['agnhost dns-suffix', ['a.local,b.local\n']],
  ['agnhost dns-server-list', ['1.1.1.1\n']],
  [
    '/agnhost logs-generator --log-lines-total 2 --run-duration 1s',
    [
      'I0102 00:00:00.000000       1 logs_generator.go:76] 0 GET /api/v1/namespaces/kube-system/pods/s1 200\n',
      500,
      'I0102 00:00:00.500000       1 logs_generator.go:76] 1 POST /api/v1/namespaces/default/pods/6w0 237\n',
      500,
    ],
  ],
  [
    '/agnhost logs-generator -t 0 -d 1s',
    ['agnhost: logs-generator needs --log-lines-total and --run-duration\n', 'exit 255'],
  ],
] as const)
  test(line, async () => assert.deepEqual(await said(line.split(' ')), expected))

test('a part of agnhost that is not known is no program that can be run here', async () => {
  await assert.rejects(said(['/agnhost', 'stress']), UnknownCommand)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../../files/file-store.ts'
import { FileTree } from '../../files/file-tree.ts'
import { inputOf } from '../../shell/input.ts'
import { UnknownCommand } from '../../shell/process.ts'
import { runCommand } from '../../shell/run-command.ts'
import { AGNHOST_COMMANDS, servesHttp, tlsFilesOf } from './agnhost-command.ts'
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
  ['/agnhost pause', ['Paused\n', Infinity]],
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

test('porter listens where its environment says, others where their flags say', () => {
  const environment = [{ name: 'SERVE_PORT_1080' }, { name: 'SERVE_TLS_PORT_443' }]
  const serves = (words: string, port: number): boolean =>
    servesHttp(words.split(' '), port, environment)
  assert.deepEqual(
    [80, 443, 1080].map((port) => serves('/agnhost porter', port)),
    [false, true, true],
  )
  assert.equal(serves('/agnhost webhook', 443), true)
  assert.equal(serves('/agnhost crd-conversion-webhook --port=9443', 9443), true)
  assert.equal(serves('/agnhost netexec', 443), false)
})

for (const [line, port, expected] of [
  ['webhook --tls-cert-file=/c --tls-private-key-file=/k', 443, ['/c', '/k']],
  ['webhook --tls-cert-file=/c --tls-private-key-file=/k', 8443, undefined],
  ['webhook', 443, undefined],
  ['netexec --http-port 1 --tls-cert-file /c', 1, ['/c', '']],
  ['porter', 460, ['/localhost.crt', '/own.key']],
  ['porter', 80, undefined],
  ['guestbook --tls-cert-file=/c', 80, undefined],
] as const)
  test(`TLS of agnhost ${line} at ${port}`, () => {
    const environment = new Map([
      ['SERVE_TLS_PORT_460', 'x'],
      ['SERVE_PORT_80', 'x'],
      ['KEY_FILE', '/own.key'],
    ])
    const found = tlsFilesOf(['/agnhost', ...line.split(' ')], port, environment)
    assert.deepEqual(found && [found.certificate, found.key], expected)
  })

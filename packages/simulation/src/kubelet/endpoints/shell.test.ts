import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from './commands.ts'
import { FileTree } from './file-tree.ts'
import type { Entry, Store } from './file-tree.ts'
import { UnknownCommand, runCommand, streamOf } from './shell.ts'

interface Result {
  readonly exitCode: number
  readonly out: string
  readonly err: string
  readonly slept: readonly number[]
}

function place(root: Store = new Map<string, Entry>([['/tmp', null]])) {
  const config: Store = new Map([['/key', Buffer.from('value')]])
  return new FileTree(root, [{ path: '/etc/conf', store: config, subPath: '', readOnly: true }])
}

async function run(
  words: readonly string[],
  input = '',
  files = place(),
  terminal = false,
): Promise<Result> {
  let out = ''
  let err = ''
  const slept: number[] = []
  const exitCode = await runCommand(
    words,
    {
      stdin: streamOf(Buffer.from(input)),
      out: async (text) =>
        void (out += typeof text === 'string' ? text : Buffer.from(text).toString()),
      err: async (text) => void (err += text),
    },
    {
      commands: COMMANDS,
      files,
      hostname: 'p-0',
      user: { uid: 0, gid: 0 },
      program: 'nginx -g',
      nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5),
      sleep: async (delayMs) => void slept.push(delayMs),
    },
    new Map([['A', 'b c'], ['HOME', '/root'], ...(terminal ? [['TERM', 'xterm'] as const] : [])]),
  )
  return { exitCode, out, err, slept }
}

const script = (text: string, files = place()): Promise<Result> =>
  run(['sh', '-c', text], '', files)

test('single commands', async () => {
  const table: readonly [readonly string[], number, string][] = [
    [['echo', 'a', 'b'], 0, 'a b\n'],
    [['echo', '-n', 'a'], 0, 'a'],
    [['/bin/hostname'], 0, 'p-0\n'],
    [['date', '-u'], 0, 'Fri Jan  2 03:04:05 UTC 2026\n'],
    [['date', '+%F %T'], 0, '2026-01-02 03:04:05\n'],
    [['true'], 0, ''],
    [['false'], 1, ''],
    [['id'], 0, 'uid=0(root) gid=0(root) groups=0(root)\n'],
    [['whoami'], 0, 'root\n'],
    [['pwd'], 0, '/\n'],
    [['printenv', 'A'], 0, 'b c\n'],
    [['printenv', 'NO'], 1, ''],
    [['env', 'X=1', 'printenv', 'X'], 0, '1\n'],
    [['cat', '/etc/conf/key'], 0, 'value'],
    [['ls', '/etc/conf'], 0, 'key\n'],
    [['ls', '/'], 0, 'etc\ntmp\n'],
    [['test', '-d', '/tmp'], 0, ''],
    [['test', '-d', '/etc/conf/key'], 1, ''],
    [['[', '1', '-eq', '1', ']'], 0, ''],
    [
      ['ps'],
      0,
      'PID   USER     TIME  COMMAND\n    1 root      0:00 nginx -g\n    7 root      0:00 ps\n',
    ],
  ]
  for (const [words, exitCode, out] of table) {
    const result = await run(words)
    assert.deepEqual([result.exitCode, result.out], [exitCode, out], words.join(' '))
  }
})

test('sleep asks the clock, refuses what is no time', async () => {
  assert.deepEqual((await run(['sleep', '1.5'])).slept, [1500])
  assert.deepEqual((await run(['sleep', '2m'])).slept, [120_000])
  assert.deepEqual((await run(['sleep', 'infinity'])).slept, [Infinity])
  const wrong = await run(['sleep', 'long'])
  assert.deepEqual([wrong.exitCode, wrong.err], [1, "sleep: invalid number 'long'\n"])
})

test('scripts: quotes, variables, exit codes, lists, pipes, redirections', async () => {
  const table: readonly [string, number, string, string][] = [
    ['echo $A "$A" \'$A\' "${A}x"', 0, 'b c b c $A b cx\n', ''],
    ['X=1; echo $X$NO; X=2 printenv X; echo $X', 0, '1\n2\n1\n', ''],
    ['false; echo $?', 0, '1\n', ''],
    ['false && echo no || echo yes', 0, 'yes\n', ''],
    ['exit 3; echo never', 3, '', ''],
    ['echo a b | wc -w; true # comment', 0, '1 2 4\n', ''],
    ['printenv | grep HOME', 0, 'HOME=/root\n', ''],
    ['echo err >&2', 0, '', 'err\n'],
    ['cat nope 2>&1', 1, "cat: can't open 'nope': No such file or directory\n", ''],
    ['cat nope 2>/dev/null || echo none', 0, 'none\n', ''],
    ['nosuch; echo $?', 0, '127\n', 'sh: nosuch: not found\n'],
    ['cd /tmp && echo x > f && cat < f && pwd', 0, 'x\n/tmp\n', ''],
    ['echo 1 > /tmp/n; echo 2 >> /tmp/n; cat /tmp/n', 0, '1\n2\n', ''],
    ['echo x > /etc/conf/key', 1, '', "sh: can't create /etc/conf/key: Read-only file system\n"],
    ['echo "open', 2, '', 'sh: syntax error: unterminated quoted string\n'],
    [
      'while true; do x; done',
      2,
      '',
      'sh: syntax error: "while" is not known to simulated containers\n',
    ],
    ['echo $(date)', 2, '', 'sh: syntax error: "$(" is not known to simulated containers\n'],
  ]
  for (const [text, exitCode, out, err] of table) {
    const result = await script(text)
    assert.deepEqual([result.exitCode, result.out, result.err], [exitCode, out, err], text)
  }
})

test('files and folders are made, listed and removed', async () => {
  const files = place()
  const said = await script(
    'mkdir -p /tmp/a/b; touch /tmp/a/f; ls /tmp/a; rm -r /tmp/a/b; ls /tmp/a; rm /tmp/a',
    files,
  )
  assert.equal(said.out, 'b\nf\nf\n')
  assert.equal(said.err, "rm: '/tmp/a' is a directory\n")
})

test('what tar packs, tar unpacks: kubectl cp', async () => {
  const files = place()
  await script(
    `mkdir -p /tmp/d/e; echo one > /tmp/d/a; echo ${'x'.repeat(90)} > /tmp/d/e/${'n'.repeat(120)}`,
    files,
  )
  const archive: Uint8Array[] = []
  const common = {
    stdin: streamOf(new Uint8Array(0)),
    err: async () => {},
  }
  const surroundings = {
    commands: COMMANDS,
    files,
    hostname: 'p',
    user: { uid: 0, gid: 0 },
    program: '',
    nowMs: () => 0,
    sleep: async () => {},
  }
  const out = async (bytes: string | Uint8Array): Promise<void> =>
    void archive.push(Buffer.from(bytes as Uint8Array))
  await runCommand(['tar', 'cf', '-', '/tmp/d'], { ...common, out }, surroundings, new Map())
  const stdin = streamOf(Buffer.concat(archive))
  const code = await runCommand(
    ['tar', '-xmf', '-', '-C', '/copy'],
    { ...common, stdin, out: async () => {} },
    surroundings,
    new Map(),
  )
  assert.equal(code, 0)
  assert.equal(
    (await script('cat /copy/tmp/d/a; ls /copy/tmp/d/e', files)).out,
    `one\n${'n'.repeat(120)}\n`,
  )
})

test('a shell reads its lines; with a terminal it echoes, prompts and knows backspace, Ctrl-C and Ctrl-D', async () => {
  const plain = await run(['sh'], 'echo a\nhostname\nexit 4\necho never\n')
  assert.deepEqual([plain.exitCode, plain.out], [4, 'a\np-0\n'])
  const typed = await run(['sh'], 'pwx\x7fd\rjunk\x03\x04', place(), true)
  assert.deepEqual([typed.exitCode, typed.out], [0, '/ # pwx\b \bd\r\n/\r\n/ # junk^C\r\n/ # '])
})

test('a command that nobody knows is told apart from one that fails', async () => {
  await assert.rejects(
    run(['nosuch', 'x']),
    (error) => error instanceof UnknownCommand && error.command === 'nosuch',
  )
})

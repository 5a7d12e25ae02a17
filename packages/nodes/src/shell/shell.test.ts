import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../commands/commands.ts'
import { placeWith } from '../commands/fixtures.ts'
import { FileTree } from '../files/file-tree.ts'
import { FileStore, Quota } from '../files/file-store.ts'
import { Input, inputOf } from './input.ts'
import { UnknownCommand } from './process.ts'
import { runCommand } from './run-command.ts'
import { TAR_END, packEntry } from '../commands/tar.ts'

interface Result {
  readonly exitCode: number
  readonly out: string
  readonly err: string
  readonly slept: readonly number[]
}

function folders(quota?: Quota, ...paths: readonly string[]): FileStore {
  const store = new FileStore(quota)
  for (const path of paths) store.makeFolder(path)
  return store
}

function place(root = folders(undefined, '/tmp')) {
  const config = new FileStore()
  config.set('/key', Buffer.from('value'))
  return new FileTree(root, [{ path: '/etc/conf', store: config, subPath: '', readOnly: true }])
}

async function run(
  words: readonly string[],
  input = '',
  files = place(),
  terminal = false,
  sleep?: (delayMs: number) => Promise<void>,
): Promise<Result> {
  let out = ''
  let err = ''
  const slept: number[] = []
  const exitCode = await runCommand(
    words,
    {
      stdin: inputOf(Buffer.from(input)),
      out: async (text) =>
        void (out += typeof text === 'string' ? text : Buffer.from(text).toString()),
      err: async (text) => void (err += text),
    },
    {
      commands: COMMANDS,
      files,
      hostname: 'p-0',
      user: { uid: 0, gid: 0, groups: [0] },
      program: 'nginx -g',
      nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5),
      sleep: sleep ?? (async (delayMs) => void slept.push(delayMs)),
      yieldIfLong: () => undefined,
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
    [['echo', '-en', 'a\\tb\\n'], 0, 'a\tb\n'],
    [['echo', '-n', '-e', '\\0101\\cx'], 0, 'A'],
    [['echo', '-e', '-E', 'a\\n'], 0, 'a\\n\n'],
    [['echo', '-nx', '-n'], 0, '-nx -n\n'],
    [['echo', '-n'], 0, ''],
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
    [
      ['mount'],
      0,
      'overlay on / type overlay (rw,relatime)\ntmpfs on /etc/conf type tmpfs (ro,relatime)\n',
    ],
    [['mount', '-t', 'overlay'], 0, 'overlay on / type overlay (rw,relatime)\n'],
    [['mount', '/dev/sda', '/mnt'], 1, ''],
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

test('scripts of Jobs: conditions, loops over words, groups, what other scripts print, sums', async () => {
  const once = 'if [[ -r /tmp/seen ]] ; then exit 0 ; else touch /tmp/seen ; exit 1 ; fi'
  const table: readonly [string, number, string, string][] = [
    ['if false; then echo a; elif [ "$A" = b ]; then echo b; else echo c; fi', 0, 'c\n', ''],
    ['if true; then false; fi; echo $?', 0, '1\n', ''],
    ['if false; then echo a; fi; echo $?', 0, '0\n', ''],
    ['if ! test -e /nope\nthen\n  echo none\nfi', 0, 'none\n', ''],
    [
      'mkdir /tmp/l; echo x > /tmp/l/f; mkdir /tmp/l/d; chmod 750 /tmp/l/f; ls -l /tmp/l; rm -r /tmp/l',
      0,
      'drwxr-xr-x    1 root     root          4096 d\n-rwxr-x---    1 root     root             2 f\n',
      '',
    ],
    ['echo foo bar | rev', 0, 'rab oof\n', ''],
    ['rev /etc/conf/key /nope', 1, 'eulav\n', 'rev: /nope: No such file or directory\n'],
    ['echo "A-b c" | tr "[:upper:]" "[:lower:]"', 0, 'a-b c\n', ''],
    ['echo abcxyz | tr a-cx 1-', 0, '1---yz\n', ''],
    ['echo abcde | tr a-d 12', 0, '1222e\n', ''],
    ["printf 'a\\nb\\n' | tr -d '\\n'", 0, 'ab', ''],
    ["echo 'a!b c' | tr -dc 'a-z'", 0, 'abc', ''],
    ["printf 'a!b' | tr -c a-z _", 0, 'a_b', ''],
    ["printf 'a  b  aa' | tr -s ' '", 0, 'a b aa', ''],
    ["printf 'a  bb' | tr -s ' b' ',c'", 0, 'a,c', ''],
    ['echo a | tr a', 1, '', 'usage: tr [-cds] SET1 [SET2]\n'],
    [once, 1, '', ''],
    [`touch /tmp/seen; ${once}`, 0, '', ''],
    ['for x in 1 "2 3" $A; do echo "<$x>"; done', 0, '<1>\n<2 3>\n<b>\n<c>\n', ''],
    [
      'for n in $(seq 2); do for m in $(seq 3 4); do echo $n$m; done; done',
      0,
      '13\n14\n23\n24\n',
      '',
    ],
    ['X=1; (X=2; cd /tmp; pwd; exit 4); echo $? $X $(pwd)', 0, '/tmp\n4 1 /\n', ''],
    ['X=1; { X=2; cd /tmp; }; echo $X $(pwd)', 0, '2 /tmp\n', ''],
    ['echo "at $(echo "a  b" | wc -w) $(cat /etc/conf/key)"', 0, 'at 2 value\n', ''],
    ['X=$(exit 3); echo $?; echo "$(echo $(echo in))"', 0, '3\nin\n', ''],
    ['N=7; exit $(( (N % 4 + 1) * 2 ))', 8, '', ''],
    ['echo $((1+2*3)) $((-7/2)) $((2>1&&1!=1||0)) "$(($N+1))" $((!0))', 0, '7 -3 0 1 1\n', ''],
    [
      'echo $((9223372036854775807+1)) $((3037000500*3037000500))',
      0,
      '-9223372036854775808 -9223372036709301616\n',
      '',
    ],
    [
      'i=-9223372036854775808; echo $((-i)) $((i/-1)) $((-i-1))',
      0,
      '-9223372036854775808 -9223372036854775808 9223372036854775807\n',
      '',
    ],
    [
      'N=99999999999999999999999; echo $((N+1)) $((-N))',
      0,
      '200376420520689664 -200376420520689663\n',
      '',
    ],
    ['i=3; for n in $(seq 100); do i=$((i*i)); done; echo $i', 0, '1\n', ''],
    ['if [ $(expr 5 % 2) -ne 0 ]; then echo odd; fi; expr 2 - 2; echo $?', 0, 'odd\n0\n1\n', ''],
    ['expr a = a; expr a != a', 1, '1\n0\n', ''],
    ['echo ${A:-no} ${NO:-yes it is} ${NO:-}', 0, 'b c yes it is\n', ''],
    ['false; exit', 1, '', ''],
    ['exit 259', 3, '', ''],
    ['! false && echo yes; ! true || echo no', 0, 'yes\nno\n', ''],
    ['echo done fi; echo "if"; : ignored', 0, 'done fi\nif\n', ''],
    ['[ 2 -ge 2 ] && [ 2 -le 2 ] && [ -s /etc/conf/key ] && echo all', 0, 'all\n', ''],
    ['[ 1 -near 2 ]', 2, '', 'sh: 1 -near 2: unknown operand\n'],
    ['expr 1 plus 2', 2, '', 'expr: syntax error\n'],
    ['if true; then echo a', 2, '', 'sh: syntax error: missing "fi"\n'],
    ['echo a; done', 2, '', 'sh: syntax error: unexpected "done"\n'],
    ['for 1 in a; do true; done', 2, '', 'sh: syntax error: bad for loop variable\n'],
    ['echo $(echo a', 2, '', 'sh: syntax error: unterminated "$("\n'],
    ['echo $((1/0))', 2, '', 'sh: arithmetic syntax error: divide by zero\n'],
    [
      'echo $((1 +))',
      2,
      '',
      'sh: arithmetic syntax error: "1 +" is not known to simulated containers\n',
    ],
    ['echo ${A%c}', 2, '', 'sh: syntax error: "${A%c}" is not known to simulated containers\n'],
    ['echo `date', 2, '', 'sh: syntax error: unterminated "`"\n'],
  ]
  for (const [text, exitCode, out, err] of table) {
    const result = await script(text)
    assert.deepEqual([result.exitCode, result.out, result.err], [exitCode, out, err], text)
  }
})

test('sleep asks the clock, refuses what is no time', async () => {
  assert.deepEqual((await run(['sleep', '1.5'])).slept, [1500])
  assert.deepEqual((await run(['sleep', '2m'])).slept, [120_000])
  assert.deepEqual((await run(['sleep', '1d'])).slept, [86_400_000])
  assert.deepEqual((await run(['sleep', '0.5h'])).slept, [1_800_000])
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
    ['echo a \\\n  b\\\nc "d\\\ne" \'f\\\ng\' # h \\\necho i', 0, 'a bc de f\\\ng\ni\n', ''],
    ['true \\\n&& echo on\\', 0, 'on\\\n', ''],
    ['echo a b | wc -w; true # comment', 0, '2\n', ''],
    ['echo a b | wc; echo a b | wc -lc', 0, '1 2 4\n1 4\n', ''],
    ['printenv | grep HOME', 0, 'HOME=/root\n', ''],
    ['echo err >&2', 0, '', 'err\n'],
    ['cat nope 2>&1', 1, "cat: can't open 'nope': No such file or directory\n", ''],
    ['cat nope 2>/dev/null || echo none', 0, 'none\n', ''],
    ['nosuch; echo $?', 0, '127\n', 'sh: nosuch: not found\n'],
    ['cd /tmp && echo x > f && cat < f && pwd', 0, 'x\n/tmp\n', ''],
    ['echo 1 > /tmp/n; echo 2 >> /tmp/n; cat /tmp/n', 0, '1\n2\n', ''],
    ['echo x > /etc/conf/key', 1, '', "sh: can't create /etc/conf/key: Read-only file system\n"],
    [
      'echo x >&2 > /etc/conf/key',
      1,
      '',
      "sh: can't create /etc/conf/key: Read-only file system\n",
    ],
    [
      `/bin/sh -c '> /etc/conf/key'`,
      1,
      '',
      "/bin/sh: can't create /etc/conf/key: Read-only file system\n",
    ],
    [`bash -c 'nope'; sh -c nope me`, 127, '', 'bash: nope: not found\nme: nope: not found\n'],
    ['echo "open', 2, '', 'sh: syntax error: unterminated quoted string\n'],
    ['i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; echo $?', 0, '0\n1\n2\n0\n', ''],
    ['until true; do echo never; done; echo $?', 0, '0\n', ''],
    ['i=0; until [ $i = 2 ]\ndo i=$((i+1)); false; done', 1, '', ''],
    ['while true; do echo a; break; echo b; done; echo c', 0, 'a\nc\n', ''],
    ['for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; echo $i; done', 0, '1\n3\n', ''],
    ['for i in 1 2; do while :; do echo $i; continue 2; done; done', 0, '1\n2\n', ''],
    ['while :; do for i in 1 2; do break 5; done; done; echo out', 0, 'out\n', ''],
    ['while :; do sh -c "break; echo in"; break; done', 0, 'in\n', ''],
    ['break; echo on', 0, 'on\n', ''],
    ['cd /tmp; mkdir -p a/b; touch a/f.txt a/b/g; find a', 0, 'a\na/b\na/b/g\na/f.txt\n', ''],
    ['mkdir -p /tmp/a/b; touch /tmp/a/f; find /tmp/a/ -type f', 0, '/tmp/a/f\n', ''],
    ['mkdir -p /tmp/a/b; touch /tmp/a/f; find /tmp/a -type d', 0, '/tmp/a\n/tmp/a/b\n', ''],
    ['touch /tmp/a+.txt /tmp/aa.txt; find / -name "a+.t?*"', 0, '/tmp/a+.txt\n', ''],
    ['mkdir -p /tmp/a/b; cd /tmp; find -maxdepth 1 -print', 0, '.\n./a\n', ''],
    ['find /etc/conf/key /no', 1, '/etc/conf/key\n', 'find: /no: No such file or directory\n'],
    ['find . -newer x', 1, '', 'find: unrecognized: -newer\n'],
    ['while false; do x; done; echo $?', 0, '0\n', ''],
    ['while true; do (exit 3); exit; done', 3, '', ''],
    ['while true; do x', 2, '', 'sh: syntax error: missing "done"\n'],
    ['seq 3 > /tmp/n; while read n; do echo -n $n; done < /tmp/n', 0, '123', ''],
    ['for i in a b; do echo $i; done > /tmp/x; cat /tmp/x', 0, 'a\nb\n', ''],
    ['{ echo a; nosuch; } > /tmp/x 2>&1; cat /tmp/x', 0, 'a\nsh: nosuch: not found\n', ''],
    ['if true; then echo a; fi >> /tmp/y; (cat) < /tmp/y', 0, 'a\n', ''],
    [
      'while true; do x; done < /nosuch',
      1,
      '',
      "sh: can't open /nosuch: No such file or directory\n",
    ],
    ['case abc in a*) echo yes;; *) echo no;; esac', 0, 'yes\n', ''],
    ['case $A in\n  x | b*)\n    echo yes\n    ;;\nesac; echo after', 0, 'yes\nafter\n', ''],
    ['case a in (b) echo b;; ("*") echo star;; ?) echo one; esac', 0, 'one\n', ''],
    ['case a in b) false;; esac', 0, '', ''],
    ['for i in 1 2 3; do case $i in 2) continue;; esac; echo $i; done', 0, '1\n3\n', ''],
    [
      'X="a*"; case "a*b" in "$X"*) echo text;; esac; case aab in $X) echo glob;; esac',
      0,
      'text\nglob\n',
      '',
    ],
    ['case a in a) exit 4;; esac', 4, '', ''],
    ['case a in a) echo', 2, '', 'sh: syntax error: missing ";;"\n'],
    [
      'X=$(printf "a\\nb  c"); Y=$X; echo "$Y"; Y=$(echo " a   b"); echo "[$Y]"',
      0,
      'a\nb  c\n[ a   b]\n',
      '',
    ],
    [
      'X="a  b"; case $X in "a  b") echo one;; esac; case "a  b" in $X) echo same;; esac',
      0,
      'one\nsame\n',
      '',
    ],
    ['X="/tmp/a  b"; echo hi > $X; cat "$X"; cat < $X', 0, 'hi\nhi\n', ''],
    [
      'X=" b c "; echo x$X"y" $X; printf "<%s>" "$X"$X; N=; echo [$N] $N ""x$N',
      0,
      'x b c y b c\n< b c ><b><c>[] x\n',
      '',
    ],
    ['false &&\necho a\ntrue ||\n\necho b; echo c |\n cat', 0, 'c\n', ''],
    ['true &&', 2, '', 'sh: syntax error: unexpected "end of file"\n'],
    ['true && ; echo', 2, '', 'sh: syntax error: unexpected ";"\n'],
    ['&& echo', 2, '', 'sh: syntax error: unexpected "&&"\n'],
    ['if true | then echo; fi', 2, '', 'sh: syntax error: unexpected "then"\n'],
    ['case a b', 2, '', 'sh: syntax error: missing "in"\n'],
    ['echo "if" \\if; "if" || echo none', 0, 'if if\nnone\n', 'sh: if: not found\n'],
    [
      'cd /tmp; touch a.1 b.1 .c.1; echo *.1 ".*" "*.1" \\*.1 no*',
      0,
      'a.1 b.1 .* *.1 *.1 no*\n',
      '',
    ],
    [
      'touch /tmp/a.1 /tmp/b.1; for f in /tmp/?.1; do echo $f; done; rm /tmp/*; ls /tmp',
      0,
      '/tmp/a.1\n/tmp/b.1\n',
      '',
    ],
    [
      'X="/tmp/*"; touch /tmp/a; echo $X "$X"; Y=/tmp/*; echo "$Y"',
      0,
      '/tmp/a /tmp/*\n/tmp/*\n',
      '',
    ],
  ]
  for (const [text, exitCode, out, err] of table) {
    const result = await script(text)
    assert.deepEqual([result.exitCode, result.out, result.err], [exitCode, out, err], text)
  }
})

test('a loop that never waits takes its time only after many rounds; one that waits goes on', async () => {
  class Stopped extends Error {}
  const go = async (text: string, rounds: number): Promise<readonly number[]> => {
    const slept: number[] = []
    const sleep = async (delayMs: number): Promise<void> => {
      slept.push(delayMs)
      if (slept.length === rounds) throw new Stopped()
    }
    await assert.rejects(run(['sh', '-c', text], '', place(), false, sleep), Stopped)
    return slept
  }
  assert.deepEqual(await go('while true; do :; done', 1), [Infinity])
  assert.deepEqual(new Set(await go('while sleep 1; do :; done', 20_000)), new Set([1_000]))
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
    `mkdir -p /tmp/d/e /copy; echo one > /tmp/d/a; echo ${'x'.repeat(90)} > /tmp/d/e/${'n'.repeat(120)}`,
    files,
  )
  const archive: Uint8Array[] = []
  const common = {
    stdin: inputOf(new Uint8Array(0)),
    err: async () => {},
  }
  const surroundings = placeWith(files)
  const out = async (bytes: string | Uint8Array): Promise<void> =>
    void archive.push(Buffer.from(bytes as Uint8Array))
  await runCommand(['tar', 'cf', '-', '/tmp/d'], { ...common, out }, surroundings, new Map())
  const stdin = inputOf(Buffer.concat(archive))
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

const PLAIN_FILE = { kind: 'file', target: '', mode: 0o644, uid: 0, gid: 0, timeMs: 0 } as const

/** `count` files in folders of a hundred. */
function archiveOf(count: number, bytes: Uint8Array): Uint8Array {
  const parts = Array.from({ length: count }, (_, i) =>
    packEntry({ ...PLAIN_FILE, name: `d${Math.floor(i / 100)}/f${i}` }, bytes),
  )
  return Buffer.concat([...parts, TAR_END])
}

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function unpack(
  archive: AsyncIterable<Uint8Array>,
  files: FileTree,
): Promise<{ exitCode: number; err: string }> {
  let err = ''
  const streams = {
    stdin: new Input(archive),
    out: async () => {},
    err: async (text: string) => void (err += text),
  }
  const words = ['tar', '-xmf', '-', '-C', '/tmp']
  return { exitCode: await runCommand(words, streams, placeWith(files), new Map()), err }
}

test('an archive comes in any cut', async () => {
  const archive = archiveOf(3, Buffer.from('hello'))
  for (const size of [1, 100, 511, 512, 513, 1_000_000]) {
    const files = place()
    assert.deepEqual(await unpack(cut(archive, size), files), { exitCode: 0, err: '' })
    assert.equal(Buffer.from(await files.read('/tmp/d0/f2')).toString(), 'hello', `${size}`)
  }
  const broken = await unpack(cut(archive.subarray(0, 700), 100), place())
  assert.deepEqual(broken, { exitCode: 1, err: 'tar: unexpected end of archive\n' })
})

test('the cost of a file does not grow with the number of files', async () => {
  const secondsFor = async (count: number): Promise<number> => {
    const archive = archiveOf(count, Buffer.from('x'))
    const files = place()
    const before = process.cpuUsage()
    await unpack(cut(archive, 65_536), files)
    const { user, system } = process.cpuUsage(before)
    assert.equal(files.list('/tmp').length, count / 100)
    return (user + system) / 1e6
  }
  await secondsFor(1_000)
  // 24,000 files took 90 s when each looked at all others.
  assert.ok((await secondsFor(24_000)) < 5)
})

test('what commands write has a limit, which removing gives back', async () => {
  const quota = new Quota(100_000)
  const files = place(folders(quota, '/tmp'))
  const large = archiveOf(1, Buffer.alloc(90_000))
  assert.equal((await unpack(cut(large, 4096), files)).exitCode, 0)
  const second = archiveOf(200, Buffer.alloc(90_000))
  const refused = await unpack(cut(second, 4096), files)
  assert.deepEqual(refused, { exitCode: 1, err: 'tar: No space left on device\n' })
  const table: readonly [string, string][] = [
    [`echo ${'x'.repeat(20_000)} > /tmp/f`, 'echo: No space left on device\n'],
    [`echo ${'x'.repeat(20_000)} | tee /tmp/f`, 'tee: No space left on device\n'],
  ]
  for (const [text, said] of table) assert.equal((await script(text, files)).err, said, text)
  const after = await script(`rm -r /tmp/d0; echo ${'x'.repeat(20_000)} > /tmp/f; echo ok`, files)
  assert.deepEqual([after.out, after.err], ['ok\n', ''])
})

test('tools of lines read the files that are named, and say which they cannot', async () => {
  const table: readonly [string, number, string, string][] = [
    ['wc -c /etc/conf/key', 0, '5 /etc/conf/key\n', ''],
    ['cd /tmp; wc -l a b', 0, '3 a\n1 b\n4 total\n', ''],
    ['wc /nosuch', 1, '', 'wc: /nosuch: No such file or directory\n'],
    ['head -n 1 /tmp/a', 0, 'one\n', ''],
    ['head -2 /tmp/a', 0, 'one\nTwo\n', ''],
    ['cd /tmp; head -n1 a b', 0, '==> a <==\none\n==> b <==\nfour\n', ''],
    ['head /nosuch', 1, '', 'head: /nosuch: No such file or directory\n'],
    ['head /dev/null; cat /dev/null', 0, '', ''],
    ['tail -n 1 /tmp/a', 0, 'three\n', ''],
    ['tail -n 0 /tmp/a', 0, '', ''],
    ['tail /nosuch; echo $?', 0, '1\n', 'tail: /nosuch: No such file or directory\n'],
    ['grep one /tmp/a', 0, 'one\n', ''],
    ['grep -q one /tmp/a', 0, '', ''],
    ['grep -q six /tmp/a', 1, '', ''],
    ['grep -i two /tmp/a', 0, 'Two\n', ''],
    ['grep -v o /tmp/a', 0, 'three\n', ''],
    ['grep -c e /tmp/a', 0, '2\n', ''],
    ['grep -n three /tmp/a', 0, '3:three\n', ''],
    ['grep ^t /tmp/a', 0, 'three\n', ''],
    ["grep 'o$' /tmp/a; grep '^one$' /tmp/a", 0, 'Two\none\n', ''],
    ['cd /tmp; grep o a b', 0, 'a:one\na:Two\nb:four\n', ''],
    ['cd /tmp; grep four b nosuch', 2, 'b:four\n', 'grep: nosuch: No such file or directory\n'],
    ['cat /tmp/a | grep -ci TWO -', 0, '1\n', ''],
  ]
  const files = place()
  await script('cd /tmp; echo one > a; echo Two >> a; echo three >> a; echo four > b', files)
  for (const [text, exitCode, out, err] of table) {
    const result = await script(text, files)
    assert.deepEqual([result.exitCode, result.out, result.err], [exitCode, out, err], text)
  }
})

test('an endless input is not gathered', async () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    const megabyte = Buffer.alloc(1_048_576)
    for (;;) yield megabyte
  }
  for (const words of [['grep', 'x'], ['tee'], ['head'], ['sh', '-c', 'cat | wc'], ['sh']]) {
    let err = ''
    const streams = {
      stdin: new Input(endless()),
      out: async () => {},
      err: async (text: string) => void (err += text),
    }
    await runCommand(words, streams, placeWith(place()), new Map())
    assert.ok(/No space left|too long/.test(err), `${words.join(' ')}: ${err}`)
  }
})

test('tail -f waits for ever, tail does not', async () => {
  assert.deepEqual((await script('tail -f /dev/null')).slept, [Infinity])
  assert.deepEqual((await script('tail -F')).slept, [Infinity])
  assert.deepEqual((await script('echo a | tail -n 1')).slept, [])
})

test('options of sh: -e ends with the first failure that nobody asks for, -x shows, pipefail counts every command', async () => {
  const table: readonly [readonly string[], number, string, string][] = [
    [['sh', '-x', '-c', 'hostname'], 0, 'p-0\n', '+ hostname\n'],
    [['sh', '-ec', 'false; echo no'], 1, '', ''],
    [['sh', '-c', 'set -e; false; echo no'], 1, '', ''],
    [['sh', '-c', 'set -e; set +e; false; echo yes'], 0, 'yes\n', ''],
    [['sh', '-e', '-c', 'false || echo a; if false; then :; fi; ! true; echo b'], 0, 'a\nb\n', ''],
    [['sh', '-ec', 'true && false; echo no'], 1, '', ''],
    [['sh', '-ec', 'while false; do :; done; until true; do :; done; echo on'], 0, 'on\n', ''],
    [['sh', '-ec', 'while true; do false; echo no; done'], 1, '', ''],
    [['sh', '-ec', 'if (false; echo in) ; then echo c; fi; (exit 3); echo no'], 3, 'in\nc\n', ''],
    [['sh', '-c', 'false | true'], 0, '', ''],
    [['sh', '-c', '(set -e; false); echo on'], 0, 'on\n', ''],
    [['sh', '-uc', 'echo ${N:-or}; echo $N; echo no'], 2, 'or\n', 'sh: N: parameter not set\n'],
    [['sh', '-c', 'E=; echo "${E:-a}${E-b}${A:+c}${E:+d}${E+e}${NO-f}"'], 0, 'acef\n', ''],
    [['sh', '-c', "sh -c 'exit 3'; echo $?"], 0, '3\n', ''],
    [['sh', '-c', 'sh -ec "cd /tmp; false"; pwd'], 0, '/\n', ''],
    [['bash', '-euo', 'pipefail', '-c', 'false | true; echo no'], 1, '', ''],
    [
      ['sh', '-c', 'echo "${A:?}"; echo ${NOPE:?is missing}; echo no'],
      2,
      'b c\n',
      'sh: NOPE: is missing\n',
    ],
  ]
  for (const [words, exitCode, out, err] of table) {
    const result = await run(words)
    assert.deepEqual(
      [result.exitCode, result.out, result.err],
      [exitCode, out, err],
      words.join(' '),
    )
  }
})

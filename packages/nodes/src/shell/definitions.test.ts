import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turns } from 'node:timers/promises'
import { placeWith } from '../commands/fixtures.ts'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from './input.ts'
import type { TrapHandler } from './process.ts'
import { runCommand } from './run-command.ts'

interface Result {
  readonly said: string
  /** What the program does when it is asked to end. */
  readonly trap: TrapHandler | undefined
}

async function run(
  words: readonly string[],
  sleep: (delayMs: number) => Promise<void> = async () => {},
  trapped: (handler: TrapHandler | undefined) => void = () => {},
): Promise<Result> {
  let said = ''
  let trap: TrapHandler | undefined
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (said += typeof text === 'string' ? text : Buffer.from(text).toString())
  const place = {
    ...placeWith(new FileTree(new FileStore(), [])),
    sleep,
    onTrap(handler: TrapHandler | undefined) {
      trap = handler
      trapped(handler)
    },
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const exitCode = await runCommand(words, streams, place, new Map())
  return { said: exitCode === 0 ? said : `${said}(${exitCode})`, trap }
}

for (const [script, expected] of [
  ['f() { echo in $1; }; f a; f b', 'in a\nin b\n'],
  ['f(){\n echo "$#: $2"\n}\nf a "b c"', '2: b c\n'],
  ['function f { echo f; }; f', 'f\n'],
  ['function f() { echo f; }; f | cat', 'f\n'],
  ['f() ( cd /; A=1 ); f; echo "[$A]"', '[]\n'],
  ['f() { A=1; local B=2; echo "$A$B"; }; B=3; f; echo "$A$B"', '12\n13\n'],
  // Unset again, in each call anew, and seen by what is called.
  [
    'f() { local A=$1 A=$1$1; g; }; g() { echo "<$A>"; A=g; }; f x; f y; echo "[${A-unset}]"',
    '<xx>\n<yy>\n[unset]\n',
  ],
  ['f() { local n=$1; [ $n = 0 ] || f $((n-1)); echo $n; }; f 2', '0\n1\n2\n'],
  ['f() { local A=1; return 3; }; A=0; f; echo $? $A', '3 0\n'],
  ['f() { (local A=1); echo "[$A]"; }; A=0; f; local B=2; echo $B', '[0]\n2\n'],
  ['f() { return 3; echo no; }; f; echo $?', '3\n'],
  ['f() { false; return; }; f || echo failed', 'failed\n'],
  ['f() { for a in 1 2; do return 4; done; }; f; echo $?', '4\n'],
  ['for a in 1 2; do f() { break; echo no; }; f; done; echo $a', 'no\nno\n2\n'],
  ['f() { exit 5; }; f; echo no', '(5)'],
  ['f() { echo outer; }; (f() { echo inner; }; f); f', 'inner\nouter\n'],
  ['echo() { printf "own %s" "$1"; }; echo x', 'own x'],
  ['f() { shift; echo "$1" $#; shift 2 || echo short; }; f a b', 'b 1\nshort\n'],
  ['f() { g "$@"; }; g() { echo $#; }; f "a b" c; f', '2\n0\n'],
  ['f() { for a in "$@"; do echo "<$a>"; done; }; f "a b" ""', '<a b>\n<>\n'],
  ['f() { echo "$*" ${1:-none} ${2-none} $0; }; f a', 'a a none sh\n'],
  ['f() { f; }; f', 'sh: f: too many functions within one another\n(2)'],
  ['1() { :; }', 'sh: syntax error: bad function name\n(2)'],
  ['return 6; echo no', '(6)'],
  ['echo `echo a b`-"`echo "c  d"`"', 'a b-c  d\n'],
  ['echo `echo \\`echo x\\``', 'x\n'],
  ["trap 'echo bye' EXIT; echo hi", 'hi\nbye\n'],
  ["trap 'echo bye' 0; exit 3", 'bye\n(3)'],
  ["trap 'exit 4' EXIT; exit 3", '(4)'],
  ["trap 'echo bye' EXIT; trap - EXIT; echo hi", 'hi\n'],
  ["(trap 'echo inner' EXIT; echo in); trap 'echo $A' EXIT; A=late", 'in\ninner\nlate\n'],
  ["trap 'echo outer' EXIT; (echo in); { trap 'echo $?' EXIT; exit 3; } | cat", 'in\n3\nouter\n'],
  ["X=$(trap 'echo b' EXIT; echo a); echo $X; (trap 'exit 4' EXIT); echo $?", 'a b\n4\n'],
] as const)
  test(script, async () => {
    const { said } = await run(['sh', '-c', script])
    assert.equal(said, expected)
  })

for (const [script, expected] of [
  ["printf 'a\\nb\\n' | while read l; do exit 4; done; echo $?; exit 7", '4\n(7)'],
  ['N=0; seq 3 | while read n; do N=$n; done; echo $N', '0\n'],
  ['X=1; { X=2; } | cat; echo a | X=3; echo $X', '1\n'],
  ['cd / | cat; mkdir /d; cd /d; cd / | pwd; pwd', '/d\n/d\n'],
  ['exit 3 | cat; echo $?; set -e | cat; false; echo on', '0\non\n'],
  ['f() { echo a | return 4; echo $?; (return 5); echo $?; }; f', '4\n5\n'],
  ['while true; do echo a | break; echo on; break; done', 'on\n'],
  ['set -e; echo a | { read x; exit 5; }; echo no', '(5)'],
  ['set -o pipefail; { exit 3; } | true; echo $?', '3\n'],
] as const)
  test(script, async () => assert.equal((await run(['sh', '-c', script])).said, expected))

test('a job that is named is waited for alone', async () => {
  const script = 'sleep 9 & sleep 2 & wait $!; echo $?'
  const ends = new Map<number, () => void>()
  const done = run(['sh', '-c', script], (delayMs) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(delayMs, resolve)
    return promise
  })
  let said = ''
  const over = done.then((result) => (said = result.said))
  await turns()
  ends.get(2_000)?.()
  await turns()
  assert.equal(said, '0\n')
  ends.get(9_000)?.()
  await over
})

for (const [script, expected] of [
  ['sleep 3 & echo now; wait; echo later', 'now\nlater\n'],
  ['false & echo $?; wait; echo $?', '0\n0\n'],
  ['echo a & wait $!; echo b', 'a\nb\n'],
  ['A=1; A=2 & wait; echo $A; exit 4 & wait; echo on', '1\non\n'],
  ['echo "[$!]"; sleep 1 & echo $!', '[]\n8\n'],
  ['true && sleep 1 & exit 3', '(3)'],
  ['A=1 && B=2 & wait; echo "[$A$B]"; C=1; ! true || C=2 & wait; echo $C', '[]\n1\n'],
  ['false && sleep 1 & wait $!; echo $?; A=1; false || exit 4 & wait $!; echo $? $A', '1\n4 1\n'],
  ['true & & echo', 'sh: syntax error: unexpected "&"\n(2)'],
  ['f() { sleep 1 & }; f; wait; echo done', 'done\n'],
  ['& echo', 'sh: syntax error: unexpected "&"\n(2)'],
  ['(exit 3) & wait $!; echo $?', '3\n'],
  ['exit 2 & A=$!; exit 4 & wait $! $A; echo $?; wait; echo $?; wait $A; echo $?', '2\n0\n2\n'],
  ['false & X=$(echo $!); echo $! $X | { read a b; echo $a $b; }', '8 8\n'],
  ['(true & echo $!; true & echo $!); true & echo $!', '8\n9\n10\n'],
  ['true & A=$!; (wait $A; echo $?); wait 99; echo $?', '127\n127\n'],
  ['true & wait %1; echo $?', 'sh: wait: %1: not known to simulated containers\n2\n'],
  ['nosuch & wait; echo on', 'sh: nosuch: not found\non\n'],
] as const)
  test(script, async () => assert.equal((await run(['sh', '-c', script])).said, expected))

test('parameters of a script', async () => {
  assert.equal((await run(['sh', '-c', 'echo $1 $#', 'name', 'a', 'b'])).said, 'a 2\n')
  const script = "echo 'echo $1 $#' > /s; sh /s x; sh /s"
  assert.equal((await run(['sh', '-c', script])).said, 'x 1\n0\n')
})

test('what a program does when it is asked to end', async () => {
  const slept: number[] = []
  const ended = async (script: string): Promise<number | undefined> => {
    const { trap } = await run(['sh', '-c', script])
    return trap?.(async (delayMs) => void slept.push(delayMs))
  }
  assert.equal(await ended('term() { sleep 5; exit 143; }; trap term SIGTERM; sleep 1'), 143)
  assert.deepEqual(slept, [5_000])
  assert.equal(await ended('trap "exit 2" TERM INT'), 2)
  assert.equal(await ended('trap "exit 2" 15'), 2)
  assert.equal(await ended('trap "echo noted" TERM'), undefined)
  assert.equal(await ended("A=7; trap 'exit $A' TERM; A=8"), 8)
  for (const script of ['trap "exit 2" INT', 'trap x TERM; trap - TERM', '(trap "exit 2" TERM)'])
    assert.equal((await run(['sh', '-c', script])).trap, undefined)
})

for (const [what, script, said, handled] of [
  ['between two commands', 'sleep 5; echo next', 'caught\nnext\n', undefined],
  [
    'in a pipe, as a whole',
    '{ sleep 5; echo in; } | cat; echo next',
    'in\ncaught\nnext\n',
    undefined,
  ],
  ['in a substitution', 'echo $(sleep 5; echo in) next', 'caught\nin next\n', undefined],
  [
    'in a function and a loop',
    'f() { for i in 1 2; do sleep 5; echo $i; done; }; f',
    'caught\n1\n2\n',
    undefined,
  ],
  [
    'before it goes on with what was set',
    'sleep 5; [ "$X" ] && echo "X=$X"',
    'caught\nX=1\n',
    undefined,
  ],
  ['and may end the script', "trap 'exit 4' TERM; sleep 5; echo next", '(4)', 4],
  ['but at once where it waits for jobs', 'sleep 5 & wait; echo $?', 'caught\n143\n', undefined],
] as const)
  test(`a signal is handled when the command in the foreground is over: ${what}`, async () => {
    const sleeping = Promise.withResolvers<void>()
    const ends: (() => void)[] = []
    let trap: TrapHandler | undefined
    const done = run(
      ['sh', '-c', `trap 'X=1; echo caught' TERM; ${script}`],
      () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.push(resolve)
        sleeping.resolve()
        return ends.length > 1 ? Promise.resolve() : promise
      },
      (handler) => (trap = handler),
    )
    await sleeping.promise
    const outcome = trap!(async () => {})
    await turns()
    ends[0]!()
    assert.equal((await done).said, said)
    assert.equal(await outcome, handled)
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { Input } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'
import { placeWith } from './fixtures.ts'

async function* pieces(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

/** An exit code other than 0 stands behind it in brackets. */
async function said(
  words: readonly string[],
  input: readonly string[],
  terminal = false,
): Promise<string> {
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
  const streams = { stdin: new Input(pieces(input)), out: add, err: add }
  const environment = new Map(terminal ? [['TERM', 'xterm']] : [])
  const place = placeWith(new FileTree(new FileStore(), []))
  const exitCode = await runCommand(words, streams, place, environment)
  return exitCode === 0 ? all : `${all}(${exitCode})`
}

for (const [script, expected] of [
  [
    'if true; then\n  echo yes\nelse\n  echo no\nfi\nfor i in 1 2\ndo\n  echo $i\ndone\n',
    'yes\n1\n2\n',
  ],
  [
    'f() {\n  echo in $1\n}\nf a\ncase x in\n  y) echo y\n  ;;\n  x)\n    echo x\nesac\n',
    'in a\nx\n',
  ],
  ['echo \'a\nb\' "c\nd" $(echo e\necho f) `echo g\n` \\\nh\n', 'a\nb c\nd e f g h\n'],
  ['false &&\n  echo never\ntrue |\n\n  cat\nfalse ||\n# why\n  echo or\n', 'or\n'],
  ['cat <<EOF\na\n\nEOF\ncat <<-"E" | cat\n\tb$c\n\tE\necho on\n', 'a\n\nb$c\non\n'],
  ['read x\nhello\necho "[$x]"\ncat\nthe rest\necho never\n', '[hello]\nthe rest\necho never\n'],
  ['while read n; do echo $n\ndone <<E\n1\n2\nE\ncat &\nwait\necho on\n', '1\n2\non\n'],
  ['echo a\ndone\necho never\n', 'a\nsh: syntax error: unexpected "done"\n(2)'],
  ['echo a\nif true; then\n  echo b\n', 'a\nsh: syntax error: missing "fi"\n(2)'],
  ["echo a\necho 'b\necho c\n", 'a\nsh: syntax error: unterminated quoted string\n(2)'],
  ['echo a; echo $((1/0))\necho never\n', 'a\nsh: arithmetic syntax error: divide by zero\n(2)'],
  ['cat <<E\nx', 'x'],
  ['trap "echo bye" EXIT\necho hi\n', 'hi\nbye\n'],
  ['trap "echo bye" EXIT\n(exit 3)\nexit\n', 'bye\n(3)'],
  ['set -e\nfalse\necho never\n', '(1)'],
  ['false\n\n# nothing\n', '(1)'],
  ['echo a\nno break; echo $?', 'a\nsh: no: not found\n127\n'],
] as const)
  test(`on its input: ${script}`, async () => {
    assert.equal(await said(['sh'], [script]), expected)
    assert.equal(await said(['sh'], [...script]), expected, 'char by char')
  })

test('parameters of a script on the input', async () => {
  for (const words of [
    ['sh', '-s', 'a', 'b c'],
    ['bash', '-s', '--', 'a', 'b c'],
    ['sh', '-es', 'a', 'b c'],
  ])
    assert.equal(await said(words, ['echo "$1-$2" $#\n']), 'a-b c 2\n', words.join(' '))
  assert.equal(await said(['sh', '-s'], ['echo $#\n']), '0\n')
  assert.equal(await said(['bash'], ['nosuch\n']), 'bash: nosuch: not found\n(127)')
})

test('with a terminal', async () => {
  const typed = (...input: readonly string[]): Promise<string> => said(['sh'], input, true)
  assert.equal(
    await typed('if true\rthen echo yes\rfi\r\x04'),
    '/ # if true\r\n> then echo yes\r\n> fi\r\nyes\r\n/ # ',
  )
  assert.equal(
    await typed('if true\r\x04false\rexit\r'),
    '/ # if true\r\n> sh: syntax error: missing "then"\r\n/ # false\r\n/ # exit\r\n(1)',
  )
  assert.equal(
    await typed('echo "a\r\x03echo $?\r\x04'),
    '/ # echo "a\r\n> ^C\r\n/ # echo $?\r\n0\r\n/ # ',
  )
  assert.equal(
    await typed('read x\rhi\recho $x\r\x04'),
    '/ # read x\r\nhi\r\n/ # echo $x\r\nhi\r\n/ # ',
  )
  assert.equal(
    await typed('cat\ra\r\x04cat\rb\x03echo $?\r\x04'),
    '/ # cat\r\na\r\na\r\n/ # cat\r\nb^C\r\n/ # echo $?\r\n130\r\n/ # ',
  )
  assert.equal(
    await typed('sh\recho a\r\x04trap "echo bye" EXIT\r\x04'),
    '/ # sh\r\n/ # echo a\r\na\r\n/ # / # trap "echo bye" EXIT\r\n/ # bye\r\n',
  )
})

test('a long command on the input costs no more than a few of its readings', async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`)
  const choices = lines.slice(0, 5_000).map((line) => `  "${line}") : \${A} ;;`)
  const text = `f() {\ncase a in\n${choices.join('\n')}\nesac\n}\ncat <<EOF | wc -l\n${lines.join('\n')}\nEOF\nif true; then\n${lines.map((line) => `: ${line}`).join('\n')}\nfi\necho on\n`
  const before = process.cpuUsage()
  assert.equal(await said(['sh'], [text]), '20000\non\n')
  const { user, system } = process.cpuUsage(before)
  assert.ok((user + system) / 1e6 < 5)
})

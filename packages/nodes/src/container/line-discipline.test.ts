import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typedLines } from './line-discipline.ts'

async function typed(...chunks: readonly string[]) {
  let shown = ''
  const lines: string[] = []
  const input = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  })()
  const show = async (text: string): Promise<void> => void (shown += text)
  for await (const line of typedLines(input, show)) lines.push(Buffer.from(line).toString())
  return { shown, lines }
}

for (const [title, chunks, expected] of [
  ['lines end with Return, and are shown', ['a', 'b\r'], { shown: 'ab\r\n', lines: ['ab\n'] }],
  ['Backspace takes back', ['ax\x7f\x7f\x7fb\r'], { shown: 'ax\b \b\b \bb\r\n', lines: ['b\n'] }],
  ['Ctrl-D on an empty line is the end', ['a\r\x04b\r'], { shown: 'a\r\n', lines: ['a\n'] }],
  ['Ctrl-D after something hands it on', ['a\x04b\r'], { shown: 'ab\r\n', lines: ['a', 'b\n'] }],
  ['what is left when the terminal goes counts', ['a'], { shown: 'a', lines: ['a'] }],
] as const)
  test(title, async () => assert.deepEqual(await typed(...chunks), expected))

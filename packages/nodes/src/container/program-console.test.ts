import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '@gyropilot/foundation'
import { ProgramConsole } from './program-console.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

async function line({ input }: ProgramConsole): Promise<string> {
  return (await input.line(100, () => new Error('too long'))).text
}

test('what is typed reaches the program, and closing ends its input', async () => {
  const console = new ProgramConsole(0, () => 0)
  await console.type(bytes('a\nb'))
  console.close()
  await console.type(bytes('nobody hears'))
  assert.deepEqual([await line(console), await line(console), await line(console)], ['a', 'b', ''])
})

test('what it says has the time of the run in its log, a line that it is saying when that ends', async () => {
  let nowMs = 1_000
  const console = new ProgramConsole(1_000, () => nowMs)
  const line = (atMs: number, text: string) => ({ atMs, text, stream: 'stdout' })
  await console.print(bytes('one\ntw'))
  nowMs = 3_000
  assert.deepEqual(console.lines, [line(0, 'one')])
  assert.equal(console.unfinishedLine, 'tw')
  await console.print(bytes('o\nthree'))
  assert.deepEqual(console.lines, [line(0, 'one'), line(2_000, 'two')])
  console.end()
  assert.deepEqual(console.lines.at(-1), line(2_000, 'three'))
})

test('who listens hears what is said from then on, and waits for nobody else', async () => {
  const console = new ProgramConsole(0, () => 0)
  const heard: string[] = []
  await console.print(bytes('before'))
  const leave = console.listen(async (said) => void heard.push(Buffer.from(said).toString()))
  await console.print(bytes('meanwhile'))
  leave()
  await console.print(bytes('after'))
  assert.deepEqual(heard, ['meanwhile'])
})

test('all is read when the program asks for more, or when it is over', async () => {
  const console = new ProgramConsole(0, () => 0)
  const reached: string[] = []
  const reach = (what: string) => (): void => void reached.push(what)
  await console.type(bytes('a\n'))
  void console.allRead().then(reach('read'))
  assert.equal(await line(console), 'a')
  await settle()
  assert.deepEqual(reached, [])
  const next = line(console)
  await settle()
  assert.deepEqual(reached, ['read'])
  await console.type(bytes('b'))
  void console.allRead().then(reach('over'))
  await settle()
  console.end()
  await settle()
  assert.equal(await next, 'b')
  assert.deepEqual(reached, ['read', 'over'])
})

test('who types faster than the program reads waits for it', async () => {
  const console = new ProgramConsole(0, () => 0)
  for (let n = 1; n < 1_000; n++) await console.type(bytes('x\n'))
  let isTyped = false
  const typing = console.type(bytes('y\n')).then(() => (isTyped = true))
  await settle()
  assert.equal(isTyped, false)
  await line(console)
  await typing
})

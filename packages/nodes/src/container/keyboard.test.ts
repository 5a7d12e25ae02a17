import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Keyboard } from './keyboard.ts'
import { Interrupted } from '../shell/process.ts'

/** What is typed, one chunk each. */
function typing(): {
  readonly input: AsyncIterable<Uint8Array>
  type(text: string): void
  end(): void
} {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  return {
    input: readable,
    type: (text) => void writer.write(Buffer.from(text)),
    end: () => void writer.close(),
  }
}

async function readAll(keyboard: Keyboard): Promise<string> {
  let text = ''
  for await (const chunk of keyboard) text += Buffer.from(chunk).toString()
  return text
}

const forever = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('Ctrl-C stops what waits and takes along what was typed before it', async () => {
  const { input, type, end } = typing()
  const keyboard = new Keyboard(input)
  const waiting = keyboard.interruptible(new AbortController().signal, forever)
  type('lost\x03kept')
  await assert.rejects(waiting, Interrupted)
  end()
  assert.equal(await readAll(keyboard), 'kept')
})

test('Ctrl-C while nothing waits is read like any other key', async () => {
  const { input, type, end } = typing()
  const keyboard = new Keyboard(input)
  type('a\x03')
  end()
  assert.equal(await readAll(keyboard), 'a\x03')
})

test('Ctrl-C between two things that wait stops the second before it begins', async () => {
  const { input, type, end } = typing()
  const keyboard = new Keyboard(input)
  type('lost')
  type('\x03 and \x03kept')
  // Nobody reads meanwhile: the shell is at work between two commands of a line.
  await new Promise((resolve) => setImmediate(resolve))
  const begun: string[] = []
  const waiting = keyboard.interruptible(new AbortController().signal, async () => {
    begun.push('begun')
  })
  await assert.rejects(waiting, Interrupted)
  assert.deepEqual(begun, [])
  await keyboard.interruptible(new AbortController().signal, async () => {})
  end()
  assert.equal(await readAll(keyboard), 'kept')
})

test('a client that leaves stops what waits, with its own reason', async () => {
  const gone = new AbortController()
  const waiting = new Keyboard(typing().input).interruptible(gone.signal, forever)
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, /^Error: gone$/)
})

test('an input that breaks fails whoever reads it, and nobody else', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a')
    throw new Error('connection lost')
  }
  const keyboard = new Keyboard(broken())
  const stop = new AbortController()
  const waiting = keyboard.interruptible(stop.signal, forever)
  const read: string[] = []
  await assert.rejects(async () => {
    for await (const chunk of keyboard) read.push(Buffer.from(chunk).toString())
  }, /connection lost/)
  assert.deepEqual(read, ['a'])
  stop.abort(new Error('ends'))
  await assert.rejects(waiting, /ends/)
})

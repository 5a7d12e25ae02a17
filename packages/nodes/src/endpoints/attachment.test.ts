import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settle } from '@gyropilot/foundation'
import { ProgramConsole } from '../container/program-console.ts'
import { attach } from './attachment.ts'
import type { Attachment } from './attachment.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

/** Somebody who attaches with the pieces that he types; his input stays open when `isOpen`. */
function session(
  console: ProgramConsole,
  of: Partial<Attachment> = {},
  typed: readonly string[] = [],
  isOpen = true,
) {
  const seen: string[] = []
  let isEnded = false
  const leaving = new AbortController()
  const interrupts: string[] = []
  const attachment = {
    stdin: false,
    tty: false,
    once: false,
    interrupt: () => void interrupts.push('^C'),
    ...of,
  }
  const ended = attach(console, attachment, {
    stdin: (async function* () {
      for (const piece of typed) yield bytes(piece)
      if (isOpen) await new Promise(() => {})
    })(),
    stdout: async (said) => void seen.push(Buffer.from(said).toString()),
    stderr: () => assert.fail('nothing is said there'),
    signal: leaving.signal,
  }).then(() => (isEnded = true))
  return {
    seen,
    ended,
    interrupts,
    leave: () => leaving.abort(),
    get isEnded() {
      return isEnded
    },
  }
}

async function line({ input }: ProgramConsole): Promise<string> {
  return (await input.line(100, () => new Error('too long'))).text
}

describe('what a session begins with', () => {
  for (const [title, before, of, seen] of [
    [
      'whole lines are in the log: a client that read it sees them once',
      'ready\n',
      { once: true },
      [],
    ],
    ['a prompt waits for who comes', 'ready\nname? ', { once: true }, ['name? ']],
    ['a program for many sessions is heard from now on', 'name? ', { once: false }, []],
  ] as const) {
    test(title, async () => {
      const console = new ProgramConsole(0, () => 0)
      await console.print(bytes(before))
      const one = session(console, of)
      await console.print(bytes('next\n'))
      assert.deepEqual(one.seen, [...seen, 'next\n'])
      console.end()
      await one.ended
    })
  }

  test('a prompt that somebody has seen is not shown to the next', async () => {
    const console = new ProgramConsole(0, () => 0)
    await console.print(bytes('name? '))
    const one = session(console, { once: true })
    one.leave()
    await one.ended
    const next = session(console, { once: true })
    await settle()
    assert.deepEqual([one.seen, next.seen], [['name? '], []])
    console.end()
    await next.ended
  })

  test('what is said meanwhile comes after what it begins with, also to a slow client', async () => {
    const console = new ProgramConsole(0, () => 0)
    await console.print(bytes('a'))
    const gate = Promise.withResolvers<void>()
    const seen: string[] = []
    const ended = attach(
      console,
      { stdin: false, tty: false, once: true, interrupt: () => {} },
      {
        stdin: (async function* () {})(),
        stdout: async (said) => {
          if (seen.length === 0) await gate.promise
          seen.push(Buffer.from(said).toString())
        },
        stderr: async () => {},
        signal: new AbortController().signal,
      },
    )
    const printed = console.print(bytes('b'))
    await settle()
    assert.deepEqual(seen, [])
    gate.resolve()
    await printed
    assert.deepEqual(seen, ['a', 'b'])
    console.end()
    await ended
  })
})

describe('how a session ends', () => {
  test('once: the end of its input is that of the program, whose end it waits for', async () => {
    const console = new ProgramConsole(0, () => 0)
    const one = session(console, { stdin: true, once: true }, ['a\n'], false)
    assert.deepEqual([await line(console), await line(console)], ['a', ''])
    await settle()
    assert.equal(one.isEnded, false)
    await console.print(bytes('end\n'))
    console.end()
    await one.ended
    assert.deepEqual(one.seen, ['end\n'])
  })

  test('not once: with its input, when the program has read it and waits for more', async () => {
    const console = new ProgramConsole(0, () => 0)
    const one = session(console, { stdin: true }, ['a\n'], false)
    assert.equal(await line(console), 'a')
    await settle()
    assert.equal(one.isEnded, false)
    const next = line(console)
    await one.ended
    const two = session(console, { stdin: true }, ['b\n'], false)
    assert.equal(await next, 'b')
    void line(console)
    await two.ended
  })

  test('who leaves ends only the session; the next types on', async () => {
    const console = new ProgramConsole(0, () => 0)
    const one = session(console, { stdin: true })
    const next = line(console)
    one.leave()
    await one.ended
    await console.type(bytes('b\n'))
    assert.equal(await next, 'b')
  })

  test('once: who leaves ends the input of the program', async () => {
    const console = new ProgramConsole(0, () => 0)
    const one = session(console, { stdin: true, once: true })
    const next = line(console)
    one.leave()
    await one.ended
    assert.equal(await next, '')
  })
})

describe('a terminal', () => {
  test('lines end with returns, and what is typed is echoed', async () => {
    const console = new ProgramConsole(0, () => 0)
    await console.print(bytes('? '))
    const one = session(console, { stdin: true, tty: true, once: true }, ['yx\x7f\r'])
    assert.equal(await line(console), 'y')
    await console.print(bytes('a\nb\n'))
    assert.equal(one.seen[0], '? ')
    assert.equal(one.seen.join(''), '? yx\b \b\r\na\r\nb\r\n')
    console.end()
    await one.ended
  })

  test('Ctrl-C interrupts and is not typed', async () => {
    const console = new ProgramConsole(0, () => 0)
    const one = session(console, { stdin: true, tty: true }, ['\x03', 'a\r'])
    assert.equal(await line(console), 'a')
    assert.deepEqual(one.interrupts, ['^C'])
    console.end()
    await one.ended
  })
})

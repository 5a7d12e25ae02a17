import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock, settle } from '@gyropilot/foundation'
import type { ScriptedLine } from '../behavior/behavior.ts'
import { localContainer } from '../running/local-pod.ts'
import { LogReader, linesOf, runOf } from './container-log.ts'
import type { LogOptions, LogSource } from './container-log.ts'

const START_MS = Date.UTC(2026, 0, 1)
const line = (atMs: number, text: string): ScriptedLine => ({ atMs, text, stream: 'stdout' })
const SCRIPT = [line(0, 'zero'), line(2_000, 'two'), line(1_000, 'one'), line(60_000, 'minute')]
const PLAIN: LogOptions = { follow: false, timestamps: false }

function source(finishedAtMs?: () => number | undefined) {
  const listeners = new Set<() => void>()
  const from: LogSource = {
    lines() {
      const ended = finishedAtMs?.()
      const run = { startedAtMs: START_MS }
      return linesOf(ended === undefined ? run : { ...run, finishedAtMs: ended }, SCRIPT)
    },
    lookAhead: async () => Infinity,
    running: () => finishedAtMs?.() === undefined,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return { from, changed: () => [...listeners].forEach((listener) => listener()), listeners }
}

async function all(reader: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of reader) text += chunk
  return text
}

test('lines come in the order of their time, up to now', async () => {
  const table: readonly [Partial<LogOptions>, string][] = [
    [{}, 'zero\none\ntwo\n'],
    [{ tailLines: 2 }, 'one\ntwo\n'],
    [{ tailLines: 0 }, ''],
    [{ sinceMs: START_MS + 1_000 }, 'one\ntwo\n'],
    [{ limitBytes: 7 }, 'zero\non'],
    [{ timestamps: true, tailLines: 1 }, '2026-01-01T00:00:02.000000000Z two\n'],
  ]
  for (const [options, expected] of table) {
    const clock = new VirtualClock({ startMs: START_MS + 2_000, settle })
    assert.equal(await all(new LogReader(source().from, { ...PLAIN, ...options }, clock)), expected)
  }
})

test('a follower gets each line when it is written, and ends with the container', async () => {
  const clock = new VirtualClock({ startMs: START_MS, settle })
  let endedAtMs: number | undefined
  const { from, changed, listeners } = source(() => endedAtMs)
  const seen: string[] = []
  const reading = (async () => {
    for await (const text of new LogReader(from, { ...PLAIN, follow: true }, clock)) seen.push(text)
  })()
  await clock.advance(1_500)
  assert.deepEqual(seen, ['zero\n', 'one\n'])
  await clock.advance(1_500)
  assert.deepEqual(seen, ['zero\n', 'one\n', 'two\n'])
  endedAtMs = clock.nowMs()
  changed()
  await reading
  assert.deepEqual(seen, ['zero\n', 'one\n', 'two\n'])
  assert.equal(listeners.size, 0)
})

test('a follower of a program that goes on is told of lines that were not known when it began', async () => {
  const clock = new VirtualClock({ startMs: START_MS, settle })
  let knownMs = START_MS + 10_000
  const goingOn: LogSource = {
    ...source().from,
    lines: () =>
      [0, 1, 2]
        .map((n) => ({ timeMs: START_MS + n * 30_000, text: `tick ${n}` }))
        .filter(({ timeMs }) => timeMs <= knownMs),
    lookAhead: async () => (knownMs = clock.nowMs() + 10_000),
  }
  const seen: string[] = []
  const reader = new LogReader(goingOn, { ...PLAIN, follow: true }, clock)
  const reading = (async () => {
    for await (const text of reader) seen.push(text)
  })()
  await clock.advance(29_999)
  assert.deepEqual(seen, ['tick 0\n'])
  await clock.advance(1)
  assert.deepEqual(seen, ['tick 0\n', 'tick 1\n'])
  await clock.advance(30_000)
  assert.deepEqual(seen, ['tick 0\n', 'tick 1\n', 'tick 2\n'])
  await reader.return()
  await reading
})

test('who leaves while waiting is let go at once', async () => {
  const clock = new VirtualClock({ startMs: START_MS + 5_000, settle })
  const { from, listeners } = source()
  const reader = new LogReader(from, { ...PLAIN, follow: true, tailLines: 0 }, clock)
  const waiting = reader.next()
  await settle()
  await reader.return()
  assert.deepEqual(await waiting, { done: true, value: undefined })
  assert.equal(listeners.size, 0)
})

test('the run that is shown: the current one, the last one while it waits to restart, the one before for --previous', () => {
  const container = localContainer({ name: 'c' }, 'main')
  assert.equal(runOf(container, false), undefined)
  const first = { exitCode: 1, reason: 'Error', startedAtMs: 1, finishedAtMs: 2, containerId: 'x' }
  container.state = { state: 'waiting', reason: 'CrashLoopBackOff' }
  container.last = first
  assert.equal(runOf(container, false)?.startedAtMs, 1)
  container.state = { state: 'running', startedAtMs: 3 }
  assert.equal(runOf(container, false)?.startedAtMs, 3)
  assert.equal(runOf(container, true)?.startedAtMs, 1)
})

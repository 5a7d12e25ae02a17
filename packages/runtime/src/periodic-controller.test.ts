import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { currentTimeMs, recordEvent, wait } from './effects.ts'
import type { Reconcile } from './effects.ts'
import { runPeriodicController } from './periodic-controller.ts'
import { testContext } from './testing/index.ts'

function started(round: () => Reconcile<void>) {
  const context = testContext({ name: 'sweeper', configuration: undefined })
  const stop = new AbortController()
  const cache = context.informers.informer(resources.pods)
  const ended = runPeriodicController({ periodMs: 1_000, caches: [cache], round }, context).run(
    stop.signal,
  )
  return { context, stop, ended, startMs: context.clock.nowMs() }
}

test('a round begins at once, and the next one a period after its end', async () => {
  const begun: number[] = []
  const { context, stop, ended, startMs } = started(function* () {
    begun.push((yield* currentTimeMs()) - startMs)
    yield* wait(300)
  })
  await context.clock.advance(3_000)
  assert.deepEqual(begun, [0, 1_300, 2_600])
  stop.abort()
  await ended
})

test('events have the name of the controller as their source', async () => {
  const pod = { metadata: { name: 'p' } }
  const { context, stop, ended } = started(() => recordEvent(pod, 'Normal', 'Swept', 'clean'))
  await context.clock.advance(0)
  assert.deepEqual(
    context.events.map(({ component, reason }) => [component, reason]),
    [['sweeper', 'Swept']],
  )
  stop.abort()
  await ended
})

test('rules that throw are logged, and the next round comes at its time', async () => {
  let rounds = 0
  const { context, stop, ended } = started(function* () {
    rounds += 1
    throw new Error('broken')
  })
  await context.clock.advance(1_000)
  assert.equal(rounds, 2)
  assert.deepEqual(
    context.logger.lines.map(({ severity, message }) => [severity, message]),
    [
      ['error', 'The rules failed'],
      ['error', 'The rules failed'],
    ],
  )
  stop.abort()
  await ended
})

test('a stop ends the pause, and a round in the middle, without a word', async () => {
  let finished = 0
  const { context, stop, ended } = started(function* () {
    yield* wait(10_000)
    finished += 1
  })
  await context.clock.advance(5_000)
  stop.abort()
  await ended
  assert.deepEqual([finished, context.logger.lines], [0, []])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import type { ControllerContext } from './controller.ts'
import { currentTimeMs, recordEvent, wait } from './effects.ts'
import type { Effect, Reconcile } from './effects.ts'
import type { Informer } from './informer.ts'
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

test('another source of events can be named, and rounds are traced', async () => {
  const traced: string[] = []
  const context = testContext({
    name: 'sweeper',
    configuration: undefined,
    trace: {
      started: (name, key) => void traced.push(`${name} starts ${key}`),
      effect: (name: string, _: string, { effect }: Effect) =>
        void traced.push(`${name} ${effect}`),
      finished: (name) => void traced.push(`${name} ends`),
    } as ControllerContext['trace'],
  })
  const stop = new AbortController()
  const pod = { metadata: { name: 'p' } }
  const ended = runPeriodicController(
    {
      periodMs: 1_000,
      eventComponent: 'broom',
      caches: [],
      round: () => recordEvent(pod, 'Normal', 'Swept', 'clean'),
    },
    context,
  ).run(stop.signal)
  await context.clock.advance(0)
  assert.deepEqual(
    context.events.map(({ component }) => component),
    ['broom'],
  )
  assert.deepEqual(traced, ['sweeper starts ', 'sweeper event', 'sweeper ends'])
  stop.abort()
  await ended
})

test('no round begins before all caches are filled', async () => {
  for (const isFilled of [true, false]) {
    const context = testContext({ name: 'sweeper', configuration: undefined })
    const filling = Promise.withResolvers<boolean>()
    const late = {
      ...context.informers.informer(resources.pods),
      whenSynced: () => filling.promise,
    } as unknown as Informer<KubernetesObject>
    const caches = [context.informers.informer(resources.nodes), late]
    let rounds = 0
    const stop = new AbortController()
    function* round() {
      rounds += 1
    }
    const ended = runPeriodicController({ periodMs: 1_000, caches, round }, context).run(
      stop.signal,
    )
    await context.clock.advance(5_000)
    assert.equal(rounds, 0)
    filling.resolve(isFilled)
    await context.clock.advance(0)
    assert.equal(rounds, isFilled ? 1 : 0)
    stop.abort()
    await ended
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { currentTimeMs } from './effects.ts'
import { configMap, controllerOf } from './fixtures.ts'

test('Given an error, then a rate-limited requeue; next success clears it.', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    if (runsAtMs.length === 4) return {}
    return { error: new Error('no') }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(1_000)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 5, 15, 35],
  )
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(1_000)
  assert.equal(
    runsAtMs.length,
    5 + 7,
    'after the success the backoff starts at 5 ms again: 5, 10, ... 320 ms',
  )
  stop.abort()
})

test('an expected error is retried like any other, and told at verbosity 4 only', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    yield* currentTimeMs()
    runs++
    return { error: new Error('not yet'), expected: true }
  })
  start()
  await context.clock.advance(16)
  assert.equal(runs, 3)
  const lines = context.logger.lines.filter(({ fields }) => fields['reason'] === 'not yet')
  assert.equal(lines.length, 3)
  assert.ok(lines.every(({ severity, verbosity }) => severity === 'info' && verbosity === 4))
  assert.ok(!context.logger.lines.some(({ severity }) => severity === 'error'))
  stop.abort()
})

test('Given error and RequeueAfter, then the error path.', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    runs++
    return runs === 1 ? { error: new Error('no'), requeueAfterMs: 1 } : {}
  })
  start()
  await context.clock.advance(4)
  assert.equal(runs, 1)
  await context.clock.advance(1)
  assert.equal(runs, 2)
  stop.abort()
})

test('Given RequeueAfter, then Forget and delayed add.', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    return { requeueAfterMs: 1_000 }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(3_500)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 1_000, 2_000, 3_000],
  )
  stop.abort()
})

test('a wait that is not a number is a defect of the rules: it is told, and tried again with back-off', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    return { requeueAfterMs: NaN }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(40)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 5, 15, 35],
  )
  const told = context.logger.lines.filter(({ severity }) => severity === 'error')
  assert.equal(told.length, 4)
  stop.abort()
})

test('an error is told as it is, whatever wait stands beside it', async () => {
  const { context, start, stop } = controllerOf(function* () {
    return { error: new Error('refused'), requeueAfterMs: NaN }
  })
  start()
  await context.clock.advance(0)
  const told = context.logger.lines.filter(({ severity }) => severity === 'error')
  assert.match(String(told[0]?.error), /refused/)
  stop.abort()
})

test('a key is dropped after its retries, with a line in the log, and a new event starts over', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(
    function* () {
      runs++
      return { error: new Error('never') }
    },
    { maxRetries: 3 },
  )
  start()
  await context.clock.advance(60_000)
  assert.equal(runs, 4, 'one run and three retries')
  assert.equal(context.logger.lines.filter((line) => line.message.startsWith('Dropping')).length, 1)
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(60_000)
  assert.equal(runs, 8)
  stop.abort()
})

test('a success forgets failures, unless its verdict keeps them', async () => {
  for (const [keepsFailures, delaysMs] of [
    [false, [5, 1_000, 5]],
    [true, [5, 1_000, 10]],
  ] as const) {
    const startsMs: number[] = []
    const { context, start, stop } = controllerOf(function* () {
      startsMs.push(context.clock.monotonicMs())
      if (startsMs.length === 2) return { requeueAfterMs: 1_000, keepsFailures }
      return startsMs.length < 4 ? { error: new Error('not yet') } : {}
    })
    start()
    await context.clock.advance(5_000)
    assert.deepEqual(
      startsMs.slice(1).map((ms, i) => ms - startsMs[i]!),
      delaysMs,
    )
    stop.abort()
  }
})

test('Given a panic, then it is recovered and retried.', async () => {
  const runs: string[] = []
  const { context, start, stop } = controllerOf(
    function* (object) {
      runs.push(object.metadata!.name!)
      if (runs.length === 1) throw new TypeError('a defect')
    },
    { cached: [configMap('a'), configMap('b')], workers: 1 },
  )
  start()
  await context.clock.advance(10)
  assert.deepEqual(runs, ['a', 'b', 'a'])
  const line = context.logger.lines.find(({ error }) => error instanceof TypeError)
  assert.equal(line?.fields.key, 'default/a')
  stop.abort()
})

test('a throwing observe is a defect like throwing rules', async () => {
  let observed = 0
  const { context, start, stop } = controllerOf(function* () {}, {
    observe() {
      if (observed++ === 0) throw new Error('a defect')
      return undefined
    },
  })
  start()
  await context.clock.advance(5)
  assert.equal(observed, 2)
  stop.abort()
})

test('Given a terminal error, then no requeue.', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    runs++
    return { error: new Error('never'), terminal: true }
  })
  start()
  await context.clock.advance(3600_000)
  assert.equal(runs, 1)
  assert.equal(context.logger.lines.filter(({ severity }) => severity === 'error').length, 1)
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(0)
  assert.equal(runs, 2, 'the next event starts it again')
  stop.abort()
})

test('an error that is not expected is told as an error', async () => {
  const { context, start, stop } = controllerOf(function* () {
    return { error: new Error('no') }
  })
  start()
  await context.clock.advance(0)
  const told = context.logger.lines.filter(({ message }) => message === 'Sync failed, will retry')
  assert.deepEqual(
    told.map(({ severity }) => severity),
    ['error'],
  )
  stop.abort()
})

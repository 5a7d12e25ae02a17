import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, sleep } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { SimulatedProcess } from './process.ts'
import type { Incarnation } from './process.ts'

function processOf(program: (life: Incarnation) => Promise<void>) {
  const clock = virtualClock()
  const random = new SeededRandom('test')
  const process = new SimulatedProcess({
    name: 'p',
    clock,
    random,
    restartDelayMs: 1_000,
    program,
  })
  return { clock, process }
}

async function everySecond(life: Incarnation, ticks: string[]): Promise<void> {
  try {
    for (;;) {
      await sleep(life.clock, 1_000, life.signal)
      ticks.push(`${life.id} ${life.clock.monotonicMs()}`)
    }
  } finally {
    ticks.push(`${life.id} cleans up`)
  }
}

test('a killed process does nothing more, not even clean up, and begins anew after its delay', async () => {
  const ticks: string[] = []
  const { clock, process } = processOf((life) => everySecond(life, ticks))
  process.start()
  await clock.advance(1_500)
  process.crash()
  assert.equal(process.life, undefined)
  await clock.advance(2_500)
  assert.deepEqual(ticks, ['p#0 1000', 'p#1 3500'])
})

test('a paused process goes on after its pause with what came due meanwhile', async () => {
  const ticks: string[] = []
  const { clock, process } = processOf((life) => everySecond(life, ticks))
  process.start()
  await clock.advance(500)
  process.pause(10_000)
  await clock.advance(10_000)
  assert.deepEqual(ticks, ['p#0 10500'])
  await clock.advance(1_000)
  assert.deepEqual(ticks, ['p#0 10500', 'p#0 11500'])
})

test('a process whose machine was asleep goes on as if no time had passed, and only its wall clock tells', async () => {
  const ticks: string[] = []
  const { clock, process } = processOf((life) => everySecond(life, ticks))
  process.start()
  await clock.advance(500)
  const life = process.life!
  const wallMs = life.clock.nowMs()
  process.suspend(10_250)
  await clock.advance(10_000)
  assert.deepEqual([life.clock.monotonicMs(), life.clock.nowMs() - wallMs], [500, 10_000])
  await clock.advance(749)
  assert.deepEqual(ticks, [])
  await clock.advance(1_001)
  assert.deepEqual(ticks, ['p#0 1000', 'p#0 2000'])
  assert.equal(life.clock.monotonicMs(), 12_250 - 10_250)
})

test('a timer waits for each sleep of its machine, and one that is set afterwards does not', async () => {
  const { clock, process } = processOf(() => new Promise(() => {}))
  process.start()
  const own = process.life!.clock
  const fired: string[] = []
  const note = (name: string) => () => fired.push(`${name} ${clock.monotonicMs()}`)
  own.after(10_000, note('long'))
  const cancelled = own.after(3_000, note('cancelled'))
  for (let i = 0; i < 2; i++) {
    await clock.advance(1_000)
    process.suspend(5_000)
    await clock.advance(5_000)
  }
  own.after(4_000, note('later'))
  cancelled.cancel()
  await clock.advance(20_000)
  assert.deepEqual(fired, ['later 16000', 'long 20000'])
})

test('a stopped process cleans up and has no further life', async () => {
  const ticks: string[] = []
  const { clock, process } = processOf((life) => everySecond(life, ticks).catch(() => {}))
  process.start()
  await clock.advance(500)
  const stopped = process.stop()
  await clock.advance(0)
  await stopped
  await clock.advance(10_000)
  assert.deepEqual(ticks, ['p#0 cleans up'])
})

test('a program that ends or fails is started again', async () => {
  let runs = 0
  const { clock, process } = processOf(async () => {
    runs++
    if (runs === 1) throw new Error('no')
  })
  process.start()
  await clock.advance(2_500)
  assert.equal(runs, 3)
})

test('a wall clock jumps for one process only, and only its wall clock', async () => {
  const { clock, process } = processOf(() => new Promise(() => {}))
  process.start()
  process.life!.clock.jumpWallTime(-5_000)
  assert.equal(process.life!.clock.nowMs(), clock.nowMs() - 5_000)
  assert.equal(process.life!.clock.monotonicMs(), clock.monotonicMs())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { beside, callOutside, currentTimeMs, write, writeAside } from './effects.ts'
import { create } from './writes.ts'
import type { Reconcile } from './effects.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import { keysOf } from './testing/index.ts'
import { pod, world } from './fixtures.ts'

test('the time and rules beside each other are no effects to be told of, what those do is', async () => {
  const told: string[] = []
  const { of } = world({ onEffect: ({ effect }) => told.push(effect) })
  await interpret(
    (function* (): Reconcile {
      yield* currentTimeMs()
      yield* beside([write(create(resources.pods, pod('a')))], 1)
    })(),
    of,
  )
  assert.deepEqual(told, ['write'])
})

test('after a write aside rules go on with its outcome when the others have begun', async () => {
  const others = Promise.withResolvers<void>()
  let answer: unknown
  const { of, clock } = world({
    stepAside: async (written) => {
      answer = await written
      return others.promise
    },
  })
  let goesOn = false
  const rules = writeAside(create(resources.pods, pod('a')))
  const running = interpret(rules, of).finally(() => (goesOn = true))
  await clock.advance(0)
  assert.equal(goesOn, false)
  others.resolve()
  const outcome = await running
  assert.ok(outcome.ok && answer === outcome)
})

test('where nobody can step aside, a write aside is a write', async () => {
  const { of, server } = world()
  const outcome = await interpret(writeAside(create(resources.pods, pod('a'))), of)
  assert.ok(outcome.ok)
  assert.equal(server.requests.length, 1)
})

test('beside nobody nothing comes of it', async () => {
  assert.deepEqual(await interpret(beside([], 2), world().of), [])
})

test('rules beside each other: so many at a time, and what they come to in their order', async () => {
  const { of } = world()
  let running = 0
  let most = 0
  const letGo: (() => void)[] = []
  const outside = (): Promise<void> => {
    running += 1
    most = Math.max(most, running)
    return new Promise((resolve) => {
      letGo.push(() => {
        running -= 1
        resolve()
      })
    })
  }
  const rule = function* (index: number): Reconcile<string> {
    yield* callOutside('something')
    return `rule ${index}`
  }
  const ending = interpret(beside([0, 1, 2, 3, 4].map(rule), 2), { ...of, outside })
  // The last that began ends first.
  for (let ended = 0; ended < 5; ended += 1) {
    letGo.pop()!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(await ending, ['rule 0', 'rule 1', 'rule 2', 'rule 3', 'rule 4'])
  assert.equal(most, 2)
})

test('when one of them throws, what has begun is waited for and nothing else begins', async () => {
  const { of, server } = world()
  const begun: string[] = []
  const rule = function* (name: string): Reconcile<void> {
    begun.push(name)
    yield* write(create(resources.pods, pod(name)))
    if (name === 'a') throw new Error('a defect')
    yield* write(create(resources.pods, pod(`${name}-again`)))
  }
  await assert.rejects(interpret(beside(['a', 'b', 'c', 'd'].map(rule), 2), of), /a defect/)
  assert.deepEqual(begun, ['a', 'b'])
  assert.deepEqual(keysOf(server.list(resources.pods)), [
    'default/a',
    'default/b',
    'default/b-again',
  ])
})

test('rules beside each other end with the process', async () => {
  const { of, stop } = world()
  stop.abort()
  const rule = () => write(create(resources.pods, pod('a')))
  await assert.rejects(interpret(beside([rule(), rule()], 2), of), InterruptedByShutdown)
})

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { testClock } from '@gyropilot/runtime/testing'
import { EventQueue } from './event-queue.ts'

function eventQueue() {
  const clock = testClock()
  const metrics = new PrometheusRegistry()
  const queue = new EventQueue<string>({ clock, metrics, name: 'changes' })
  const metric = (name: string): number =>
    Number(new RegExp(`^workqueue_${name}{name="changes"} (.*)$`, 'm').exec(metrics.expose())?.[1])
  return { clock, queue, metric }
}

async function takeAll(queue: EventQueue<string>): Promise<readonly string[]> {
  const events: string[] = []
  queue.shutDown()
  for (let next = await queue.get(); next !== undefined; next = await queue.get()) {
    events.push(next.event)
    queue.done()
  }
  return events
}

test('events keep their order and are never merged, equal ones neither', async () => {
  const { queue } = eventQueue()
  for (const event of ['add', 'delete', 'add']) queue.add(event)
  assert.deepEqual(await takeAll(queue), ['add', 'delete', 'add'])
})

test('a worker waits for the next event, and for the end', async () => {
  const { queue } = eventQueue()
  const got: (string | undefined)[] = []
  const worker = (async () => {
    for (let next = await queue.get(); ; next = await queue.get()) {
      got.push(next?.event)
      if (next === undefined) return
      queue.done()
    }
  })()
  await turn()
  queue.add('a')
  await turn()
  queue.add('b')
  await turn()
  assert.deepEqual(got, ['a', 'b'])
  queue.shutDown()
  await worker
  assert.deepEqual(got, ['a', 'b', undefined])
})

test('after the end none comes in, and what waited is handed out', async () => {
  const { queue } = eventQueue()
  queue.add('a')
  queue.shutDown()
  queue.add('b')
  assert.equal(queue.length, 1)
  assert.deepEqual(await takeAll(queue), ['a'])
})

test('its metrics are those of a work queue', async () => {
  const { clock, queue, metric } = eventQueue()
  assert.deepEqual([metric('depth'), metric('adds_total'), metric('retries_total')], [0, 0, 0])
  queue.add('a')
  queue.add('b')
  await clock.advance(2_000)
  assert.deepEqual([metric('depth'), metric('adds_total')], [2, 2])
  await queue.get()
  await clock.advance(3_000)
  assert.deepEqual(
    [metric('depth'), metric('queue_duration_seconds_sum'), metric('work_duration_seconds_count')],
    [1, 2, 0],
  )
  assert.deepEqual(
    [metric('unfinished_work_seconds'), metric('longest_running_processor_seconds')],
    [3, 3],
  )
  queue.done()
  assert.deepEqual([metric('work_duration_seconds_sum'), metric('unfinished_work_seconds')], [3, 0])
  await queue.get()
  queue.shutDown()
  await clock.advance(5_000)
  assert.equal(metric('unfinished_work_seconds'), 0, 'the last value stays')
})

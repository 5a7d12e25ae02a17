import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry, SeededRandom, integerBetween } from '@gyropilot/foundation'
import { RecordingMetrics, testClock } from '../testing/index.ts'
import { PriorityQueue } from './priority-queue.ts'
import type { PriorityQueueOptions } from './priority-queue.ts'

function queueOf(options: Partial<PriorityQueueOptions> = {}) {
  const clock = testClock()
  return { clock, queue: new PriorityQueue({ clock, ...options }) }
}

function takeAll(queue: PriorityQueue): string[] {
  const taken: string[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) {
    taken.push(`${item.key} ${item.priority}`)
  }
  return taken
}

test('Given two adds of a key with priorities, then one item with the higher', () => {
  const { queue } = queueOf()
  queue.addWithOptions({ priority: 1 }, 'a')
  queue.addWithOptions({ priority: 2 }, 'a')
  queue.addWithOptions({ priority: 0 }, 'a')
  assert.equal(queue.length, 1)
  assert.deepEqual(takeAll(queue), ['a 2'])
})

test('the higher priority goes first, the earlier inside one priority; a raised key stands at the end of its new level', () => {
  const { queue } = queueOf()
  queue.add('normal')
  queue.addWithOptions({ priority: -100 }, 'backlog', 'raised')
  queue.addWithOptions({ priority: 10 }, 'urgent')
  queue.addWithOptions({ priority: 10 }, 'raised')
  queue.addWithOptions({ priority: 10 }, 'later')
  assert.deepEqual(takeAll(queue), [
    'urgent 10',
    'raised 10',
    'later 10',
    'normal 0',
    'backlog -100',
  ])
})

test('of two delays the shorter counts, and an add without one makes the key ready', async () => {
  const { queue, clock } = queueOf()
  queue.addAfter('a', 50)
  queue.addAfter('a', 30)
  queue.addAfter('a', 70)
  queue.addAfter('b', 1000)
  assert.equal(queue.length, 0, 'only ready keys count')
  await clock.advance(29)
  assert.equal(queue.length, 0)
  await clock.advance(1)
  assert.deepEqual(takeAll(queue), ['a 0'])
  await clock.advance(100)
  assert.equal(queue.length, 0, 'the longer delays of a are gone')
  queue.add('b')
  assert.deepEqual(takeAll(queue), ['b 0'])
  queue.done('b')
  await clock.advance(2000)
  assert.equal(queue.length, 0, 'the delay of b ended with its add')
})

test('a priority raised while the key waits counts when its time comes', async () => {
  const { queue, clock } = queueOf()
  queue.addAfter('a', 50)
  queue.addWithOptions({ afterMs: 80, priority: 5 }, 'a')
  queue.add('b')
  await clock.advance(50)
  assert.deepEqual(takeAll(queue), ['a 5', 'b 0'])
})

test('a key added while a worker has it is kept and not handed out until done', async () => {
  const { queue } = queueOf()
  queue.add('a')
  assert.equal((await queue.get())?.key, 'a')
  queue.add('a')
  queue.addWithOptions({ priority: 3 }, 'a')
  assert.equal(queue.length, 1)
  assert.equal(queue.take(), undefined)
  queue.done('a')
  assert.deepEqual(takeAll(queue), ['a 3'])
  queue.done('a')
  assert.equal(queue.length, 0)
})

test('a delayed key whose time comes while a worker has it waits for done', async () => {
  const { queue, clock } = queueOf()
  queue.add('a')
  queue.take()
  queue.addAfter('a', 10)
  await clock.advance(10)
  assert.equal(queue.take(), undefined)
  queue.done('a')
  assert.deepEqual(takeAll(queue), ['a 0'])
})

test('rate limited adds wait 5, 10, 20 ms, 1000 s at most; forget starts over; there is no bucket over all keys', async () => {
  const { queue, clock } = queueOf()
  for (const delayMs of [5, 10, 20]) {
    queue.addRateLimited('a')
    await clock.advance(delayMs - 1)
    assert.equal(queue.length, 0)
    await clock.advance(1)
    assert.deepEqual(takeAll(queue), ['a 0'])
    queue.done('a')
  }
  assert.equal(queue.requeues('a'), 3)
  queue.forget('a')
  assert.equal(queue.requeues('a'), 0)
  for (let i = 0; i < 300; i++) queue.addRateLimited(`k${i}`)
  await clock.advance(5)
  assert.equal(queue.length, 300)
  const slow = queueOf({ rateLimiter: { whenMs: () => 40, forget() {}, requeues: () => 0 } })
  slow.queue.addWithOptions({ rateLimited: true, afterMs: 10 }, 'a')
  await slow.clock.advance(10)
  assert.equal(slow.queue.length, 1, 'with both the shorter counts')
})

test('after shutdown get reports it at once, whatever is ready; drain is the same', async () => {
  const { queue, clock } = queueOf()
  queue.add('a')
  queue.addAfter('b', 10)
  await queue.shutDownWithDrain()
  assert.equal(await queue.get(), undefined)
  queue.add('c')
  await clock.advance(100)
  assert.equal(queue.length, 1, 'later adds are ignored, delayed keys do not come')
  const waiting = queueOf()
  const pending = waiting.queue.get()
  waiting.queue.shutDown()
  assert.equal(await pending, undefined)
  assert.equal(waiting.queue.shuttingDown, true)
})

test('many workers and delays: no key is at two workers, none is lost, order is by priority', async () => {
  const { queue, clock } = queueOf()
  const running = new Set<string>()
  const runs = new Map<string, number>()
  const worker = async (): Promise<void> => {
    for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
      assert.ok(!running.has(item.key))
      running.add(item.key)
      await new Promise<void>((resolve) => void clock.after(3, resolve))
      running.delete(item.key)
      runs.set(item.key, (runs.get(item.key) ?? 0) + 1)
      queue.done(item.key)
    }
  }
  const workers = [worker(), worker(), worker()]
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 10; i++) {
      queue.addWithOptions({ priority: i % 3, afterMs: i % 4 }, `k${i}`)
    }
    await clock.advance(2)
  }
  await clock.advance(1000)
  queue.shutDown()
  await Promise.all(workers)
  assert.equal(runs.size, 10)
  assert.equal(queue.length, 0)
})

test('metrics: labels name and controller, depth by priority, only real delays are retries, histograms reach 1000 s', async () => {
  const metrics = new RecordingMetrics()
  const { queue, clock } = queueOf({ name: 'website', metrics })
  const labels = { name: 'website', controller: 'website' }
  const depth = (priority: number): number | undefined =>
    metrics.value('workqueue_depth', { ...labels, priority: String(priority) })
  queue.add('a')
  queue.addWithOptions({ priority: -100 }, 'b', 'c')
  queue.addAfter('d', 0)
  queue.addAfter('e', 5)
  assert.equal(depth(0), 2)
  assert.equal(depth(-100), 2)
  assert.equal(metrics.value('workqueue_retries_total', labels), 1)
  queue.add('b')
  assert.equal(depth(-100), 1)
  assert.equal(depth(0), 3)
  assert.equal(metrics.value('workqueue_adds_total', labels), 4)
  await clock.advance(5)
  assert.equal(metrics.value('workqueue_adds_total', labels), 5)
  assert.equal(takeAll(queue).length, 5)
  assert.equal(depth(0), 0)
  await clock.advance(1000)
  assert.equal(metrics.value('workqueue_longest_running_processor_seconds', labels), 1)
  queue.done('a')
  assert.deepEqual(metrics.observed('workqueue_work_duration_seconds', labels), [1])

  const registry = new PrometheusRegistry()
  const exposed = queueOf({ name: 'q', metrics: registry })
  exposed.queue.add('a')
  exposed.queue.take()
  const text = registry.expose()
  assert.match(text, /workqueue_depth\{controller="q",name="q",priority="0"\} 0/)
  assert.match(
    text,
    /workqueue_queue_duration_seconds_bucket\{controller="q",name="q",le="1000"\} 1/,
  )
})

/** The table of the page, without any thought of speed. */
class PlainModel {
  readonly items = new Map<string, { priority: number; order: number; readyMs: number }>()
  readonly processing = new Set<string>()
  #order = 0

  add(key: string, priority: number, readyMs: number): void {
    const known = this.items.get(key)
    if (known === undefined) {
      this.items.set(key, { priority, order: this.#order++, readyMs })
      return
    }
    if (priority > known.priority) Object.assign(known, { priority, order: this.#order++ })
    known.readyMs = Math.min(known.readyMs, readyMs)
  }

  take(nowMs: number): string | undefined {
    const [first] = [...this.items]
      .filter(([key, { readyMs }]) => readyMs <= nowMs && !this.processing.has(key))
      .sort(([, a], [, b]) => b.priority - a.priority || a.order - b.order)
    if (first === undefined) return undefined
    this.items.delete(first[0])
    this.processing.add(first[0])
    return first[0]
  }
}

test('on thousands of random operations it does what a plain list would', async () => {
  const random = new SeededRandom('priority-queue')
  const { queue, clock } = queueOf()
  const model = new PlainModel()
  const pick = (limit: number): number => integerBetween(random, 0, limit)
  for (let i = 0; i < 5_000; i++) {
    const nowMs = clock.monotonicMs()
    const operation = pick(10)
    if (operation < 5) {
      const [key, priority, afterMs] = [`k${pick(12)}`, pick(4), pick(2) * pick(30)]
      queue.addWithOptions({ priority, afterMs }, key)
      model.add(key, priority, nowMs + afterMs)
    } else if (operation < 8) {
      assert.equal(queue.take()?.key, model.take(nowMs), `operation ${i}`)
    } else if (operation < 9) {
      const [key] = model.processing
      if (key === undefined) continue
      queue.done(key)
      model.processing.delete(key)
    } else {
      await clock.advance(pick(20))
    }
    const readyCount = [...model.items.values()].filter(
      ({ readyMs }) => readyMs <= clock.monotonicMs(),
    ).length
    assert.equal(queue.length, readyCount, `length at operation ${i}`)
  }
})

test('by default a key waits 5 ms doubling to 1000 s, without a bucket over all', async () => {
  const { queue, clock } = queueOf()
  for (let failures = 0; failures < 20; failures++) {
    queue.addRateLimited('x')
    await clock.advance(1_000_000)
    queue.done(queue.take()!.key)
  }
  queue.addRateLimited('x')
  await clock.advance(999_999)
  assert.equal(queue.length, 0)
  await clock.advance(1)
  assert.equal(queue.length, 1)
})

test('a delayed key that is raised changes no depth, and after the end nothing is measured', async () => {
  const metrics = new RecordingMetrics()
  const { queue, clock } = queueOf({ name: 'p', metrics })
  const depth = (priority: string) =>
    metrics.value('workqueue_depth', { name: 'p', controller: 'p', priority })
  queue.addAfter('x', 10)
  queue.addWithOptions({ afterMs: 20, priority: 5 }, 'x')
  assert.deepEqual([depth('0') ?? 0, depth('5') ?? 0], [0, 0])
  await clock.advance(10)
  assert.deepEqual([depth('0') ?? 0, depth('5')], [0, 1])
  queue.take()
  await clock.advance(1_000)
  queue.shutDown()
  await clock.advance(1_000)
  const labels = { name: 'p', controller: 'p' }
  assert.equal(metrics.value('workqueue_unfinished_work_seconds', labels), 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { EventQueue } from './event-queue.ts'

test('events keep their order and are never merged, equal ones neither', () => {
  const queue = new EventQueue<string>({ clock: testClock() })
  for (const event of ['add', 'delete', 'add']) queue.addEvent(event)
  const events: string[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) {
    events.push(queue.takeEvent(item.key))
    queue.done(item.key)
  }
  assert.deepEqual(events, ['add', 'delete', 'add'])
})

test('an event is handed out once; after the end none comes in', () => {
  const queue = new EventQueue<string>({ clock: testClock() })
  queue.addEvent('a')
  const { key } = queue.take()!
  assert.equal(queue.takeEvent(key), 'a')
  assert.throws(() => queue.takeEvent(key), /no event is queued/)
  queue.shutDown()
  queue.addEvent('b')
  assert.equal(queue.length, 0)
})

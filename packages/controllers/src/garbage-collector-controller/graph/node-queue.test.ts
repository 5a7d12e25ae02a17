import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { GraphNode } from './graph-node.ts'
import { identity, owner } from '../fixtures.ts'
import { NodeQueue } from './node-queue.ts'

const node = (number: number) => new GraphNode(number, identity(owner('rc')), { virtual: true })

test('an old virtual node and its replacement are different items, though they share a uid', () => {
  const queue = new NodeQueue({ clock: testClock() })
  const [old, replacement] = [node(0), node(1)]
  queue.addNode(old)
  queue.addNode(replacement)
  queue.addNode(old)
  assert.equal(queue.length, 2)
  assert.equal(queue.node(queue.take()!.key), old)
  assert.equal(queue.node(queue.take()!.key), replacement)
})

test('a node is held while it is queued, at a worker or delayed, and no longer', async () => {
  const clock = testClock()
  const queue = new NodeQueue({ clock })
  const one = node(0)
  queue.addNode(one)
  queue.take()
  queue.addNode(one)
  queue.done(one.id)
  assert.equal(queue.held, 1, 'queued again meanwhile')
  queue.take()
  queue.addNodeRateLimited(one)
  queue.done(one.id)
  assert.equal(queue.held, 1, 'delayed')
  assert.equal(queue.length, 0)
  await clock.advance(5)
  assert.equal(queue.length, 1)
  assert.equal(queue.node(queue.take()!.key), one)
  queue.done(one.id)
  assert.equal(queue.held, 0)
  assert.throws(() => queue.node(one.id), /no node is queued as rc-uid#0/)
})

test('a delay that ends after the node was handed out again finds the node', async () => {
  const clock = testClock()
  const queue = new NodeQueue({ clock })
  const one = node(0)
  queue.addNodeRateLimited(one)
  queue.addNode(one)
  queue.take()
  queue.done(one.id)
  await clock.advance(5)
  assert.equal(queue.node(queue.take()!.key), one)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { drive, testClock } from '@gyropilot/runtime/testing'
import { node, taint } from './fixtures.ts'
import { ZoneTainter } from './zone-tainter.ts'

const NOT_READY = 'node.kubernetes.io/not-ready'

/** A tainter of these nodes; `answers` are what its writes come to, one after the other, then success. */
function tainting(nodes: readonly Node[], perSecond: number, answers: readonly unknown[] = []) {
  const clock = testClock()
  const known = new Map(nodes.map((each) => [each.metadata!.name!, each]))
  const performed: string[] = []
  const tainted: string[] = []
  const left = [...answers]
  const tainter = new ZoneTainter({
    clock,
    perSecond,
    nodeNamed: (name) => known.get(name),
    perform<R>(rules: Reconcile<R>): Promise<R> {
      const { writes } = drive(rules, {
        onRead: (read) =>
          'name' in read ? { ok: true, object: known.get(read.name)! } : undefined,
      })
      performed.push(writes.map((write) => ('name' in write ? write.name : '')).join(' '))
      return Promise.resolve(left.shift() as R)
    },
    onTainted: (zone) => tainted.push(zone),
  })
  return { clock, known, performed, tainted, tainter }
}
const lost = (name: string): Node => node(name, { ready: 'False' })

test('a zone is new once', () => {
  const { tainter } = tainting([], 1)
  assert.deepEqual([tainter.addZone('z'), tainter.addZone('z')], [true, false])
})

test('a taint that could not be written is tried again with the next token, and counts when it is', async () => {
  const { clock, performed, tainted, tainter } = tainting([lost('a')], 1, [new Error('no')])
  tainter.addZone('z')
  tainter.queue('z', lost('a'), NOT_READY)
  await tainter.pass()
  assert.deepEqual([performed, tainted], [['a'], []])
  await clock.advance(1_000)
  await tainter.pass()
  await clock.advance(1_000)
  await tainter.pass()
  assert.deepEqual([performed, tainted], [['a', 'a'], ['z']])
})

test('a node that does not say whether it is ready is asked again, one that is ready or gone is done', async () => {
  const { clock, known, performed, tainter } = tainting(
    [node('silent'), node('well', { ready: 'True' })],
    1_000,
  )
  tainter.addZone('z')
  for (const name of ['silent', 'well', 'gone']) {
    tainter.queue('z', lost(name), NOT_READY)
    await tainter.pass()
    await clock.advance(10)
  }
  known.set('silent', lost('silent')).set('well', lost('well')).set('gone', lost('gone'))
  await tainter.pass()
  assert.deepEqual(performed, [])
  await clock.advance(50)
  await tainter.pass()
  assert.deepEqual(performed, ['silent'])
})

test('the taint that says the other thing goes with the new one', async () => {
  const unreachable = node('a', { ready: 'False', taints: [taint('unreachable')] })
  const { performed, tainter } = tainting([unreachable], 1)
  tainter.addZone('z')
  tainter.queue('z', unreachable, NOT_READY)
  await tainter.pass()
  assert.deepEqual(performed, ['a a'])
})

test('who was removed waits no longer', async () => {
  const { performed, tainter } = tainting([lost('a')], 1)
  tainter.addZone('z')
  tainter.queue('z', lost('a'), NOT_READY)
  tainter.remove('z', 'a')
  await tainter.pass()
  assert.deepEqual(performed, [])
})

test('it looks while anybody waits in any zone, rests when nobody does, and begins again', async () => {
  const { clock, performed, tainter } = tainting(['a', 'b', 'c'].map(lost), 1)
  const stopping = new AbortController()
  const running = tainter.run(stopping.signal)
  for (const zone of ['empty', 'z', 'none']) tainter.addZone(zone)
  for (const name of ['a', 'b']) tainter.queue('z', lost(name), NOT_READY)
  await clock.advance(100)
  assert.deepEqual(performed, ['a'])
  await clock.advance(1_000)
  assert.deepEqual(performed, ['a', 'b'])
  await clock.advance(60_000)
  tainter.queue('z', lost('c'), NOT_READY)
  await clock.advance(100)
  assert.deepEqual(performed, ['a', 'b', 'c'])
  stopping.abort(new Error('stop'))
  await assert.rejects(running, { message: 'stop' })
})

test('it is stopped while it rests, and does not begin when it is stopped', async () => {
  const { tainter } = tainting([], 1)
  const stopping = new AbortController()
  const resting = tainter.run(stopping.signal)
  stopping.abort(new Error('stop'))
  await assert.rejects(resting, { message: 'stop' })
  await tainter.run(stopping.signal)
})

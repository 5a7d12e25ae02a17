/** What one stream of events does to its target. Contract: docs/behaviour/runtime/informers.md, Reflector. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { WorkClock, testClock } from '../../testing/index.ts'
import { closeStream, followStream } from './watch-stream.ts'
import type { Stream, StreamTarget } from './watch-stream.ts'

const shape = { kind: 'Pod', apiVersion: 'v1' }
const pod = (resourceVersion: string): KubernetesObject => ({
  ...shape,
  metadata: { name: 'a', resourceVersion },
})
const added = (object: unknown): WatchEvent => ({ type: 'ADDED', object }) as WatchEvent

/** All events are ready at once, then the server closes. */
async function* ready(events: readonly WatchEvent[]): AsyncGenerator<WatchEvent> {
  yield* events
}

function following(
  events: readonly WatchEvent[],
  changed: StreamTarget<KubernetesObject>['changed'] = () => {},
  clock = new WorkClock(testClock()),
) {
  const applied: string[] = []
  const reader = {
    clock,
    logger: new RecordingLogger(),
    shape,
    signal: new AbortController().signal,
  }
  const following = followStream(ready(events), reader, {
    changed: (type, object) => changed(type, object),
    bookmarked() {},
    applied: (resourceVersion) => {
      applied.push(resourceVersion)
      return false
    },
    warnWhenSilent: false,
  })
  return { following, applied }
}

test('an object of a watch need not say its kind: it is that of the collection', async () => {
  const { following: end, applied } = following([
    added({ metadata: { resourceVersion: '1' } }),
    added({ kind: 'Pod', metadata: { resourceVersion: '2' } }),
  ])
  assert.deepEqual(await end, { ended: 'closed' })
  assert.deepEqual(applied, ['1', '2'])
})

test('what is no object at all is skipped', async () => {
  const { following: end, applied } = following([added(null), added('text'), added(pod('3'))])
  assert.deepEqual(await end, { ended: 'closed' })
  assert.deepEqual(applied, ['3'])
})

test('an object that cannot be taken in is lost, and the watch goes on behind it', async () => {
  const { following: end, applied } = following([added(pod('1')), added(pod('2'))], (_, object) => {
    if (object.metadata?.resourceVersion === '1') throw new Error('no room')
  })
  assert.deepEqual(await end, { ended: 'closed' })
  assert.deepEqual(applied, ['1', '2'])
})

test('thousands of events of several streams, ready at once, leave turns to others', async () => {
  const inner = testClock()
  const clock = new WorkClock(inner)
  const many = Array.from({ length: 2_000 }, (_, version) => added(pod(String(version))))
  const streams = Array.from({ length: 10 }, () => following(many, () => clock.work(0.1), clock))
  await inner.advance(0)
  for (const { following: end, applied } of streams) {
    await end
    assert.equal(applied.length, 2_000)
  }
  // Each begins a piece of eight events before it looks whether the turn is over.
  assert.ok(clock.longestTurnMs <= 20, `${clock.longestTurnMs} ms`)
})

test('a stream that cannot be closed, or fails as it is, is nobody’s trouble', async () => {
  const next = () => new Promise<never>(() => {})
  closeStream({ next } as Stream<KubernetesObject>)
  closeStream({ next, return: () => Promise.reject(new Error('gone')) })
  await new Promise(setImmediate)
})

/** Faults of our own in what shows an object to one watch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, VirtualClock } from '@gyropilot/foundation'
import type { WatchEventType, WatchSink } from '../../http/watch-sink.ts'
import type { ServedResource } from '../../registry/resource-registry.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { ListOptions } from '../options.ts'
import type { ListRequest } from './list.ts'
import { prepareWatch } from './watch.ts'

const REQUEST: ListRequest = {
  resource: {
    info: { group: '', version: 'v1', kind: 'Thing', namespaced: false },
    storage: { collection: 'things' },
  } as unknown as ServedResource,
  namespace: '',
  options: { resourceVersion: '1', allowWatchBookmarks: true } as ListOptions,
  selection: { labels: undefined, fields: undefined, pin: undefined },
}

/** What a watch is sent, until it ends. */
class Sink implements WatchSink {
  readonly sent: WatchEventType[] = []
  readonly #breaksAt: readonly WatchEventType[]
  ended = false

  constructor(...breaksAt: readonly WatchEventType[]) {
    this.#breaksAt = breaksAt
  }

  send(type: WatchEventType): boolean {
    if (this.#breaksAt.includes(type)) throw new Error('a fault of ours')
    this.sent.push(type)
    return true
  }

  /** What there is still to be read; undefined: nothing much. */
  unread: PromiseWithResolvers<void> | undefined

  isFull(): boolean {
    return this.unread !== undefined
  }

  ready(): Promise<void> | undefined {
    return this.unread?.promise
  }

  read(): void {
    this.unread?.resolve()
    this.unread = undefined
  }

  end(): void {
    this.ended = true
  }
}

function world() {
  const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) })
  const store = createMemoryStore(clock)
  const parts = { store, clock, random: new SeededRandom(1) }
  const write = (name: string) =>
    store.commit({ collection: 'things', key: name }, (revision) => ({
      metadata: { name, resourceVersion: String(revision) },
    }))
  write('first')
  return { clock, store, write, follow: (sink: Sink) => prepareWatch(parts, REQUEST).start(sink) }
}

test('an object that cannot be shown to one watch ends that watch, and neither the write nor the others notice', () => {
  const { write, follow } = world()
  const [broken, whole] = [new Sink('ADDED'), new Sink()]
  follow(broken)
  follow(whole)
  write('second')
  write('third')
  assert.deepEqual([broken.sent, broken.ended], [['ERROR'], true])
  assert.deepEqual([whole.sent, whole.ended], [['ADDED', 'ADDED'], false])
})

test('a watch that cannot even be told why ends all the same', () => {
  const { write, follow } = world()
  const broken = new Sink('ADDED', 'ERROR')
  follow(broken)
  write('second')
  assert.deepEqual([broken.sent, broken.ended], [[], true])
})

test('a bookmark that cannot be shown ends its watch, and not the process', async () => {
  const { clock, follow } = world()
  const broken = new Sink('BOOKMARK')
  follow(broken)
  await clock.advance(60_000)
  assert.deepEqual([broken.sent, broken.ended], [['ERROR'], true])
})

test('a reader that has left too much unread hears of the rest when it has read, once each', async () => {
  const { clock, write, follow } = world()
  const sink = new Sink()
  follow(sink)
  write('second')
  sink.unread = Promise.withResolvers()
  write('third')
  write('fourth')
  await clock.advance(20_000)
  assert.deepEqual(sink.sent, ['ADDED'])
  sink.read()
  await clock.advance(0)
  assert.equal(sink.sent.length, 3)
  write('fifth')
  assert.equal(sink.sent.length, 4)
  await clock.advance(20_000)
  assert.equal(sink.ended, false)
})

test('a reader that does not read for thirty seconds is cut off', async () => {
  const { clock, write, follow } = world()
  const sink = new Sink()
  follow(sink)
  sink.unread = Promise.withResolvers()
  write('second')
  await clock.advance(29_000)
  assert.equal(sink.ended, false)
  await clock.advance(1_000)
  assert.equal(sink.ended, true)
})

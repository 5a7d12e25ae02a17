import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, VirtualClock, compareStrings, integerBetween } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { encodedObject } from './encoding.ts'
import { createMemoryStore } from './memory-store.ts'
import type { StoreEvent } from './store.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const virtualClock = (): VirtualClock => new VirtualClock({ settle: turn })
const object = (key: string, revision: number, value = 0): Stored => ({
  metadata: { name: key, resourceVersion: String(revision) },
  value,
})

/** The simplest thing that could be right: every state is kept as a whole. */
class Model {
  readonly states: ReadonlyMap<string, Stored>[] = [new Map()]

  set(key: string, value: Stored | undefined): void {
    const next = new Map(this.states.at(-1)!)
    if (value === undefined) next.delete(key)
    else next.set(key, value)
    this.states.push(next)
  }

  list(prefix: string, revision: number): Stored[] {
    const keys = [...this.states[revision]!.keys()].filter((key) => key.startsWith(prefix))
    return keys
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map((key) => this.states[revision]!.get(key)!)
  }
}

const NAMESPACES = ['a', 'a-b', 'a.b', 'b', 'a0', '\u{1f600}', '\uffee']

for (let seed = 0; seed < 20; seed++) {
  test(`a store agrees with a model that keeps every state, seed ${seed}`, () => {
    const random = new SeededRandom(seed)
    const store = createMemoryStore(virtualClock())
    const model = new Model()
    const watched: { from: number; prefix: string; events: StoreEvent[] }[] = []
    for (let step = 0; step < 400; step++) {
      const key = `${NAMESPACES[integerBetween(random, 0, NAMESPACES.length)]}/${integerBetween(random, 0, 30)}`
      const remove = random.next() < 0.3 && store.get({ collection: 'things', key }) !== undefined
      store.commit({ collection: 'things', key }, (revision) =>
        remove ? undefined : object(key, revision, step),
      )
      model.set(key, remove ? undefined : object(key, store.revision, step))
      if (random.next() < 0.05) {
        const prefix =
          random.next() < 0.5 ? '' : `${NAMESPACES[integerBetween(random, 0, NAMESPACES.length)]}/`
        const from = integerBetween(random, Math.max(0, store.revision - 90), store.revision + 1)
        const watch = { from, prefix, events: [] as StoreEvent[] }
        const started = store.watch('things', prefix, from, (event) => watch.events.push(event))
        assert.notEqual(started, 'expired')
        watched.push(watch)
      }
      const revision = integerBetween(random, Math.max(0, store.revision - 90), store.revision + 1)
      const prefix = random.next() < 0.5 ? '' : 'a/'
      const snapshot = store.list('things', prefix, revision)
      assert.ok(snapshot !== 'expired')
      const expected = model.list(prefix, revision)
      assert.deepEqual(
        snapshot.entries.map((entry) => entry.object),
        expected,
      )
      // A page from anywhere is the rest of the same state; the same few revisions are asked for again and again.
      const asked = Math.max(revision - (revision % 40), store.revision - 90, 0)
      const whole = model.list(prefix, asked)
      const start = prefix === '' ? key : `${prefix}${integerBetween(random, 0, 30)}`
      const scan = store.scan('things', prefix, start, asked)
      assert.ok(scan !== 'expired')
      const rest = whole.filter(({ metadata: { name } }) => compareStrings(name, start) >= 0)
      assert.equal(scan.count(), rest.length)
      assert.deepEqual(
        Array.from(scan.entries, (entry) => entry.object),
        rest,
      )
    }
    for (const { from, prefix, events } of watched) {
      const replayed = new Map(model.states[from]!)
      let last = from
      for (const event of events) {
        assert.ok(event.revision > last)
        last = event.revision
        assert.equal(event.object['metadata'].resourceVersion, String(event.revision))
        if (event.type === 'deleted') replayed.delete(event.key)
        else replayed.set(event.key, event.object)
      }
      const expected = model.list(prefix, store.revision)
      const seen = [...replayed]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => compareStrings(a, b))
      assert.deepEqual(
        seen.map(([, value]) => value),
        expected,
      )
    }
  })
}

test('objects are frozen all the way down, and unchanged parts may be shared', () => {
  const store = createMemoryStore(virtualClock())
  const { object: stored } = store.commit({ collection: 'things', key: 'x' }, () => ({
    metadata: { labels: { a: 'b' } },
    list: [{ a: 1 }],
  }))
  assert.throws(() => stored['list'][0].a++, TypeError)
  assert.throws(() => (stored['metadata'].labels.a = 'c'), TypeError)
})

test('a deletion shows the last state with the revision of the deletion', () => {
  const store = createMemoryStore(virtualClock())
  store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision, 7))
  const event = store.commit({ collection: 'things', key: 'x' }, () => undefined)
  assert.equal(event.type, 'deleted')
  assert.deepEqual(event.object, object('x', 2, 7))
})

test('history is kept for 75 seconds even when the collection is busy, and expires later', async () => {
  const clock = virtualClock()
  const store = createMemoryStore(clock)
  for (let i = 0; i < 300; i++)
    store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision, i))
  await clock.advance(74_000)
  store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision))
  assert.notEqual(
    store.watch('things', '', 0, () => {}),
    'expired',
  )
  await clock.advance(300_000)
  store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision))
  assert.equal(
    store.watch('things', '', 0, () => {}),
    'expired',
  )
  assert.equal(store.list('things', '', 1), 'expired')
  // A hundred events stay however old they are.
  assert.notEqual(
    store.watch('things', '', store.revision - 100, () => {}),
    'expired',
  )
  assert.equal(store.oldestRevision('things'), store.revision - 100)
})

test('compaction expires older snapshots, forgetting also older watches, neither the present', () => {
  const store = createMemoryStore(virtualClock())
  for (let i = 0; i < 10; i++)
    store.commit({ collection: 'things', key: String(i) }, (revision) =>
      object(String(i), revision),
    )
  store.compact(6)
  assert.equal(store.list('things', '', 5), 'expired')
  const snapshot = store.list('things', '', 6)
  assert.ok(snapshot !== 'expired' && snapshot.entries.length === 6)
  let shown = 0
  const count = (): void => void shown++
  assert.ok(store.watch('things', '', 5, count) !== 'expired' && shown === 5)
  store.forget(7)
  assert.equal(store.list('things', '', 6), 'expired')
  assert.equal(store.watch('things', '', 6, count), 'expired')
  assert.equal(store.watch('other', '', 6, count), 'expired')
  assert.notEqual(store.watch('other', '', 7, count), 'expired')
  store.forget(99)
  assert.notEqual(store.list('things', ''), 'expired')
  assert.notEqual(store.watch('things', '', 10, count), 'expired')
})

test('what is paged through is not kept beyond compaction', () => {
  const store = createMemoryStore(virtualClock())
  for (const key of ['a', 'b', 'a'])
    store.commit({ collection: 'things', key }, (revision) => object(key, revision))
  const past = store.scan('things', '', '', 2)
  assert.ok(past !== 'expired' && past.count() === 2)
  store.compact(3)
  assert.equal(store.scan('things', '', '', 2), 'expired')
  const now = store.scan('things', '', 'b')
  assert.ok(now !== 'expired')
  assert.deepEqual([now.revision, [...now.entries].map(({ key }) => key)], [3, ['b']])
  const none = store.scan('others', '', '')
  assert.ok(none !== 'expired')
  assert.deepEqual([[...none.entries], none.count()], [[], 0])
})

test('what a listener commits reaches everybody after what it listened to', () => {
  const store = createMemoryStore(virtualClock())
  const seen: number[] = []
  store.watch('things', '', 0, ({ revision }) => {
    if (revision === 1)
      store.commit({ collection: 'things', key: 'y' }, (next) => object('y', next))
  })
  store.watch('things', '', 0, ({ revision }) => seen.push(revision))
  store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision))
  assert.deepEqual(seen, [1, 2])
})

test('a watch that starts while events are being delivered sees each of them once', () => {
  const store = createMemoryStore(virtualClock())
  const late: number[] = []
  store.watch('things', '', 0, ({ revision }) => {
    if (revision !== 1) return
    store.commit({ collection: 'things', key: 'y' }, (next) => object('y', next))
    store.watch('things', '', 0, (event) => late.push(event.revision))
  })
  store.commit({ collection: 'things', key: 'x' }, (revision) => object('x', revision))
  assert.deepEqual(late, [1, 2])
})

test('what a listener commits while it is shown the past reaches it, once and in order', () => {
  const store = createMemoryStore(virtualClock())
  const write = (key: string): StoreEvent =>
    store.commit({ collection: 'things', key }, (revision) => object(key, revision))
  write('a')
  write('b')
  const seen: number[] = []
  store.watch('things', '', 0, ({ revision }) => {
    seen.push(revision)
    // One commit per event it is shown, and one of another collection between them.
    if (revision > 4) return
    store.commit({ collection: 'other', key: 'z' }, (next) => object('z', next))
    write(`after-${revision}`)
  })
  write('last')
  assert.deepEqual(seen, [1, 2, 4, 6, 8, 9])
})

test('a watch from the future stays silent until its revision has passed', () => {
  const store = createMemoryStore(virtualClock())
  const seen: number[] = []
  store.watch('things', '', 2, ({ revision }) => seen.push(revision))
  for (const key of ['a', 'b', 'c'])
    store.commit({ collection: 'things', key }, (revision) => object(key, revision))
  assert.deepEqual(seen, [3])
})

test('a failed write takes no revision', () => {
  const store = createMemoryStore(virtualClock())
  assert.throws(() => store.commit({ collection: 'things', key: 'x' }, () => undefined))
  assert.equal(store.revision, 0)
})

for (const isDeleted of [false, true])
  test(`the text of a state is let go when it is ${isDeleted ? 'deleted' : 'replaced'}, not before`, () => {
    const store = createMemoryStore(virtualClock())
    let reads = 0
    /** Counts how often it is read. */
    const counted = (revision: number): Stored =>
      new Proxy(object('a', revision), {
        get(target, name) {
          reads++
          return target[name as string]
        },
      })
    const key = { collection: 'things', key: 'a' }
    const first = store.commit(key, counted).object
    const readsOf = (text: () => string): number => {
      const before = reads
      text()
      return reads - before
    }
    assert.ok(readsOf(() => encodedObject(first)) > 0)
    assert.equal(
      readsOf(() => encodedObject(first)),
      0,
    )
    store.commit({ ...key, key: 'b' }, (revision) => object('b', revision))
    assert.equal(
      readsOf(() => encodedObject(first)),
      0,
    )
    store.commit(key, (revision) => (isDeleted ? undefined : object('a', revision)))
    assert.ok(readsOf(() => encodedObject(first)) > 0)
  })

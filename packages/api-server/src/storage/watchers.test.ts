import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, VirtualClock, integerBetween } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { createMemoryStore } from './memory-store.ts'
import type { StoreEvent, WatchPin } from './store.ts'

const COLORS = ['', 'red', 'blue', 'green']
const colorOf = (object: Stored): string => object['color'] ?? ''
const nameOf = (object: Stored): string => object['metadata'].name
const pin = (value: string, field = 'color', of = colorOf): WatchPin => ({ field, value, of })

for (let seed = 0; seed < 5; seed++) {
  test(`a watch of a value sees what it would pick from all events, past and coming, seed ${seed}`, () => {
    const random = new SeededRandom(seed)
    const store = createMemoryStore(new VirtualClock({ settle: () => Promise.resolve() }))
    const any = <T>(list: readonly T[]): T => list[integerBetween(random, 0, list.length)]!
    const all: StoreEvent[] = []
    store.watch('things', '', 0, (event) => all.push(event))
    const watches: { pinned: WatchPin; prefix: string; from: number; seen: StoreEvent[] }[] = []
    for (let step = 0; step < 300; step++) {
      const key = `${any(['a', 'b'])}/${integerBetween(random, 0, 6)}`
      const remove = random.next() < 0.2 && store.get({ collection: 'things', key }) !== undefined
      store.commit({ collection: 'things', key }, (revision) =>
        remove
          ? undefined
          : { metadata: { name: key, resourceVersion: String(revision) }, color: any(COLORS) },
      )
      if (step % 10 !== 0) continue
      const pinned = random.next() < 0.5 ? pin(any(COLORS)) : pin(key, 'metadata.name', nameOf)
      const prefix = any(['', 'a/', 'b/'])
      const from = integerBetween(random, Math.max(0, store.revision - 50), store.revision + 1)
      const seen: StoreEvent[] = []
      store.watch('things', prefix, from, (event) => seen.push(event), pinned)
      watches.push({ pinned, prefix, from, seen })
    }
    for (const { pinned, prefix, from, seen } of watches) {
      const wanted = all.filter(
        ({ revision, key, object, previous }) =>
          revision > from &&
          key.startsWith(prefix) &&
          [object, previous ?? object].some((state) => pinned.of(state) === pinned.value),
      )
      assert.deepEqual(seen, wanted)
    }
  })
}

test('an event costs one look per field, however many watch other values', () => {
  const store = createMemoryStore(new VirtualClock({ settle: () => Promise.resolve() }))
  let looks = 0
  let told = 0
  const of = (object: Stored): string => {
    looks++
    return colorOf(object)
  }
  for (let node = 0; node < 1000; node++)
    store.watch('things', '', 0, () => told++, { field: 'color', value: `node-${node}`, of })
  const write = (color: string): StoreEvent =>
    store.commit({ collection: 'things', key: 'x' }, () => ({ metadata: {}, color }))
  write('node-7')
  assert.deepEqual([looks, told], [1, 1])
  write('node-7')
  assert.deepEqual([looks, told], [3, 2])
  write('node-8')
  assert.deepEqual([looks, told], [5, 4])
})

test('a watch that has ended hears nothing, and its value can be watched again', () => {
  const store = createMemoryStore(new VirtualClock({ settle: () => Promise.resolve() }))
  const seen: string[] = []
  const start = (name: string): (() => void) => {
    const watch = store.watch('things', '', store.revision, () => seen.push(name), pin('red'))
    assert.ok(watch !== 'expired')
    return () => watch.stop()
  }
  const write = (): StoreEvent =>
    store.commit({ collection: 'things', key: 'x' }, () => ({ metadata: {}, color: 'red' }))
  const stopFirst = start('first')
  const stopSecond = start('second')
  write()
  stopFirst()
  write()
  stopSecond()
  stopSecond()
  write()
  start('third')
  write()
  assert.deepEqual(seen, ['first', 'second', 'second', 'third'])
})

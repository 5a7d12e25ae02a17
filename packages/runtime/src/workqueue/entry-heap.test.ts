import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EntryHeap } from './entry-heap.ts'

interface Entry {
  readonly key: string
  readonly at: number
}

function heapOf() {
  const current = new Map<string, Entry>()
  const heap = new EntryHeap<Entry>({ current, compare: (a, b) => a.at - b.at })
  const put = (key: string, at: number): void => {
    const entry = { key, at }
    current.set(key, entry)
    heap.push(entry)
  }
  const take = (): string | undefined => {
    const entry = heap.pop()
    if (entry !== undefined) current.delete(entry.key)
    return entry && `${entry.key}@${entry.at}`
  }
  return { current, heap, put, take }
}

test('what was replaced is not given out, by peek neither', () => {
  const { heap, put, take } = heapOf()
  put('a', 3)
  put('b', 2)
  put('a', 1)
  put('b', 4)
  assert.equal(heap.peek()?.at, 1)
  assert.deepEqual([take(), take(), take()], ['a@1', 'b@4', undefined])
  assert.equal(heap.peek(), undefined)
})

test('a key that is due in a day, and at once again and again, leaves no heap of entries behind', () => {
  const { heap, put, take } = heapOf()
  put('other', 500)
  for (let event = 0; event < 10_000; event++) {
    put('a', 86_400)
    put('a', 1)
    assert.equal(take(), 'a@1')
    assert.ok(heap.size <= 100, `${heap.size} entries for one key`)
  }
  put('a', 86_400)
  assert.deepEqual([take(), take(), take()], ['other@500', 'a@86400', undefined])
})

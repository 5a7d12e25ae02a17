import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstIndexWhere } from './binary-search.ts'

test('finds the first index wherever it is, and asks for none beyond', () => {
  for (let count = 0; count < 20; count++)
    for (let first = 0; first <= count; first++) {
      const asked: number[] = []
      const found = firstIndexWhere(count, (index) => {
        asked.push(index)
        return index >= first
      })
      assert.equal(found, first)
      assert.ok(asked.every((index) => index >= 0 && index < count))
      assert.equal(new Set(asked).size, asked.length)
      assert.ok(asked.length <= Math.ceil(Math.log2(count + 1)))
    }
})

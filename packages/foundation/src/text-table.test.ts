import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from './random.ts'
import { hashOfText } from './text-hash.ts'
import { TextTable } from './text-table.ts'

interface Named {
  readonly name: string
  readonly state: number
}

/** Long texts are hashed at some places only, of which the second is none. */
const colliding = (letter: string): string => `a${letter}${'b'.repeat(78)}`

test('texts that differ in one place may collide, and most do not', () => {
  assert.equal(hashOfText(colliding('x')), hashOfText(colliding('y')))
  const hashes = new Set<number>()
  for (let i = 0; i < 10_000; i++) hashes.add(hashOfText(`team-service-${i}-7d9c5b8f6-x2k4q`))
  assert.ok(hashes.size > 9_990, `${hashes.size} hashes`)
})

test('behaves as a map by text, also where texts collide', () => {
  const random = new SeededRandom('text table')
  const names = ['p', 'q', 'r', '', ...['x', 'y', 'z'].map(colliding)]
  const table = new TextTable<Named>(({ name }) => name)
  const model = new Map<string, Named>()
  for (let state = 0; state < 3_000; state++) {
    const name = names[Math.floor(random.next() * names.length)]!
    assert.equal(table.get(name), model.get(name))
    if (random.next() < 0.5) {
      assert.equal(table.set({ name, state }), model.get(name))
      model.set(name, table.get(name)!)
      assert.equal(table.get(name)?.state, state)
    } else {
      assert.equal(table.delete(name), model.get(name))
      model.delete(name)
    }
    assert.equal(table.size, model.size)
    assert.deepEqual(new Set(table.values()), new Set(model.values()))
    assert.deepEqual([...table.values()], table.list())
  }
})

test('values come in the order in which their texts came first', () => {
  const table = new TextTable<Named>(({ name }) => name)
  for (const name of ['c', 'a', 'b', 'a']) table.set({ name, state: 0 })
  assert.deepEqual(
    [...table.values()].map(({ name }) => name),
    ['c', 'a', 'b'],
  )
})

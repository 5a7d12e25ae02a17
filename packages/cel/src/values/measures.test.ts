import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { result } from '../fixtures.ts'

describe('what costs one step of an expression looks through a big value once, however often it is asked', () => {
  const UNITS = 4000
  const EMOJI = '😀'.repeat(UNITS / 2)
  const ROUNDS = `[${'1, '.repeat(20)}]`

  test('the size of a text', (t) => {
    const looks = t.mock.method(String.prototype, 'charCodeAt')
    assert.equal(
      result(`${ROUNDS}.all(x, size(t) == ${UNITS / 2})`, { values: { t: EMOJI } }),
      true,
    )
    assert.ok(looks.mock.callCount() < 3 * UNITS, `${looks.mock.callCount()} looks`)
  })

  test('a comparison, whose cost is told by the sizes', (t) => {
    const looks = t.mock.method(String.prototype, 'charCodeAt')
    const other = `${EMOJI}!`
    assert.equal(result(`${ROUNDS}.all(x, t != o)`, { values: { t: EMOJI, o: other } }), true)
    assert.ok(looks.mock.callCount() < 5 * UNITS, `${looks.mock.callCount()} looks`)
  })

  for (const [text, expected] of [
    [EMOJI, '😀'],
    ['a'.repeat(UNITS), 'a'],
    [`${'€'.repeat(UNITS - 1)}a`, '€'],
  ] as const)
    test(`a character of a text of ${expected}`, (t) => {
      const own = Reflect.getOwnPropertyDescriptor(String.prototype, Symbol.iterator)!
      const iterate = String.prototype[Symbol.iterator]
      let splits = 0
      function counted(this: string): StringIterator<string> {
        if (this.length === UNITS) splits++
        return iterate.call(this)
      }
      Reflect.defineProperty(String.prototype, Symbol.iterator, { ...own, value: counted })
      t.after(() => Reflect.defineProperty(String.prototype, Symbol.iterator, own))
      const values = { t: text }
      assert.equal(result(`${ROUNDS}.all(x, t.charAt(1) == '${expected}')`, { values }), true)
      assert.ok(splits <= 1, `split ${splits} times`)
    })

  test('the size of an object', () => {
    let looks = 0
    const counted = new Proxy(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index])),
      {
        ownKeys(object) {
          looks++
          return Reflect.ownKeys(object)
        },
      },
    )
    const values = { m: { counted } }
    assert.equal(result(`${ROUNDS}.all(x, size(m.counted) == 100)`, { values }), true)
    assert.equal(looks, 1)
  })
})

describe('big values that look alike', () => {
  test('texts with as many units', () => {
    const values = { a: 'a'.repeat(80), b: '😀'.repeat(40), c: `${'é'.repeat(79)}x` }
    assert.deepEqual(
      result('[size(a), size(b), size(c), size(b), size(a)]', { values }),
      [80, 40, 80, 40, 80],
    )
    assert.deepEqual(result(`[b.charAt(39), c.charAt(79), a.charAt(80)]`, { values }), [
      '😀',
      'x',
      '',
    ])
    assert.equal(result('b.charAt(41)', { values }), 'error: index out of range: 41')
  })

  test('an object that grows between evaluations', () => {
    const grown = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 1]))
    assert.equal(result('size(m)', { values: { m: grown } }), 100)
    grown.more = 1
    assert.equal(result('size(m)', { values: { m: grown } }), 101)
  })
})

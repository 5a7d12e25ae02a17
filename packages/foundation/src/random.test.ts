import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween, jitter, uuid } from './random.ts'

test('the same seed gives the same stream, another seed another', () => {
  const draw = (seed: string): number[] => {
    const random = new SeededRandom(seed)
    return Array.from({ length: 5 }, () => random.next())
  }
  assert.deepEqual(draw('a'), draw('a'))
  assert.notDeepEqual(draw('a'), draw('b'))
})

test('a fork does not depend on draws of its parent or siblings', () => {
  const one = new SeededRandom(1)
  const two = new SeededRandom(1)
  two.next()
  two.fork('other').next()
  assert.equal(one.fork('x').next(), two.fork('x').next())
  assert.notEqual(one.fork('x').next(), one.fork('y').next())
})

test('draws are in [0, 1) and spread evenly', () => {
  const random = new SeededRandom('spread')
  const buckets = Array.from({ length: 10 }, () => 0)
  for (let i = 0; i < 10_000; i++) {
    const value = random.next()
    assert.ok(value >= 0 && value < 1)
    buckets[Math.floor(value * 10)]!++
  }
  for (const count of buckets) assert.ok(count > 850 && count < 1150, String(buckets))
})

test('helpers keep their ranges and forms', () => {
  const random = new SeededRandom('ranges')
  for (let i = 0; i < 200; i++) {
    const integer = integerBetween(random, 3, 5)
    assert.ok(integer === 3 || integer === 4)
    const delayMs = jitter(random, 100, 0.5)
    assert.ok(delayMs >= 100 && delayMs < 150)
    assert.match(
      uuid(random),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  }
})

test('every digit of UUIDs that is not fixed is spread evenly', () => {
  const random = new SeededRandom('uuids')
  const counts = Array.from({ length: 36 }, () => new Map<string, number>())
  for (let i = 0; i < 3200; i++)
    for (const [place, digit] of [...uuid(random)].entries())
      counts[place]!.set(digit, (counts[place]!.get(digit) ?? 0) + 1)
  for (const [place, digits] of counts.entries()) {
    const kinds = place === 19 ? 4 : digits.size === 1 ? 1 : 16
    assert.equal(digits.size, kinds)
    const expected = 3200 / kinds
    for (const [digit, count] of digits)
      assert.ok(Math.abs(count - expected) < 5 * Math.sqrt(expected), `${place} ${digit} ${count}`)
  }
})

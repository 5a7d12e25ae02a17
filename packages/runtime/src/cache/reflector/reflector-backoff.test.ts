import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { testClock } from '../../testing/index.ts'
import { ReflectorBackoff } from './reflector-backoff.ts'

const BASES = [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]

test('0.8 s doubling to 30 s, each longer by up to itself, and not by the same for everybody', () => {
  const firsts = new Set<number>()
  for (let seed = 0; seed < 20; seed++) {
    const backoff = new ReflectorBackoff(testClock(), new SeededRandom(seed))
    const delays = BASES.map(() => backoff.nextDelayMs())
    for (const [i, baseMs] of BASES.entries())
      assert.ok(delays[i]! >= baseMs && delays[i]! < 2 * baseMs, `${delays[i]} for ${baseMs}`)
    firsts.add(delays[0]!)
  }
  assert.ok(firsts.size > 10, 'a thousand reflectors must not come back in one moment')
})

test('it starts over two minutes after it last started, whether or not it was used meanwhile', async () => {
  const clock = testClock()
  const backoff = new ReflectorBackoff(clock, { next: () => 0, fork: () => assert.fail() })
  assert.equal(backoff.nextDelayMs(), 800)
  await clock.advance(120_000)
  assert.equal(backoff.nextDelayMs(), 1_600)
  await clock.advance(1)
  assert.equal(backoff.nextDelayMs(), 800)
  await clock.advance(119_000)
  assert.equal(backoff.nextDelayMs(), 1_600)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DISTURBANCES, playOnce, scaled, shotOf, simulate } from '@gyropilot/cluster'
import scenario from './website.scenario.ts'

const SEED = 'websites'
const REST = { quietMs: 120_000 }

test('undisturbed, a website gets its page, its server and its address', async () => {
  const { violations } = await playOnce(scenario, SEED, undefined, REST)
  assert.deepEqual(violations, [])
})

/** A sample. All of them: `explore(scenario, { seed })`, or gyro simulate --explore --scenario FILE. */
for (const disturbance of DISTURBANCES) {
  for (const position of [0, 3, 6]) {
    test(`${disturbance}, the ${position + 1}. of its kind: the same end`, async () => {
      const { violations } = await playOnce(scenario, SEED, shotOf(disturbance, position), REST)
      assert.deepEqual(violations, [])
    })
  }
}

for (const seed of ['a', 'b', 'c']) {
  test(`seed ${seed}: random faults for five virtual minutes`, async () => {
    const { violations } = await simulate({
      seed,
      minutes: 5,
      rates: scaled(1),
      scenario,
      rest: REST,
    })
    assert.deepEqual(violations, [])
  })
}

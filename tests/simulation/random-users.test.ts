/** A random user under random faults, with every controller. The nightly step `more-random-users` has 60 runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULT_KINDS, scaled, simulate } from '@gyropilot/cluster'

const RUNS = [
  { intensity: 0, seeds: 2 },
  { intensity: 1, seeds: 6 },
  { intensity: 4, seeds: 3 },
  { intensity: 1, seeds: 1, podGroups: true },
]

/** Of all runs together: those that strike by the minute need not come in every one. */
const struck = new Set<string>()

for (const { intensity, seeds, podGroups = false } of RUNS) {
  for (let index = 1; index <= seeds; index++) {
    const seed = `ci-${intensity}-${index}${podGroups ? '-groups' : ''}`
    test(`seed ${seed}: whatever goes wrong, everything ends at its spec and rests`, async () => {
      const outcome = await simulate({ seed, minutes: 6, rates: scaled(intensity), podGroups })
      const flags = `--minutes 6 --intensity ${intensity}${podGroups ? ' --pod-groups' : ''}`
      const replay = `gyro simulate --seed ${seed} ${flags}`
      assert.deepEqual(outcome.violations, [], `play it again: ${replay}`)
      assert.ok(outcome.writes > 50)
      assert.equal(Object.keys(outcome.faults).length > 0, intensity > 0)
      for (const kind of Object.keys(outcome.faults)) struck.add(kind)
    })
  }
}

test('every kind of fault strikes in one of these runs', () => {
  const missing = FAULT_KINDS.filter((kind) => !struck.has(kind))
  assert.deepEqual(missing, [])
})

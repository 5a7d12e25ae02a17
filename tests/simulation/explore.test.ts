/**
 * Small worlds: every scenario once for each of a sample of fault positions. All positions: `gyro simulate --explore`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DISTURBANCES, explore, scenarios } from '@gyropilot/cluster'
import { controllers } from '@gyropilot/controllers'

/** Every n-th position, and the first of each disturbance always. The nightly step `more-simulation` has one in 17, of all. */
const STRIDE = 82
const REST = { quietMs: 120_000 }

/** Every third disturbance, beginning with another one for each scenario. */
const disturbancesOf = (index: number) =>
  DISTURBANCES.filter((_, position) => position % 3 === index % 3)

for (const [index, scenario] of scenarios.entries()) {
  test(`${scenario.name}: the same end after a fault anywhere`, async () => {
    const disturbances = disturbancesOf(index)
    const options = { seed: 'explore', stride: STRIDE, rest: REST, disturbances }
    const report = await explore(scenario, options)
    assert.deepEqual(report.baseline, [])
    const failures = report.failures.map(({ disturbance, position, place, violations }) => ({
      schedule: `${disturbance} ${position}: ${place}`,
      violations: violations.map(({ checker, message }) => `${checker}: ${message}`),
    }))
    assert.deepEqual(failures, [])
    assert.ok(report.positions.write > 0 && report.positions.event > 0)
    assert.equal(report.unreached, 0)
  })
}

test('every controller has a scenario of its own', () => {
  const covered = new Set(scenarios.flatMap((scenario) => scenario.controllers))
  const names = controllers.map(({ name }) => name)
  assert.deepEqual(
    names.filter((name) => !covered.has(name)),
    [],
  )
})

/**
 * Finding 10 of docs/reliability.md: the garbage collector has not seen a ReplicaSet yet when its Deployment is deleted with
 * Orphan. The places are found by what happens there: their numbers change with every request that is added or saved.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playOnce, scenarios, shotOf } from '@gyropilot/cluster'

const REST = { quietMs: 120_000 }

for (const disturbance of ['event lost', 'event late'] as const) {
  test(`a Deployment is deleted with Orphan, its ReplicaSet's ${disturbance}: the ReplicaSet and its pods stay`, async () => {
    const scenario = scenarios.find(({ name }) => name === 'a Deployment is deleted with Orphan')!
    const places: number[] = []
    await playOnce(scenario, 'full', undefined, REST, (stage, position, text) => {
      if (stage === 'event' && text.startsWith('replicasets.apps ADDED')) places.push(position)
    })
    assert.ok(places.length > 0)
    for (const place of places) {
      const { fault, violations } = await playOnce(
        scenario,
        'full',
        shotOf(disturbance, place),
        REST,
      )
      assert.equal(fault.fired, true)
      assert.deepEqual(violations, [], `${disturbance} ${place}`)
    }
  })
}

/** A cluster in a cloud under faults of both. More of it: `gyro simulate --cloud --seeds 500 --minutes 30`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Watchdog, createCluster, scaled, scenarios, simulate } from '@gyropilot/cluster'

test('seed ci-cloud-1: whatever goes wrong here and in the cloud, both end at the specs and rest', async () => {
  const outcome = await simulate({ seed: 'ci-cloud-1', minutes: 5, rates: scaled(1), cloud: true })
  const replay = 'gyro simulate --seed ci-cloud-1 --minutes 5 --cloud'
  assert.deepEqual(outcome.violations, [], `play it again: ${replay}`)
})

const story = scenarios.find(({ name }) => name === 'load balancers come, change and go')!
const REST = { quietMs: 120_000 }
const CALLS = [
  'ensureLoadBalancer',
  'ensureLoadBalancerDeleted',
  'getLoadBalancer',
  'updateLoadBalancer',
  'instanceMetadata',
  'instanceExists',
  'listRoutes',
  'createRoute',
]

for (const fault of ['fail', 'loseAnswers'] as const) {
  test(`the first calls of each name ${fault === 'fail' ? 'are refused' : 'lose their answers'}: the same end`, async () => {
    const cluster = await createCluster({ seed: fault, nodes: 1, cloud: true })
    const watchdog = new Watchdog(cluster)
    const { faults } = cluster.cloud!
    for (const name of CALLS) {
      if (fault === 'fail') faults.fail(name, new Error('broken'), 2)
      else faults.loseAnswers(name, 2)
    }
    await story.play(cluster)
    assert.deepEqual(await watchdog.judge(REST), [])
    assert.deepEqual([...story.ends!(cluster)], [])
  })
}

/** What is left of pods that their node refuses, as kube 1.36.2 writes it. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'

const MISFIT = {
  nodeSelector: { a: 'b' },
  schedulerName: 'nobody',
  readinessGates: [{ conditionType: 'my/gate' }],
}

function misfit(name: string): Pod {
  const made = pod(name)
  return { ...made, spec: { ...made.spec!, ...MISFIT } }
}

scenario(
  'a pod that its node refuses has why, and of conditions only those of others',
  async (world) => {
    const pods = world.of(resources.pods)
    await pods.create(misfit('bound'))
    await pods.create(misfit('plain'))
    const gate = { type: 'my/gate', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }
    await pods.patch(
      'bound',
      { type: 'strategic', value: { status: { conditions: [gate] } } },
      { subresource: 'status' },
    )
    for (const name of ['bound', 'plain'])
      await pods.createSubresource(name, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        target: { kind: 'Node', name: 'node-1' },
      } as object)
    await world.advance(5_000)
    const failed = {
      message:
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
      observedGeneration: 1,
      phase: 'Failed',
      qosClass: 'BestEffort',
      reason: 'NodeAffinity',
    }
    const statusOf = async (name: string) => {
      const { startTime, ...status } = (await world.find(resources.pods, name))!.status!
      assert.ok(startTime !== undefined)
      return status
    }
    assert.deepEqual(await statusOf('bound'), {
      ...failed,
      conditions: [{ lastProbeTime: null, ...gate }],
    })
    assert.deepEqual(await statusOf('plain'), failed)
    await pods.delete('bound')
    await world.advance(2_000)
    assert.equal(await world.find(resources.pods, 'bound'), undefined)
  },
)

/** What docs/behaviour/simulation/kubelet.md says of containers that start again, and of processes of nodes that do. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, one, podOf, shell } from './kubelet-pods.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

async function statusOf(world: World) {
  const { status } = (await found(world)) ?? {}
  const { restartCount, state, lastState } = status?.containerStatuses?.[0] ?? {}
  return { phase: status?.phase, restartCount, state, lastState }
}

scenario(
  'a container whose first restart cannot be made waits in a pod that is Running, with its last run',
  async (world) => {
    const metadata = { name: 'env', namespace: 'default' }
    await world.of(resources.configmaps).create({ metadata, data: { A: '1' } })
    const envFrom = [{ configMapRef: { name: 'env' } }]
    await create(world, podOf({ ...shell('sleep 70; exit 3'), envFrom }))
    await world.advance(5_000)
    await world.of(resources.configmaps).delete('env')
    await world.advance(75_000)
    const { phase, restartCount, state, lastState } = await statusOf(world)
    assert.deepEqual(
      [phase, state?.waiting?.reason, lastState?.terminated?.exitCode, restartCount],
      ['Running', 'CreateContainerConfigError', 3, 0],
    )
    await world.of(resources.configmaps).create({ metadata })
    await world.advance(11_000)
    const again = await statusOf(world)
    assert.ok(again.state?.running)
    assert.deepEqual([again.lastState?.terminated?.exitCode, again.restartCount], [3, 1])
  },
  one,
)

scenario(
  'a process that starts again during a back-off loses no restart, and shows the container as it was',
  async (world) => {
    await create(world, podOf(shell('sleep 2; exit 1')))
    await world.advance(10_000)
    const before = await statusOf(world)
    assert.deepEqual([before.state?.waiting?.reason, before.restartCount], ['CrashLoopBackOff', 1])
    world.crash('node-1')
    const seen = new Set<string>()
    for (let at = 0; at < 30; at++) {
      await world.advance(100)
      const { state, restartCount, phase } = await statusOf(world)
      seen.add(`${phase} ${Object.keys(state ?? {})[0]} ${state?.waiting?.reason} ${restartCount}`)
    }
    assert.deepEqual(
      [...seen],
      ['Running waiting CrashLoopBackOff 1', 'Running running undefined 2'],
    )
  },
  one,
)

/** What upstream's integration and end-to-end tests say of NoExecute taints, on a whole cluster. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { Pod, Taint, Toleration } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const TAINT: Taint = { key: 'example.com/evict', effect: 'NoExecute' }

async function running(world: World, name: string, seconds?: number): Promise<Pod> {
  const base = pod(name, { finalizers: ['example.com/hold'] })
  const tolerations: Toleration[] = []
  if (seconds !== undefined) {
    tolerations.push({ ...TAINT, operator: 'Exists', tolerationSeconds: seconds })
  }
  await world
    .of(resources.pods)
    .create({ ...base, spec: { ...base.spec!, nodeName: 'node-1', tolerations } })
  return await world.until(`${name} runs`, 20_000, async () => {
    const found = await world.find(resources.pods, name)
    return found?.status?.phase === 'Running' ? found : undefined
  })
}

async function setTaints(world: World, taints: readonly Taint[] | null): Promise<void> {
  await world.of(resources.nodes).patch('node-1', { type: 'merge', value: { spec: { taints } } })
}

async function isTerminating(world: World, name: string): Promise<boolean> {
  const found = await world.find(resources.pods, name)
  return found?.metadata?.deletionTimestamp !== undefined
}

/** Virtual milliseconds until the pod is terminating. */
async function evictedAfterMs(world: World, name: string, withinMs: number): Promise<number> {
  const startMs = world.clock.monotonicMs()
  return await world.until(`${name} is evicted`, withinMs, async () =>
    (await isTerminating(world, name)) ? world.clock.monotonicMs() - startMs : undefined,
  )
}

scenario(
  'Given a user NoExecute taint, then the evicted pod has DisruptionTarget; with the controller not started it stays',
  async (world) => {
    await running(world, 'web')
    await setTaints(world, [TAINT])
    await evictedAfterMs(world, 'web', 1_000)
    const { status } = (await world.find(resources.pods, 'web'))!
    const {
      lastTransitionTime,
      lastProbeTime: _,
      ...condition
    } = findCondition(status?.conditions, 'DisruptionTarget')!
    assert.ok(lastTransitionTime)
    assert.deepEqual(condition, {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: 1,
    })
  },
)

scenario(
  'with the taint eviction controller not started a pod stays on a tainted node',
  async (world) => {
    await running(world, 'web')
    await setTaints(world, [TAINT])
    await world.advance(60_000)
    assert.equal(await isTerminating(world, 'web'), false)
  },
  { controllers: ['*', '-taint-eviction-controller'] },
)

scenario(
  'Given a taint removed before tolerationSeconds elapse, then the pod survives',
  async (world) => {
    await running(world, 'web', 20)
    await setTaints(world, [TAINT])
    await world.advance(15_000)
    await setTaints(world, null)
    await world.advance(60_000)
    assert.equal(await isTerminating(world, 'web'), false)
  },
)

scenario(
  'Given two pods with 5 s-scaled and 25 s-scaled tolerations, then both are evicted in time order',
  async (world) => {
    await running(world, 'short', 5)
    await running(world, 'long', 25)
    await setTaints(world, [TAINT])
    const short = await evictedAfterMs(world, 'short', 30_000)
    assert.ok(short >= 5_000 && short < 5_500, `${short} ms`)
    const long = await evictedAfterMs(world, 'long', 30_000)
    assert.ok(short + long >= 25_000 && short + long < 25_500, `${short + long} ms`)
  },
)

scenario('the countdown starts anew in a new process', async (world) => {
  await running(world, 'web', 20)
  await setTaints(world, [TAINT])
  await world.advance(15_000)
  world.restartManager()
  await world.advance(15_000)
  assert.equal(await isTerminating(world, 'web'), false)
  await evictedAfterMs(world, 'web', 30_000)
})

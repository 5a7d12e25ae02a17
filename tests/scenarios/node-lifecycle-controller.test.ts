/** Nodes that are lost and come back, as people know it: on a whole cluster, with upstream's times. */
import assert from 'node:assert/strict'
import { findCondition, isPodReady, resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { formatMicroTime } from '@gyropilot/foundation'
import { pod, replicaSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const LOST_MS = 900_000
/** A kubelet out of reach tries every 7 s; its first try may find a conflict with what it sent before and had no answer to. */
const BACK_WITHIN_MS = 25_000
const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'

async function nodeNamed(world: World, name: string): Promise<Node> {
  return (await world.find(resources.nodes, name))!
}

function readyOf({ status }: Node): string | undefined {
  return findCondition(status?.conditions, 'Ready')?.status
}

/** `key:effect`, sorted. */
function taintsOf({ spec }: Node): readonly string[] {
  return (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).toSorted()
}

/** Virtual milliseconds from now until it holds. */
async function measured(
  world: World,
  what: string,
  withinMs: number,
  holds: () => Promise<boolean>,
): Promise<number> {
  const startMs = world.clock.monotonicMs()
  return await world.until(what, withinMs, async () =>
    (await holds()) ? world.clock.monotonicMs() - startMs : undefined,
  )
}

async function webPods(world: World): Promise<readonly Pod[]> {
  return (await world.list(resources.pods)).filter(
    ({ metadata }) => metadata?.labels?.['app'] === 'web',
  )
}

const isTerminating = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp !== undefined

async function runWeb(world: World, replicas: number): Promise<void> {
  await world.of(resources.replicasets).create(replicaSet('web', { replicas }))
  await world.until('all pods are ready', 30_000, async () =>
    (await webPods(world)).filter(isPodReady).length === replicas ? true : undefined,
  )
}

scenario(
  'a node that goes away is not ready after the grace period, loses its pods after their toleration, and settles when it is back',
  async (world) => {
    await runWeb(world, 4)
    const lost = (await webPods(world)).filter(({ spec }) => spec?.nodeName === 'node-1')
    assert.ok(lost.length > 0)
    const startMs = world.clock.monotonicMs()
    world.partition('node-1', LOST_MS)
    const silentMs = await measured(
      world,
      'node-1 is not ready',
      70_000,
      async () => readyOf(await nodeNamed(world, 'node-1')) === 'Unknown',
    )
    // A lease is up to 10 s old then, a pass up to 5 s away.
    assert.ok(silentMs > 39_000 && silentMs <= 56_000, `${silentMs} ms`)
    await world.advance(1_000)
    assert.deepEqual(taintsOf(await nodeNamed(world, 'node-1')), [
      `${UNREACHABLE}:NoExecute`,
      `${UNREACHABLE}:NoSchedule`,
    ])
    const here = (await webPods(world)).filter(({ spec }) => spec?.nodeName === 'node-1')
    assert.ok(here.every((each) => !isPodReady(each) && !isTerminating(each)))
    const patientMs = await measured(world, 'its pods are evicted', 400_000, async () =>
      (await webPods(world)).some(isTerminating),
    )
    assert.ok(patientMs > 298_000 && patientMs < 301_000, `${patientMs} ms`)
    await world.until('they are replaced elsewhere', 30_000, async () => {
      const ready = (await webPods(world)).filter((each) => isPodReady(each))
      return ready.length === 4 && ready.every(({ spec }) => spec?.nodeName !== 'node-1')
        ? true
        : undefined
    })
    assert.equal((await webPods(world)).filter(isTerminating).length, lost.length)
    await world.advance(startMs + LOST_MS - world.clock.monotonicMs())
    await world.until('the node is back', BACK_WITHIN_MS, async () =>
      readyOf(await nodeNamed(world, 'node-1')) === 'True' ? true : undefined,
    )
    await world.advance(30_000)
    assert.deepEqual(taintsOf(await nodeNamed(world, 'node-1')), [])
    const pods = await webPods(world)
    assert.deepEqual([pods.length, pods.filter(isPodReady).length], [4, 4])
  },
  { nodes: 3 },
)

scenario('nothing is evicted while all nodes are dark', async (world) => {
  await runWeb(world, 4)
  const before = (await webPods(world)).map(({ metadata }) => metadata?.uid).toSorted()
  for (const name of ['node-1', 'node-2']) world.partition(name, LOST_MS)
  await world.advance(LOST_MS - 1_000)
  for (const name of ['node-1', 'node-2']) {
    const dark = await nodeNamed(world, name)
    assert.deepEqual([readyOf(dark), taintsOf(dark)], ['Unknown', [`${UNREACHABLE}:NoSchedule`]])
  }
  const pods = await webPods(world)
  assert.deepEqual(pods.map(({ metadata }) => metadata?.uid).toSorted(), before)
  assert.ok(!pods.some(isTerminating))
  await world.until('all nodes are back', BACK_WITHIN_MS, async () => {
    const nodes = await world.list(resources.nodes)
    return nodes.every((node) => readyOf(node) === 'True') ? true : undefined
  })
  await world.advance(60_000)
  for (const node of await world.list(resources.nodes)) assert.deepEqual(taintsOf(node), [])
  assert.deepEqual((await webPods(world)).map(({ metadata }) => metadata?.uid).toSorted(), before)
})

/** A node whose kubelet is the test: it is heard of, and says that it is not ready. */
async function sickNode(world: World) {
  const conditions = [{ type: 'Ready', status: 'False' as const, reason: 'KubeletNotReady' }]
  await world.of(resources.nodes).create({ metadata: { name: 'sick' }, status: { conditions } })
  const leases = world.of(resources.leases, 'kube-node-lease')
  const spec = () => ({
    holderIdentity: 'sick',
    leaseDurationSeconds: 40,
    renewTime: formatMicroTime(world.clock.nowMs()),
  })
  await leases.create({ metadata: { name: 'sick' }, spec: spec() })
  return {
    async beat(forMs: number): Promise<void> {
      const endMs = world.clock.monotonicMs() + forMs
      while (world.clock.monotonicMs() < endMs) {
        await world.advance(Math.min(10_000, endMs - world.clock.monotonicMs()))
        await leases.patch('sick', { type: 'merge', value: { spec: spec() } })
      }
    },
  }
}

scenario(
  'Given tolerationSeconds 200 for not-ready and a NotReady node, then its pods stay during the window; with 0 they are deleted',
  async (world) => {
    const sick = await sickNode(world)
    for (const [name, tolerationSeconds] of [
      ['patient', 200],
      ['hasty', 0],
    ] as const) {
      const base = pod(name, { finalizers: ['example.com/hold'] })
      const toleration = { key: NOT_READY, operator: 'Exists', effect: 'NoExecute' } as const
      const tolerations = [{ ...toleration, tolerationSeconds }]
      const spec = { ...base.spec!, nodeName: 'sick', tolerations }
      await world.of(resources.pods).create({ ...base, spec })
    }
    const isGoing = async (name: string): Promise<boolean> =>
      isTerminating((await world.find(resources.pods, name))!)
    await world.until('the hasty one goes', 10_000, async () =>
      (await isGoing('hasty')) ? true : undefined,
    )
    await sick.beat(190_000)
    assert.equal(await isGoing('patient'), false)
    await sick.beat(15_000)
    assert.equal(await isGoing('patient'), true)
  },
)

scenario('a node gets rid of the taint that it is born with', async (world) => {
  await world.advance(1_000)
  for (const node of await world.list(resources.nodes)) assert.deepEqual(taintsOf(node), [])
})

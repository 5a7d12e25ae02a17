/** What upstream's end-to-end and integration tests say of StatefulSets, on a whole cluster. */
import assert from 'node:assert/strict'
import { isPodReady, resources } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import { statefulSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 120_000
const SETTLE_MS = 10_000

type Spec = Partial<NonNullable<StatefulSet['spec']>>

const PARALLEL: Spec = { podManagementPolicy: 'Parallel' }

/** Simulated pods with this never become ready. */
const UNREADY = { 'sim.kubelet/never-ready': 'true' }

async function make(world: World, replicas: number, spec: Spec = {}): Promise<void> {
  await world.of(resources.statefulsets).create(statefulSet('db', { replicas, spec }))
}

async function db(world: World): Promise<StatefulSet> {
  const found = await world.find(resources.statefulsets, 'db')
  assert.ok(found)
  return found
}

async function pods(world: World): Promise<readonly Pod[]> {
  const all = await world.list(resources.pods)
  return all.toSorted((a, b) => (a.metadata!.name! < b.metadata!.name! ? -1 : 1))
}

const names = (all: readonly Pod[]) => all.map(({ metadata }) => metadata?.name)
const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image

async function images(world: World): Promise<readonly (string | undefined)[]> {
  return (await pods(world)).map(imageOf)
}

async function patch(world: World, spec: object): Promise<void> {
  await world.of(resources.statefulsets).patch('db', { type: 'merge', value: { spec } })
}

async function setImage(world: World, image: string): Promise<void> {
  const value = { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } }
  await world.of(resources.statefulsets).patch('db', { type: 'strategic', value })
}

async function available(world: World, count: number): Promise<void> {
  await world.until(`${count} available`, WITHIN_MS, async () => {
    const { status, metadata } = await db(world)
    const { replicas, availableReplicas = 0, observedGeneration } = status ?? {}
    const isThere = replicas === count && availableReplicas === count
    return isThere && observedGeneration === metadata?.generation ? true : undefined
  })
}

/** Names in the order in which they appeared and went, seen at every step of the clock. */
async function watchWhile(
  world: World,
  isOver: () => Promise<boolean>,
): Promise<readonly string[]> {
  const seen: string[] = []
  let known = new Set(names((await pods(world)).filter(isGoing)))
  await world.until('it is over', WITHIN_MS, async () => {
    const going = new Set(names((await pods(world)).filter(isGoing)))
    for (const name of going) if (!known.has(name)) seen.push(`+${name}`)
    for (const name of known) if (!going.has(name)) seen.push(`-${name}`)
    known = going
    return (await isOver()) ? true : undefined
  })
  return seen
}

const isGoing = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp === undefined

scenario(
  'Given R 3 OrderedReady, when pods become ready one by one, then creation order is 0, 1, 2; deletion order 2, 1, 0',
  async (world) => {
    await make(world, 3)
    const up = await watchWhile(
      world,
      async () => ((await db(world)).status?.availableReplicas ?? 0) === 3,
    )
    assert.deepEqual(up, ['+db-0', '+db-1', '+db-2'])
    await patch(world, { replicas: 0 })
    const down = await watchWhile(world, async () => (await pods(world)).length === 0)
    assert.deepEqual(down, ['-db-2', '-db-1', '-db-0'])
  },
)

scenario(
  'Given a Failed or Succeeded pod, then it is deleted and recreated with the same name',
  async (world) => {
    await make(world, 1)
    await available(world, 1)
    for (const phase of ['Failed', 'Succeeded']) {
      const [before] = await pods(world)
      await world
        .of(resources.pods)
        .patch('db-0', { type: 'merge', value: { status: { phase } } }, { subresource: 'status' })
      await world.until('another pod of the name is there', WITHIN_MS, async () => {
        const now = await world.find(resources.pods, 'db-0')
        return now !== undefined && now.metadata?.uid !== before?.metadata?.uid ? true : undefined
      })
      await available(world, 1)
    }
  },
)

scenario('Given start ordinal 4 and R 4, then pods 4..7 exist', async (world) => {
  await make(world, 4, { ordinals: { start: 4 } })
  await available(world, 4)
  assert.deepEqual(names(await pods(world)), ['db-4', 'db-5', 'db-6', 'db-7'])
})

scenario(
  'Given OnDelete and a new template, then pods change only when deleted by hand',
  async (world) => {
    await make(world, 2, { updateStrategy: { type: 'OnDelete' } })
    await available(world, 2)
    await setImage(world, 'nginx:2')
    await world.advance(SETTLE_MS)
    assert.deepEqual(await images(world), ['nginx:1.27', 'nginx:1.27'])
    await world.of(resources.pods).delete('db-0')
    await world.until('db-0 is new', WITHIN_MS, async () =>
      (await images(world))[0] === 'nginx:2' ? true : undefined,
    )
    await available(world, 2)
    assert.deepEqual(await images(world), ['nginx:2', 'nginx:1.27'])
  },
)

scenario(
  'Given partition 2 of 3, then only pod 2 is updated; lowering it phases the rest',
  async (world) => {
    const partitioned = (partition: number): Spec => ({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
    })
    await make(world, 3, partitioned(2))
    await available(world, 3)
    await setImage(world, 'nginx:2')
    const updated = async (count: number) => {
      await world.until(`${count} updated`, WITHIN_MS, async () => {
        const { status } = await db(world)
        return status?.updatedReplicas === count && status.availableReplicas === 3
          ? true
          : undefined
      })
      await world.advance(SETTLE_MS)
    }
    await updated(1)
    assert.deepEqual(await images(world), ['nginx:1.27', 'nginx:1.27', 'nginx:2'])
    await world.of(resources.pods).delete('db-0')
    await world.advance(SETTLE_MS)
    await available(world, 3)
    assert.deepEqual(await images(world), ['nginx:1.27', 'nginx:1.27', 'nginx:2'])
    await patch(world, partitioned(1))
    await updated(2)
    assert.deepEqual(await images(world), ['nginx:1.27', 'nginx:2', 'nginx:2'])
    assert.notEqual(
      (await db(world)).status?.currentRevision,
      (await db(world)).status?.updateRevision,
    )
    await patch(world, partitioned(0))
    await updated(3)
    assert.deepEqual(await images(world), ['nginx:2', 'nginx:2', 'nginx:2'])
    assert.equal(
      (await db(world)).status?.currentRevision,
      (await db(world)).status?.updateRevision,
    )
  },
)

scenario('Given many templates, then at most limit + 2 revisions remain', async (world) => {
  await make(world, 1, { revisionHistoryLimit: 2 })
  for (let tag = 2; tag < 9; tag += 1) {
    await available(world, 1)
    await setImage(world, `nginx:${tag}`)
    await world.advance(1_000)
    const revisions = await world.list(resources.controllerrevisions)
    assert.ok(revisions.length <= 4, `${revisions.length} revisions`)
  }
})

scenario(
  'Given minReadySeconds 30 and ready but unavailable pods, then rollout and scale down wait',
  async (world) => {
    await make(world, 2, { ...PARALLEL, minReadySeconds: 30 })
    await available(world, 2)
    await setImage(world, 'nginx:2')
    await world.until('db-1 is new and ready', WITHIN_MS, async () => {
      const found = await world.find(resources.pods, 'db-1')
      return found && imageOf(found) === 'nginx:2' && isPodReady(found) ? true : undefined
    })
    await world.advance(25_000)
    assert.deepEqual(await images(world), ['nginx:1.27', 'nginx:2'])
    await world.until('db-0 is new', WITHIN_MS, async () =>
      (await images(world))[0] === 'nginx:2' ? true : undefined,
    )
  },
)

scenario(
  'ordered scale down waits while a pod in range is ready but not available',
  async (world) => {
    await make(world, 3, { minReadySeconds: 30 })
    await available(world, 3)
    await world.of(resources.pods).delete('db-0')
    await world.until('another db-0 is ready', WITHIN_MS, async () => {
      const found = await world.find(resources.pods, 'db-0')
      return found && isGoing(found) && isPodReady(found) ? true : undefined
    })
    await patch(world, { replicas: 1 })
    await world.advance(25_000)
    assert.equal((await pods(world)).length, 3)
    await world.until('the others go', WITHIN_MS, async () =>
      (await pods(world)).length === 1 ? true : undefined,
    )
  },
)

for (const [title, spec, expected] of [
  [
    'Given an unhealthy pod, then OrderedReady scaling halts until it is healthy; Parallel continues',
    {},
    ['db-0'],
  ],
  [
    'an unhealthy pod does not keep Parallel scaling from going on',
    PARALLEL,
    ['db-0', 'db-1', 'db-2'],
  ],
] as const) {
  scenario(title, async (world) => {
    const set = statefulSet('db', { replicas: 1, spec, annotations: UNREADY })
    await world.of(resources.statefulsets).create(set)
    await world.advance(SETTLE_MS)
    await patch(world, { replicas: 3 })
    await world.advance(SETTLE_MS)
    assert.deepEqual(names(await pods(world)), expected)
    if (expected.length === 3) {
      await patch(world, { replicas: 0 })
      await world.until('all are gone', WITHIN_MS, async () =>
        (await pods(world)).length === 0 ? true : undefined,
      )
      return
    }
    const { status } = (await world.find(resources.pods, 'db-0'))!
    const conditions = status!.conditions!.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'True' } : condition,
    )
    await world
      .of(resources.pods)
      .patch(
        'db-0',
        { type: 'merge', value: { status: { conditions } } },
        { subresource: 'status' },
      )
    await world.until('the next is there', WITHIN_MS, async () =>
      (await pods(world)).length === 2 ? true : undefined,
    )
  })
}

scenario(
  'a pod that is held while it goes keeps its ordinal until it is gone for good',
  async (world) => {
    await make(world, 2)
    await available(world, 2)
    const finalizers = ['example.com/hold']
    await world
      .of(resources.pods)
      .patch('db-1', { type: 'merge', value: { metadata: { finalizers } } })
    const before = await world.find(resources.pods, 'db-1')
    await world.of(resources.pods).delete('db-1')
    await world.advance(300_000)
    const still = await world.find(resources.pods, 'db-1')
    assert.equal(still?.metadata?.uid, before?.metadata?.uid)
    assert.deepEqual(names(await pods(world)), ['db-0', 'db-1'])
    await world
      .of(resources.pods)
      .patch('db-1', { type: 'merge', value: { metadata: { finalizers: null } } })
    await available(world, 2)
    assert.notEqual(
      (await world.find(resources.pods, 'db-1'))?.metadata?.uid,
      before?.metadata?.uid,
    )
  },
)

scenario(
  'a set that is orphaned and made again takes its pods and its history back',
  async (world) => {
    await make(world, 2)
    await available(world, 2)
    const uids = (await pods(world)).map(({ metadata }) => metadata?.uid)
    await world.of(resources.statefulsets).delete('db', { propagationPolicy: 'Orphan' })
    await world.until('the set is gone', WITHIN_MS, async () =>
      (await world.find(resources.statefulsets, 'db')) === undefined ? true : undefined,
    )
    await make(world, 2)
    await available(world, 2)
    assert.deepEqual(
      (await pods(world)).map(({ metadata }) => metadata?.uid),
      uids,
    )
    assert.equal((await world.list(resources.controllerrevisions)).length, 1)
  },
)

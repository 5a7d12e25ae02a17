/** What upstream's tests say of DaemonSets, on a whole cluster. */
import assert from 'node:assert/strict'
import { findCondition, isPodReady, resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, Pod } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 120_000
const HASH_LABEL = 'controller-revision-hash'

interface Given {
  readonly image?: string
  readonly minReadySeconds?: number
  readonly maxUnavailable?: number | string
  readonly maxSurge?: number | string
}

function daemonSet(name: string, given: Given = {}): DaemonSet {
  const { image = 'nginx:1.27', minReadySeconds = 0, maxUnavailable = 1, maxSurge = 0 } = given
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      minReadySeconds,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
    },
  }
}

async function livePods(world: World): Promise<readonly Pod[]> {
  const all = await world.list(resources.pods)
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
}

async function namesOf(world: World): Promise<readonly string[]> {
  return (await livePods(world)).map(({ metadata }) => metadata?.name ?? '').toSorted()
}

async function agent(world: World): Promise<DaemonSet> {
  const found = await world.find(resources.daemonsets, 'agent')
  assert.ok(found)
  return found
}

async function rolledOut(world: World, count: number): Promise<DaemonSet> {
  return await world.until(`rolled out over ${count} nodes`, WITHIN_MS, async () => {
    const found = await agent(world)
    const { status, metadata } = found
    const isThere =
      status?.observedGeneration === metadata?.generation &&
      status?.desiredNumberScheduled === count &&
      (status?.updatedNumberScheduled ?? 0) === count &&
      (status?.numberAvailable ?? 0) === count &&
      (await livePods(world)).length === count
    return isThere ? found : undefined
  })
}

async function setImage(world: World, image: string): Promise<void> {
  const value = { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } }
  await world.of(resources.daemonsets).patch('agent', { type: 'strategic', value })
}

async function taint(world: World, name: string, effect: string | undefined): Promise<void> {
  const taints = effect === undefined ? null : [{ key: 'dedicated', value: 'x', effect }]
  await world.of(resources.nodes).patch(name, { type: 'merge', value: { spec: { taints } } })
}

/** Nodes that nobody runs: the test plays their kubelets. */
async function bareNode(world: World, name: string): Promise<void> {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' }
  await world
    .of(resources.nodes)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { allocatable } })
  await taint(world, name, undefined)
}

async function revisions(world: World): Promise<readonly ControllerRevision[]> {
  const all = await world.list(resources.controllerrevisions)
  return all.toSorted((left, right) => left.revision - right.revision)
}

scenario(
  'Given extra pods on nodes, when synced, then all but one per node are deleted',
  async (world) => {
    for (const [name, nodeName] of [
      ['a', 'node-1'],
      ['b', 'node-1'],
      ['c', 'node-2'],
    ] as const) {
      const base = pod(name, { labels: { app: 'agent' } })
      await world.of(resources.pods).create({ ...base, spec: { ...base.spec!, nodeName } })
      await world.advance(1_000)
    }
    await world.of(resources.daemonsets).create(daemonSet('agent'))
    await rolledOut(world, 3)
    const all = await livePods(world)
    assert.deepEqual(all.map(({ spec }) => spec?.nodeName).toSorted(), [
      'node-1',
      'node-2',
      'node-3',
    ])
  },
  { nodes: 3 },
)

scenario(
  'Given an intolerant NoSchedule taint and a running pod, then it stays; NoExecute: it is deleted',
  async (world) => {
    await world.of(resources.daemonsets).create(daemonSet('agent'))
    await rolledOut(world, 2)
    const before = await namesOf(world)
    await taint(world, 'node-1', 'NoSchedule')
    await world.advance(5_000)
    assert.equal((await agent(world)).status?.numberMisscheduled, 0)
    // The taint alone is no reason to look: nothing is to be done.
    await world
      .of(resources.daemonsets)
      .patch('agent', { type: 'merge', value: { metadata: { labels: { look: 'again' } } } })
    await world.until('it is misplaced', WITHIN_MS, async () => {
      const { status } = await agent(world)
      return status?.numberMisscheduled === 1 && status.desiredNumberScheduled === 1
        ? true
        : undefined
    })
    assert.deepEqual(await namesOf(world), before)
    await taint(world, 'node-1', 'NoExecute')
    await world.until('it is deleted', WITHIN_MS, async () =>
      (await livePods(world)).length === 1 ? true : undefined,
    )
    await taint(world, 'node-1', undefined)
    await rolledOut(world, 2)
  },
)

scenario(
  'Given 5 ready nodes, maxUnavailable 2 and a new template, then 2 deletes, then 2 creates, then wait',
  async (world) => {
    await world.of(resources.daemonsets).create(daemonSet('agent', { maxUnavailable: 2 }))
    await rolledOut(world, 5)
    const before = await namesOf(world)
    await setImage(world, 'nginx:does-not-exist')
    await world.advance(120_000)
    const pods = await livePods(world)
    const kept = pods.filter(({ metadata }) => before.includes(metadata?.name ?? ''))
    assert.deepEqual([pods.length, kept.length], [5, 3])
    assert.ok(kept.every(isPodReady))
    const { status } = await agent(world)
    assert.deepEqual([status?.numberAvailable, status?.updatedNumberScheduled], [3, 2])
    await setImage(world, 'nginx:1.28')
    await rolledOut(world, 5)
  },
  { nodes: 5 },
)

scenario(
  'Given maxSurge 1, then one new pod at a time; old deleted when the new one is available',
  async (world) => {
    const given = { maxUnavailable: 0, maxSurge: 1, minReadySeconds: 2 }
    await world.of(resources.daemonsets).create(daemonSet('agent', given))
    await rolledOut(world, 3)
    const [first] = await revisions(world)
    const oldHash = first?.metadata?.labels?.[HASH_LABEL]
    await setImage(world, 'nginx:1.28')
    for (let round = 0; ; round++) {
      assert.ok(round < 2_000, 'it never ended')
      await world.advance(50)
      const pods = await livePods(world)
      const old = pods.filter(({ metadata }) => metadata?.labels?.[HASH_LABEL] === oldHash)
      assert.ok(pods.length <= 4, `${pods.length} pods`)
      const served = new Set(pods.filter(isPodReady).map(({ spec }) => spec?.nodeName))
      assert.equal(served.size, 3)
      if (old.length === 0) break
    }
    await rolledOut(world, 3)
  },
  { nodes: 3 },
)

scenario('Given quota exhaustion, then status still updates', async (world) => {
  const hard = { pods: '0' }
  await world
    .of(resources.resourcequotas)
    .create({ metadata: { name: 'q', namespace: 'default' }, spec: { hard } })
  await world
    .of(resources.resourcequotas)
    .patch(
      'q',
      { type: 'merge', value: { status: { hard, used: { pods: '0' } } } },
      { subresource: 'status' },
    )
  await world.advance(2_000)
  await world.of(resources.daemonsets).create(daemonSet('agent'))
  const { status } = await world.until('the status', WITHIN_MS, async () => {
    const found = await agent(world)
    return found.status?.observedGeneration === 1 ? found : undefined
  })
  assert.deepEqual([status?.desiredNumberScheduled, status?.currentNumberScheduled], [2, 0])
  await world.of(resources.resourcequotas).delete('q')
  await rolledOut(world, 2)
})

scenario(
  'Given a rollback during a stuck rollout, then healthy pods are not restarted',
  async (world) => {
    await world.of(resources.daemonsets).create(daemonSet('agent'))
    await rolledOut(world, 4)
    const before = await namesOf(world)
    await setImage(world, 'nginx:does-not-exist')
    const stuck = await world.until('one new pod is stuck', WITHIN_MS, async () => {
      const fresh = (await namesOf(world)).filter((name) => !before.includes(name))
      return fresh.length === 1 ? fresh : undefined
    })
    await world.advance(30_000)
    await setImage(world, 'nginx:1.27')
    await rolledOut(world, 4)
    const after = await namesOf(world)
    const kept = after.filter((name) => before.includes(name))
    assert.equal(kept.length, 3)
    assert.ok(!after.includes(stuck[0]!))
    const numbers = (await revisions(world)).map(({ revision }) => revision)
    assert.deepEqual(numbers, [2, 3])
  },
  { nodes: 4 },
)

for (const phase of ['Failed', 'Succeeded'] as const) {
  const sentence = 'Given a Succeeded or Failed pod, then it is replaced'
  scenario(
    phase === 'Failed' ? sentence : `${sentence} (${phase})`,
    async (world) => {
      await bareNode(world, 'bare')
      const { spec, ...agentOn } = daemonSet('agent')
      const template = { ...spec!.template, spec: { ...spec!.template.spec!, nodeName: 'bare' } }
      await world.of(resources.daemonsets).create({ ...agentOn, spec: { ...spec!, template } })
      const bound = async (): Promise<Pod> =>
        await world.until('the pod is bound', WITHIN_MS, async () => {
          const [found] = await livePods(world)
          return found?.spec?.nodeName === 'bare' ? found : undefined
        })
      const name = (await bound()).metadata!.name!
      await world
        .of(resources.pods)
        .patch(name, { type: 'merge', value: { status: { phase } } }, { subresource: 'status' })
      await world
        .of(resources.pods)
        .delete(name, { gracePeriodSeconds: 0 })
        .catch(() => {})
      await world.until('another pod', WITHIN_MS, async () =>
        (await namesOf(world)).some((other) => other !== name) ? true : undefined,
      )
      const [event] = (await world.list(resources.events)).filter(
        ({ reason }) => reason === `${phase}DaemonPod`,
      )
      assert.equal(event?.type, phase === 'Failed' ? 'Warning' : 'Normal')
    },
    { nodes: 1 },
  )
}

scenario('a node that joins gets its pod, and a node that goes loses its count', async (world) => {
  await world.of(resources.daemonsets).create(daemonSet('agent'))
  await rolledOut(world, 2)
  await bareNode(world, 'late')
  await world.until('the late node has a pod', WITHIN_MS, async () =>
    (await livePods(world)).some(({ spec }) => spec?.nodeName === 'late') ? true : undefined,
  )
  await world.of(resources.nodes).delete('late')
  await world.until('its pod is collected', WITHIN_MS, async () => {
    const gone = (await livePods(world)).every(({ spec }) => spec?.nodeName !== 'late')
    return gone && (await agent(world)).status?.desiredNumberScheduled === 2 ? true : undefined
  })
})

scenario('a cordoned node gets its pod', async (world) => {
  await world
    .of(resources.nodes)
    .patch('node-1', { type: 'merge', value: { spec: { unschedulable: true } } })
  await world.advance(1_000)
  await world.of(resources.daemonsets).create(daemonSet('agent'))
  await rolledOut(world, 2)
  const scheduled = (await livePods(world)).map(({ status }) =>
    findCondition(status?.conditions, 'PodScheduled'),
  )
  assert.ok(scheduled.every((condition) => condition?.status === 'True'))
})

scenario('with minReadySeconds a pod is ready first and available later', async (world) => {
  await world.of(resources.daemonsets).create(daemonSet('agent', { minReadySeconds: 20 }))
  await world.until('both are ready', WITHIN_MS, async () =>
    (await agent(world)).status?.numberReady === 2 ? true : undefined,
  )
  assert.equal((await agent(world)).status?.numberAvailable, undefined)
  await world.advance(19_000)
  assert.equal((await agent(world)).status?.numberAvailable, undefined)
  await world.advance(3_000)
  assert.equal((await agent(world)).status?.numberAvailable, 2)
})

scenario(
  'a DaemonSet made anew adopts the pods and the history that its namesake left behind',
  async (world) => {
    await world.of(resources.daemonsets).create(daemonSet('agent'))
    await rolledOut(world, 2)
    const before = await namesOf(world)
    const [kept] = await revisions(world)
    await world.of(resources.daemonsets).delete('agent', { propagationPolicy: 'Orphan' })
    await world.until('it is gone', WITHIN_MS, async () =>
      (await world.find(resources.daemonsets, 'agent')) === undefined ? true : undefined,
    )
    const { metadata } = await world.of(resources.daemonsets).create(daemonSet('agent'))
    await rolledOut(world, 2)
    assert.deepEqual(await namesOf(world), before)
    const owners = [...(await livePods(world)), ...(await revisions(world))]
    assert.ok(owners.every((each) => each.metadata?.ownerReferences?.[0]?.uid === metadata?.uid))
    assert.deepEqual(
      (await revisions(world)).map((each) => each.metadata?.uid),
      [kept?.metadata?.uid],
    )
  },
)

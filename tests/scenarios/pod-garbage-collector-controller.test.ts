/** What upstream's integration tests say of pods that nothing else removes, on a whole cluster. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'
import { pod } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const FINALIZERS = ['example.com/hold']

function onNode(name: string, node: string, finalizers = FINALIZERS): Pod {
  const base = pod(name, { finalizers })
  return { ...base, spec: { ...base.spec!, nodeName: node } }
}

async function setPhase(world: World, name: string, phase: string): Promise<void> {
  await world
    .of(resources.pods)
    .patch(name, { type: 'merge', value: { status: { phase } } }, { subresource: 'status' })
}

async function terminating(world: World, name: string): Promise<Pod> {
  return await world.until(`${name} is terminating`, 90_000, async () => {
    const found = await world.find(resources.pods, name)
    return found?.metadata?.deletionTimestamp === undefined ? undefined : found
  })
}

scenario(
  'Given a Pending orphan with a finalizer, then phase Failed, DisruptionTarget with observedGeneration 1; Succeeded and Failed orphans keep their phase without the condition',
  async (world) => {
    for (const name of ['pending', 'succeeded', 'failed'])
      await world.of(resources.pods).create(onNode(name, 'gone'))
    await setPhase(world, 'succeeded', 'Succeeded')
    await setPhase(world, 'failed', 'Failed')
    await world.advance(39_000)
    assert.equal((await world.find(resources.pods, 'pending'))?.status?.phase, 'Pending')
    const { status, metadata } = await terminating(world, 'pending')
    assert.equal(metadata?.deletionGracePeriodSeconds, 0)
    assert.equal(status?.phase, 'Failed')
    const {
      lastTransitionTime,
      lastProbeTime: _,
      ...condition
    } = findCondition(status.conditions, 'DisruptionTarget')!
    assert.ok(lastTransitionTime)
    assert.deepEqual(condition, {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      observedGeneration: 1,
    })
    for (const [name, phase] of [
      ['succeeded', 'Succeeded'],
      ['failed', 'Failed'],
    ] as const) {
      const kept = await terminating(world, name)
      assert.equal(kept.status?.phase, phase)
      assert.equal(findCondition(kept.status.conditions, 'DisruptionTarget'), undefined)
    }
  },
)

scenario(
  'Given a terminating Pod with finalizer on an out-of-service node, then phase Failed',
  async (world) => {
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] as const
    await world
      .of(resources.nodes)
      .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'lost' }, spec: { taints } })
    await world.of(resources.pods).create(onNode('terminating', 'lost'))
    await world.of(resources.pods).create(onNode('running', 'lost', []))
    await world.of(resources.pods).delete('terminating')
    const failed = await world.until('it is failed', 25_000, async () => {
      const found = await world.find(resources.pods, 'terminating')
      return found?.status?.phase === 'Failed' ? found : undefined
    })
    assert.equal(findCondition(failed.status?.conditions, 'DisruptionTarget'), undefined)
    await world.advance(60_000)
    assert.equal((await world.find(resources.pods, 'running'))?.status?.phase, 'Pending')
  },
  { controllers: ['pod-garbage-collector-controller', 'serviceaccount-controller'] },
)

scenario(
  'Given Pods with duplicate env vars or ports on a missing node, then they are still patched and deleted',
  async (world) => {
    const twice = onNode('twice', 'gone')
    const [container] = twice.spec!.containers
    const doubled = {
      ...container!,
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
      ports: [
        { name: 'one', containerPort: 93, protocol: 'UDP' },
        { name: 'two', containerPort: 93, protocol: 'UDP' },
      ],
    } satisfies Container
    await world
      .of(resources.pods)
      .create({ ...twice, spec: { ...twice.spec!, containers: [doubled] } })
    const { status, spec } = await terminating(world, 'twice')
    assert.equal(status?.phase, 'Failed')
    assert.ok(findCondition(status.conditions, 'DisruptionTarget'))
    assert.deepEqual(spec?.containers[0]?.env, doubled.env)
    assert.equal(spec.containers[0]?.ports?.length, 2)
  },
)

scenario('a pod whose node was deleted goes, and its owner makes another', async (world) => {
  const spec = {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], nodeName: 'gone' },
    },
  }
  const metadata = { name: 'web', namespace: 'default' }
  await world
    .of(resources.replicasets)
    .create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec })
  const pods = async (): Promise<readonly string[]> =>
    (await world.list(resources.pods)).map((each) => each.metadata?.name ?? '')
  const first = await world.until('two pods', 5_000, async () => {
    const names = await pods()
    return names.length === 2 ? names : undefined
  })
  await world.advance(70_000)
  const second = await pods()
  assert.equal(second.length, 2)
  assert.ok(second.every((name) => !first.includes(name)))
})

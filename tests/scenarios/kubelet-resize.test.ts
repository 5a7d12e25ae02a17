/** What docs/behaviour/simulation/kubelet.md says of in-place resize. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]

const one = { nodes: 1 }
const calm = { restarts: 0, conditions: [] }
const cpu = (request: string) => ({ requests: { cpu: request } })

async function create(world: World, name: string, container: Partial<Container>): Promise<void> {
  const containers = [{ name: 'c', image: 'app:1', ...container }]
  const spec = { restartPolicy: 'OnFailure' as const, containers }
  await world
    .of(resources.pods)
    .create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec })
  await world.advance(2_000)
}

async function resize(world: World, name: string, wanted: Container['resources']): Promise<void> {
  const value = { spec: { containers: [{ name: 'c', resources: wanted }] } }
  await world
    .of(resources.pods)
    .patch(name, { type: 'strategic', value }, { subresource: 'resize' })
}

async function seen(world: World, name: string) {
  const pod = await world.find(resources.pods, name)
  const [status] = pod?.status?.containerStatuses ?? []
  const conditions = (pod?.status?.conditions ?? [])
    .filter(({ type }) => type.startsWith('PodResize'))
    .map(({ type, reason, message, observedGeneration: generation }) =>
      [type, generation, ...(reason === undefined ? [] : [reason, message])].join(' '),
    )
  return {
    granted: status?.allocatedResources?.['cpu'],
    actual: status?.resources?.requests?.['cpu'],
    ofPod: pod?.status?.allocatedResources?.['cpu'],
    restarts: status?.restartCount,
    conditions,
  }
}

async function told(world: World, name: string): Promise<readonly string[]> {
  await world.advance(2_000)
  const events = await world.list(resources.events)
  return events
    .filter(
      ({ involvedObject, reason = '' }) =>
        involvedObject.name === name && /^Resize|^Killing/.test(reason),
    )
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
}

scenario(
  'a resize that fits is granted at once and in effect a second later, without a restart',
  async (world) => {
    await create(world, 'p', { resources: cpu('1') })
    assert.deepEqual(await seen(world, 'p'), { granted: '1', actual: '1', ofPod: '1', ...calm })
    await resize(world, 'p', cpu('2'))
    await world.advance(500)
    assert.deepEqual(await seen(world, 'p'), {
      granted: '2',
      actual: '1',
      ofPod: '2',
      restarts: 0,
      conditions: ['PodResizeInProgress 2'],
    })
    await world.advance(1_000)
    assert.deepEqual(await seen(world, 'p'), { granted: '2', actual: '2', ofPod: '2', ...calm })
    const what = '{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}],"generation":2}'
    assert.deepEqual(await told(world, 'p'), [
      `Normal ResizeStarted Pod resize started: ${what}`,
      `Normal ResizeCompleted Pod resize completed: ${what}`,
    ])
  },
  one,
)

scenario(
  'an init container is resized while it runs, and nothing waits for it',
  async (world) => {
    const init = { name: 'i', image: 'app:1', command: ['sleep', '60'], resources: cpu('1') }
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: {
        initContainers: [init],
        containers: [{ name: 'c', image: 'app:1', resources: cpu('1') }],
      },
    })
    await world.advance(2_000)
    const value = { spec: { initContainers: [{ name: 'i', resources: cpu('2') }] } }
    await world
      .of(resources.pods)
      .patch('p', { type: 'strategic', value }, { subresource: 'resize' })
    const seenOfInit = async () => {
      const { status } = (await world.find(resources.pods, 'p'))!
      const [of] = status?.initContainerStatuses ?? []
      return {
        granted: of?.allocatedResources?.['cpu'],
        actual: of?.resources?.requests?.['cpu'],
        ofPod: status?.resources?.requests?.['cpu'],
        conditions: status?.conditions?.filter(({ type }) => type.startsWith('PodResize')),
      }
    }
    await world.advance(500)
    assert.deepEqual(await seenOfInit(), {
      granted: '2',
      actual: '1',
      ofPod: '2',
      conditions: [],
    })
    await world.advance(1_500)
    assert.deepEqual(await seenOfInit(), {
      granted: '2',
      actual: '2',
      ofPod: '2',
      conditions: [],
    })
    const reasons = (await told(world, 'p')).map((text) => text.split(' ')[1])
    assert.deepEqual(reasons, ['ResizeStarted', 'ResizeCompleted'])
  },
  one,
)

scenario(
  'a container whose policy asks for it is started again with what it was granted, at once',
  async (world) => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
    await create(world, 'p', { resources: cpu('1'), resizePolicy })
    await resize(world, 'p', cpu('2'))
    await world.advance(2_000)
    assert.deepEqual(await seen(world, 'p'), {
      granted: '2',
      actual: '2',
      ofPod: '2',
      ...calm,
      restarts: 1,
    })
    const pod = await world.find(resources.pods, 'p')
    assert.equal(pod?.status?.phase, 'Running')
    assert.ok(pod?.status?.containerStatuses?.[0]?.lastState?.terminated)
    assert.deepEqual(
      (await told(world, 'p')).filter((text) => text.includes('Killing')),
      ['Normal Killing Container c resize requires restart'],
    )
  },
  one,
)

const NO_ROOM = "Node didn't have enough resource: cpu, requested: 6000, used: 4000, capacity: 8000"

scenario(
  'a resize that does not fit now is deferred, and granted when another pod goes',
  async (world) => {
    await create(world, 'other', { resources: cpu('4') })
    await create(world, 'p', { resources: cpu('1') })
    await resize(world, 'p', cpu('6'))
    await world.advance(1_500)
    const deferred = { granted: '1', actual: '1', ofPod: '1', restarts: 0 }
    const conditions = [`PodResizePending 2 Deferred ${NO_ROOM}`]
    assert.deepEqual(await seen(world, 'p'), { ...deferred, conditions })
    await world.of(resources.pods).delete('other')
    await world.advance(3_000)
    assert.deepEqual(await seen(world, 'p'), { granted: '6', actual: '6', ofPod: '6', ...calm })
    const [first] = await told(world, 'p')
    const what = `{"containers":[{"name":"c","resources":{"requests":{"cpu":"6"}}}],"generation":2,"error":${JSON.stringify(NO_ROOM)}}`
    assert.equal(first, `Warning ResizeDeferred Pod resize Deferred: ${what}`)
  },
  one,
)

scenario(
  'a deferred resize is forgotten when less is asked for, and one pod that shrinks makes room for another',
  async (world) => {
    await create(world, 'other', { resources: cpu('4') })
    await create(world, 'p', { resources: cpu('1') })
    await resize(world, 'p', cpu('6'))
    await world.advance(1_500)
    await resize(world, 'p', cpu('1'))
    await world.advance(1_500)
    assert.deepEqual((await seen(world, 'p')).conditions, [])
    await resize(world, 'p', cpu('6'))
    await world.advance(1_500)
    await resize(world, 'other', cpu('2'))
    await world.advance(3_000)
    assert.deepEqual((await seen(world, 'p')).actual, '6')
  },
  one,
)

scenario(
  'a node process that starts again takes a resize up where it was',
  async (world) => {
    await create(world, 'other', { resources: cpu('4') })
    await create(world, 'p', { resources: cpu('1') })
    await resize(world, 'p', cpu('6'))
    await world.advance(1_500)
    world.crash('node-1')
    await world.advance(5_000)
    assert.deepEqual(await seen(world, 'p'), {
      granted: '1',
      actual: '1',
      ofPod: '1',
      restarts: 0,
      conditions: [`PodResizePending 2 Deferred ${NO_ROOM}`],
    })
    await world.of(resources.pods).delete('other')
    await world.advance(3_000)
    assert.equal((await seen(world, 'p')).actual, '6')
  },
  one,
)

scenario(
  'a container reads its limits in /sys/fs/cgroup, and sees them change',
  async (world) => {
    const script = 'until grep -q "^200000 " /sys/fs/cgroup/cpu.max; do sleep 1; done'
    const limited = (limit: string) => ({ requests: { cpu: '1' }, limits: { cpu: limit } })
    await create(world, 'p', { command: ['sh', '-c', script], resources: limited('1') })
    assert.equal((await seen(world, 'p')).restarts, 0)
    await resize(world, 'p', limited('2'))
    await world.advance(5_000)
    const pod = await world.find(resources.pods, 'p')
    const [status] = pod?.status?.containerStatuses ?? []
    assert.equal((status?.state?.terminated ?? status?.lastState?.terminated)?.exitCode, 0)
  },
  one,
)

scenario(
  'a container without limits reads those of its pod in /sys/fs/cgroup',
  async (world) => {
    const has = (limit: string, text: string) => `[ "$(cat /sys/fs/cgroup/${limit})" = "${text}" ]`
    const script = `${has('cpu.max', '150000 100000')} && ${has('memory.max', '1048576')}`
    const ofPod = { cpu: '3', memory: '1Mi' }
    const container = (name: string, limits: Record<string, string>) => ({
      name,
      image: 'app:1',
      command: ['sh', '-c', script],
      resources: { limits },
    })
    const containers = [container('own', { cpu: '1500m' }), container('none', {})]
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { restartPolicy: 'Never', resources: { limits: ofPod }, containers },
    })
    await world.advance(5_000)
    const pod = await world.find(resources.pods, 'p')
    const codes = pod?.status?.containerStatuses?.map(({ name, state }) => [
      name,
      state?.terminated?.exitCode,
    ])
    // The one with a limit of its own has that; the other is held to three CPUs.
    assert.deepEqual(codes, [
      ['none', 1],
      ['own', 0],
    ])
  },
  one,
)

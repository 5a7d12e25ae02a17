/** What docs/behaviour/simulation/kubelet.md says of containers that start again, and of processes of nodes that do. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, one, podOf, shell } from './kubelet-pods.ts'
import type { Container } from './kubelet-pods.ts'
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

const volumes = [{ name: 'pod', emptyDir: {} }]
const withFiles = (name: string, script: string): Container => ({
  name,
  image: 'busybox:1',
  ...shell(script),
  volumeMounts: [{ name: 'pod', mountPath: '/pod' }],
})
/** The second reads what the first has left, and the pod what the second has. */
const chain = (secondSeconds: number) => ({
  initContainers: [
    withFiles('first', 'sleep 3; date +%s > /pod/first'),
    withFiles(
      'second',
      `sleep ${secondSeconds}; cp /pod/first /pod/second && echo x >> /pod/count`,
    ),
  ],
  volumes,
})
const main = withFiles('c', 'cat /pod/second /pod/count || exit 1; sleep 100000')

const allStatuses = async (world: World) => {
  const { status } = (await found(world)) ?? {}
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}

scenario(
  'a pod that is taken up has the files of its init containers again, and nothing of it is seen',
  async (world) => {
    await create(world, podOf(main, { spec: chain(2) }))
    await world.advance(15_000)
    const before = await found(world)
    assert.equal(before?.status?.phase, 'Running')
    world.crash('node-1')
    await world.advance(30_000)
    const { status, metadata } = (await found(world)) ?? {}
    assert.deepEqual(
      [status, metadata?.resourceVersion],
      [before.status, before.metadata?.resourceVersion],
    )
  },
  one,
)

scenario(
  'a pod that is taken up between its init containers has the files of those that are done',
  async (world) => {
    await create(world, podOf(main, { spec: chain(20) }))
    await world.advance(10_000)
    world.crash('node-1')
    await world.advance(30_000)
    const statuses = await allStatuses(world)
    assert.deepEqual(
      statuses.map(({ name, restartCount, state }) => [
        name,
        restartCount,
        Object.keys(state ?? {})[0],
      ]),
      [
        ['first', 0, 'terminated'],
        ['second', 0, 'terminated'],
        ['c', 0, 'running'],
      ],
    )
  },
  one,
)

scenario(
  'on a machine that was off init containers run again before the main ones, as in any new sandbox',
  async (world) => {
    await create(world, podOf(main, { spec: chain(2) }))
    await create(world, {
      ...podOf(main, { spec: { ...chain(2), restartPolicy: 'Never' } }),
      metadata: { name: 'never' },
    })
    await world.advance(15_000)
    const nodes = world.of(resources.nodes)
    const turn = (text: string | null) =>
      nodes.patch('node-1', {
        type: 'merge',
        value: { metadata: { annotations: { 'sim.kubelet/node': text } } },
      })
    await turn('stopped: true')
    await world.advance(10_000)
    await turn(null)
    await world.advance(15_000)
    const statuses = await allStatuses(world)
    assert.deepEqual(
      statuses.map(({ name, restartCount, state, lastState }) => [
        name,
        restartCount,
        Object.keys(state ?? {})[0],
        lastState?.terminated?.exitCode,
      ]),
      [
        ['first', 1, 'terminated', 0],
        ['second', 1, 'terminated', 0],
        ['c', 1, 'running', 255],
      ],
    )
    const { status } = (await world.find(resources.pods, 'never')) ?? {}
    assert.deepEqual(
      [status?.phase, status?.initContainerStatuses?.map(({ restartCount }) => restartCount)],
      ['Failed', [0, 0]],
    )
  },
  one,
)

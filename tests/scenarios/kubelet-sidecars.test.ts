/** What docs/behaviour/simulation/kubelet.md says of sidecars of pods that are done. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, one, podOf, shell } from './kubelet-pods.ts'
import type { Container } from './kubelet-pods.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const sidecar = (name: string, more: Partial<Container>): Container => ({
  name,
  image: 'side:1',
  restartPolicy: 'Always',
  ...more,
})

async function seen(world: World) {
  const { status } = (await found(world)) ?? {}
  const sidecars = status?.initContainerStatuses ?? []
  const [main] = status?.containerStatuses ?? []
  return {
    phase: status?.phase,
    main: Object.keys(main?.state ?? {})[0],
    sidecars: sidecars.map(({ state }) => Object.keys(state ?? {})[0]),
    restarts: sidecars.map(({ restartCount }) => restartCount),
    ends: sidecars.map(({ state }) => state?.terminated?.exitCode),
  }
}

async function killings(world: World): Promise<readonly (string | undefined)[]> {
  await world.advance(2_000)
  const events = await world.list(resources.events)
  return events.filter(({ reason }) => reason === 'Killing').map(({ message }) => message)
}

scenario(
  'when the main containers are done sidecars are asked to end, the last one first, and the pod is done when they have stopped',
  async (world) => {
    const preStop = { sleep: { seconds: 5 } }
    const trap = (seconds: number) =>
      shell(`trap "sleep ${seconds}; exit 3" TERM; sleep infinity & wait`)
    const initContainers = [
      sidecar('first', { ...trap(4), lifecycle: { preStop } }),
      sidecar('second', trap(10)),
    ]
    const spec = { restartPolicy: 'Never', initContainers } as const
    await create(world, podOf(shell('sleep 3'), { spec }))
    await world.advance(7_000)
    // Of both the hooks begin at once: the second one waits 10 s in its trap, the first one after that.
    const during = await seen(world)
    assert.deepEqual(
      [during.phase, during.main, ...during.sidecars],
      ['Running', 'terminated', 'running', 'running'],
    )
    await world.advance(9_000)
    assert.deepEqual((await seen(world)).sidecars, ['running', 'terminated'])
    await world.advance(4_000)
    const after = await seen(world)
    assert.deepEqual([after.phase, ...after.ends], ['Succeeded', 3, 3])
    assert.deepEqual(await killings(world), [
      'Stopping container first',
      'Stopping container second',
    ])
  },
  one,
)

for (const [title, script] of [
  ['one that has ended and waits for its restart', 'sleep 1'],
  ['one that ends by itself just then', 'sleep 4'],
] as const)
  scenario(
    `nothing starts again in a pod that is done: ${title}`,
    async (world) => {
      const initContainers = [sidecar('side', shell(script))]
      const spec = { restartPolicy: 'Never', initContainers } as const
      await create(world, podOf(shell('sleep 3'), { spec }))
      await world.advance(8_000)
      const done = await seen(world)
      assert.deepEqual([done.phase, ...done.sidecars], ['Succeeded', 'terminated'])
      await world.advance(60_000)
      assert.deepEqual(await seen(world), done)
    },
    one,
  )

scenario(
  'a pod whose init container has failed stays Pending until its sidecars have stopped',
  async (world) => {
    const initContainers = [
      sidecar('side', shell('trap "sleep 4; exit 0" TERM; sleep infinity & wait')),
      { name: 'init', image: 'init:1', ...shell('sleep 1; exit 1') },
    ]
    await create(world, podOf({}, { spec: { restartPolicy: 'Never', initContainers } }))
    await world.advance(5_000)
    const during = await seen(world)
    assert.deepEqual([during.phase, during.sidecars[0]], ['Pending', 'running'])
    await world.advance(4_000)
    const after = await seen(world)
    assert.deepEqual([after.phase, ...after.sidecars], ['Failed', 'terminated', 'terminated'])
  },
  one,
)

scenario(
  'a deletion while the pod is stopped shortens what goes on, and no hook runs twice',
  async (world) => {
    const lifecycle = {
      preStop: {
        exec: { command: ['sh', '-c', 'echo stopping > /proc/1/fd/1; sleep 20; exit 1'] },
      },
    }
    const pod = podOf(
      { lifecycle },
      { spec: { activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 60 } },
    )
    await create(world, { ...pod, metadata: { ...pod.metadata, finalizers: ['x.example/y'] } })
    await world.advance(10_000)
    await world.of(resources.pods).delete('p')
    await world.advance(30_000)
    assert.equal((await found(world))?.status?.reason, 'DeadlineExceeded')
    assert.deepEqual(await killings(world), ['Stopping container c'])
    const events = await world.list(resources.events)
    const failed = events.filter(({ reason }) => reason === 'FailedPreStopHook')
    assert.deepEqual(
      failed.map(({ count = 1 }) => count),
      [1],
    )
  },
  one,
)

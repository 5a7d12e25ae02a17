/** What docs/behaviour/simulation/kubelet.md says of programs whose pod is being ended. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, one, podOf, shell } from './kubelet-pods.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const kept = (pod: ReturnType<typeof podOf>) => ({
  ...pod,
  metadata: { ...pod.metadata, finalizers: ['x.example/y'] },
})

/** How the pod's container ended, and how long after the deletion. */
async function endOf(world: World) {
  const pod = await found(world)
  const end = pod?.status?.containerStatuses?.[0]?.state?.terminated
  const deletedAtMs =
    Date.parse(pod?.metadata?.deletionTimestamp ?? '') -
    Number(pod?.metadata?.deletionGracePeriodSeconds) * 1_000
  const afterS = (Date.parse(end?.finishedAt ?? '') - deletedAtMs) / 1_000
  return { phase: pod?.status?.phase, exitCode: end?.exitCode, soon: afterS <= 2, afterS }
}

for (const [what, script, exitCode] of [
  ['what waits for jobs waits no longer', 'trap : TERM INT; sleep infinity & wait', 143],
  ['nor what waits for one of them', 'trap : TERM; sleep infinity & wait $!', 143],
  ['it may say how', 'trap "exit 3" TERM; sleep infinity & wait', 3],
  ['a loop sees what was set', 'trap "S=1" TERM; while [ -z "$S" ]; do sleep 1; done; exit 0', 0],
] as const)
  scenario(
    `a script that has a trap goes on after it: ${what}`,
    async (world) => {
      await create(world, kept(podOf(shell(script), { spec: { restartPolicy: 'Never' } })))
      await world.advance(5_000)
      await world.of(resources.pods).delete('p')
      await world.advance(40_000)
      const { phase, ...end } = await endOf(world)
      assert.deepEqual([end.exitCode, end.soon], [exitCode, true], JSON.stringify(end))
      assert.equal(phase, exitCode === 0 ? 'Succeeded' : 'Failed')
    },
    one,
  )

for (const [script, log] of [
  ['trap "echo bye; exit 3" TERM; echo hi; sleep 600 & wait', 'hi\nbye\n'],
  // Not what it would have said if nobody had asked it to end.
  [
    'trap S=1 TERM; until [ "$S" ]; do echo on; sleep 4; done; echo off; exit 3',
    'on\non\non\noff\n',
  ],
] as const)
  scenario(
    `what a program says upon a signal is in its log: ${script}`,
    async (world) => {
      const container = {
        ...shell(script),
        terminationMessagePolicy: 'FallbackToLogsOnError',
      } as const
      await create(world, kept(podOf(container, { spec: { restartPolicy: 'Never' } })))
      await world.advance(10_000)
      await world.of(resources.pods).delete('p')
      await world.advance(40_000)
      const end = (await found(world))?.status?.containerStatuses?.[0]?.state?.terminated
      assert.deepEqual([end?.exitCode, end?.message], [3, log])
    },
    one,
  )

scenario(
  'a program goes on while its preStop hook runs, and ends as it does',
  async (world) => {
    const preStop = { exec: { command: ['sh', '-c', 'touch /tmp/stop; sleep 5'] } }
    const script = 'while [ ! -f /tmp/stop ]; do sleep 1; done; exit 0'
    const container = { ...shell(script), lifecycle: { preStop } }
    await create(world, kept(podOf(container, { spec: { restartPolicy: 'Never' } })))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(40_000)
    const { phase, exitCode, soon } = await endOf(world)
    assert.deepEqual([phase, exitCode, soon], ['Succeeded', 0, true])
  },
  one,
)

scenario(
  'nothing starts after an init container that ends while its pod is being ended',
  async (world) => {
    const initContainers = [
      { name: 'i', image: 'i:1', ...shell('trap "S=1" TERM; while [ -z "$S" ]; do sleep 1; done') },
      { name: 'j', image: 'i:1', ...shell('exit 0') },
    ]
    await create(world, kept(podOf({}, { spec: { initContainers } })))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(40_000)
    const { phase, initContainerStatuses = [] } = (await found(world))?.status ?? {}
    assert.equal(phase, 'Failed')
    const [first, second] = initContainerStatuses.map(({ state }) => state)
    assert.deepEqual([first?.terminated?.exitCode, second?.terminated], [0, undefined])
  },
  one,
)

/** What docs/behaviour/simulation/kubelet.md says of rules that restart all containers of a pod. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]

const RULES = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }]

/** Runs a script; with files of the pod below /pod. */
function container(name: string, script: string, more: Partial<Container> = {}): Container {
  return {
    name,
    image: 'busybox:1',
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'pod', mountPath: '/pod' }],
    ...more,
  }
}
const once = (exitCode: number): string =>
  `if [ -f /pod/was ]; then sleep 1000; fi; touch /pod/was; sleep 10; exit ${exitCode}`

async function create(
  world: World,
  spec: Partial<Spec>,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: {
      restartPolicy: 'Never',
      volumes: [{ name: 'pod', emptyDir: {} }],
      containers: [],
      ...spec,
    },
  })
}

async function seen(world: World) {
  const { status, metadata } = (await world.find(resources.pods, 'p')) ?? {}
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type)
  return {
    uid: metadata?.uid,
    ip: status?.podIP,
    phase: status?.phase,
    restarts: statuses.map(({ name, restartCount }) => `${name} ${restartCount}`),
    states: statuses.map(({ state }) => Object.keys(state ?? {})[0]),
    last: statuses.map(({ lastState }) => lastState?.terminated),
    waiting: statuses.map(({ state }) => state?.waiting?.reason),
    restarting: condition('AllContainersRestarting'),
    initialized: condition('Initialized')?.status,
  }
}

scenario(
  'a container that ends with an exit code of the rule restarts all, in their order and in their place',
  async (world) => {
    await create(world, {
      initContainers: [
        container('init', 'echo run >> /pod/runs'),
        container('sidecar', 'sleep 1000', { restartPolicy: 'Always' }),
      ],
      containers: [
        container('source', once(42), { restartPolicy: 'Never', restartPolicyRules: RULES }),
        container('other', 'echo started >> /pod/others; sleep 1000'),
      ],
    })
    await world.advance(5_000)
    const before = await seen(world)
    assert.deepEqual(before.restarts, ['init 0', 'sidecar 0', 'other 0', 'source 0'])
    assert.equal(before.restarting?.status, 'False')
    await world.advance(30_000)
    const after = await seen(world)
    assert.deepEqual(after.restarts, ['init 1', 'sidecar 1', 'other 1', 'source 1'])
    assert.deepEqual(after.states, ['terminated', 'running', 'running', 'running'])
    assert.deepEqual([after.uid, after.ip, after.phase], [before.uid, before.ip, 'Running'])
    assert.equal(after.restarting?.status, 'False')
    for (const last of after.last)
      assert.deepEqual([last?.exitCode, last?.reason], [137, 'RestartingAllContainers'])
    // What was written in volumes stays.
    const said = container(
      'asks',
      'wc -l < /pod/runs > /dev/termination-log; wc -l < /pod/others >> /dev/termination-log',
    )
    const value = { spec: { ephemeralContainers: [said] } }
    await world
      .of(resources.pods)
      .patch('p', { type: 'strategic', value }, { subresource: 'ephemeralcontainers' })
    await world.advance(5_000)
    const pod = await world.find(resources.pods, 'p')
    const message = pod?.status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.message
    assert.equal(message?.replaceAll(' ', ''), '2\n2\n')
  },
  { nodes: 1 },
)

for (const restartPolicy of ['Never', 'OnFailure'] as const) {
  scenario(
    `a container that had ended runs again with all of a pod that restarts ${restartPolicy}, and its status says so`,
    async (world) => {
      await create(world, {
        restartPolicy,
        containers: [
          container('done', 'if [ -f /pod/done ]; then sleep 1000; fi; touch /pod/done'),
          container('source', once(42), { restartPolicy: 'Never', restartPolicyRules: RULES }),
        ],
      })
      await world.advance(8_000)
      assert.deepEqual((await seen(world)).states, ['terminated', 'running'])
      await world.advance(30_000)
      const after = await seen(world)
      assert.deepEqual(after.restarts, ['done 1', 'source 1'])
      assert.deepEqual([after.phase, ...after.states], ['Running', 'running', 'running'])
      assert.equal(after.restarting?.status, 'False')
    },
    { nodes: 1 },
  )
}

scenario(
  'while all restart the pod says so, and is Running all the time',
  async (world) => {
    await create(world, {
      containers: [
        container('source', once(42), { restartPolicyRules: RULES, restartPolicy: 'Never' }),
        container('other', 'sleep 1000'),
      ],
    })
    await world.advance(3_000)
    const phases = new Set<string | undefined>()
    let during: Awaited<ReturnType<typeof seen>> | undefined
    for (let at = 0; at < 200; at++) {
      await world.advance(100)
      const now = await seen(world)
      phases.add(now.phase)
      if (now.restarting?.status === 'True') during ??= now
    }
    assert.deepEqual([...phases], ['Running'])
    assert.equal(during?.restarting?.reason, 'RestartAllContainersStarted')
    assert.equal(during?.restarting?.message, 'container exited with restart policy rule')
    assert.deepEqual(during?.waiting, ['RestartingAllContainers', 'RestartingAllContainers'])
    assert.equal(during?.initialized, 'True')
  },
  { nodes: 1 },
)

scenario(
  'an init container that ends so restarts what was started before it; another exit code ends the pod',
  async (world) => {
    await create(world, {
      initContainers: [
        container('sidecar', 'sleep 1000', { restartPolicy: 'Always' }),
        container('source', 'if [ -f /pod/was ]; then exit 0; fi; touch /pod/was; exit 42', {
          restartPolicy: 'Never',
          restartPolicyRules: RULES,
        }),
      ],
      containers: [
        container('main', 'sleep 5; exit 1', { restartPolicy: 'Never', restartPolicyRules: RULES }),
      ],
    })
    await world.advance(8_000)
    assert.deepEqual((await seen(world)).restarts, ['sidecar 1', 'source 1', 'main 0'])
    await world.advance(20_000)
    const ended = await seen(world)
    assert.deepEqual([ended.phase, ended.restarting?.reason], ['Failed', 'PodFailed'])
  },
  { nodes: 1 },
)

scenario(
  'a container that ends at once restarts those that are started with it, too',
  async (world) => {
    // Its node has seen that one end only after it started the other.
    const slow = { 'sim.kubelet/behavior': '{containers: {other: {start: {duration: 500ms}}}}' }
    const spec = {
      containers: [
        container('other', 'sleep 1000'),
        container('source', 'if [ -f /pod/was ]; then sleep 1000; fi; touch /pod/was; exit 42', {
          restartPolicy: 'Never',
          restartPolicyRules: RULES,
        }),
      ],
    }
    await create(world, spec, slow)
    await world.advance(15_000)
    const after = await seen(world)
    assert.deepEqual(after.restarts, ['other 1', 'source 1'])
    assert.deepEqual(after.states, ['running', 'running'])
  },
  { nodes: 1 },
)

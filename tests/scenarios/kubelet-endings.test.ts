/** What docs/behaviour/simulation/kubelet.md says of hooks, of grace times, of deadlines and of limits that end a pod. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]

const podOf = (container: Partial<Container>, spec: Partial<Spec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'app:1', ...container }], ...spec },
})
const shell = (script: string) => ({ exec: { command: ['sh', '-c', script] } })
const create = (world: World, pod: Pod) => world.of(resources.pods).create(pod)
const found = (world: World) => world.find(resources.pods, 'p')
const statusOf = async (world: World) => (await found(world))?.status?.containerStatuses?.[0]

async function reasons(world: World): Promise<readonly string[]> {
  await world.advance(2_000)
  const events = await world.list(resources.events)
  return events.map(({ reason = '', message = '' }) => `${reason}: ${message}`)
}

const one = { nodes: 1 }

scenario(
  'a pod is not gone before its preStop hook is over',
  async (world) => {
    await create(world, podOf({ lifecycle: { preStop: { sleep: { seconds: 12 } } } }))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(11_000)
    assert.ok((await statusOf(world))?.state?.running)
    await world.advance(2_000)
    assert.equal(await found(world), undefined)
  },
  one,
)

scenario(
  'the grace time ends a preStop hook that takes longer, and SIGTERM has two seconds more',
  async (world) => {
    const preStop = shell('sleep 600')
    await create(world, podOf({ lifecycle: { preStop } }, { terminationGracePeriodSeconds: 20 }))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(19_000)
    assert.ok(await found(world))
    await world.advance(2_000)
    assert.equal(await found(world), undefined)
  },
  one,
)

scenario(
  'a preStop hook that goes round for ever has all of the grace time',
  async (world) => {
    const preStop = shell('while true; do echo waiting; sleep 1; done')
    await create(world, podOf({ lifecycle: { preStop } }, { terminationGracePeriodSeconds: 20 }))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(19_000)
    assert.ok((await statusOf(world))?.state?.running)
    await world.advance(2_000)
    assert.equal(await found(world), undefined)
  },
  one,
)

scenario(
  'a second deletion may shorten the grace time, and not lengthen it',
  async (world) => {
    const lifecycle = { preStop: { sleep: { seconds: 400 } } }
    await create(world, podOf({ lifecycle }, { terminationGracePeriodSeconds: 500 }))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(10_000)
    await world.of(resources.pods).delete('p', { gracePeriodSeconds: 15 })
    await world.advance(10_000)
    assert.ok(await found(world))
    await world.of(resources.pods).delete('p', { gracePeriodSeconds: 400 })
    await world.advance(6_000)
    assert.equal(await found(world), undefined)
  },
  one,
)

scenario(
  'a preStop hook that makes the container unready is seen while the pod ends',
  async (world) => {
    const readinessProbe = { exec: { command: ['cat', '/tmp/ready'] }, periodSeconds: 1 }
    const lifecycle = {
      postStart: shell('touch /tmp/ready'),
      preStop: shell('rm /tmp/ready; sleep 20'),
    }
    await create(world, podOf({ readinessProbe, lifecycle }))
    await world.advance(5_000)
    assert.equal((await statusOf(world))?.ready, true)
    await world.of(resources.pods).delete('p')
    await world.advance(10_000)
    const status = await statusOf(world)
    assert.deepEqual([status?.ready, status?.state?.running !== undefined], [false, true])
  },
  one,
)

scenario(
  'a container is not running before its postStart hook is over, and is started anew when that fails',
  async (world) => {
    await create(world, podOf({ lifecycle: { postStart: shell('sleep 10') } }))
    await world.advance(8_000)
    assert.equal((await statusOf(world))?.state?.waiting?.reason, 'ContainerCreating')
    await world.advance(5_000)
    assert.ok((await statusOf(world))?.state?.running)
    const failing = podOf({ lifecycle: { postStart: shell('sleep 1; false') } })
    await create(world, { ...failing, metadata: { name: 'q', namespace: 'default' } })
    await world.advance(6_000)
    const q = await world.find(resources.pods, 'q')
    const [status] = q?.status?.containerStatuses ?? []
    assert.deepEqual(
      [status?.restartCount, status?.state?.waiting?.reason],
      [1, 'CrashLoopBackOff'],
    )
    const said = await reasons(world)
    assert.ok(said.includes('FailedPostStartHook: PostStartHook failed'), said.join('\n'))
    assert.ok(said.includes('Killing: FailedPostStartHook'), said.join('\n'))
  },
  one,
)

scenario(
  'a postStart hook holds up the containers after its own, and one that cannot be started does not',
  async (world) => {
    const containers = [
      { name: 'never', image: 'UPPER:1', lifecycle: { postStart: shell('sleep 1000') } },
      { name: 'held', image: 'app:1', lifecycle: { postStart: shell('sleep 10') } },
      { name: 'after', image: 'app:1' },
    ]
    await create(world, podOf({}, { containers }))
    const states = async () =>
      (await found(world))?.status?.containerStatuses?.map(
        ({ name, state }) => `${name} ${state?.waiting?.reason ?? Object.keys(state ?? {})[0]}`,
      )
    await world.advance(9_000)
    assert.deepEqual(await states(), [
      'after ContainerCreating',
      'held ContainerCreating',
      'never InvalidImageName',
    ])
    await world.advance(3_000)
    assert.deepEqual(await states(), ['after running', 'held running', 'never InvalidImageName'])
  },
  one,
)

scenario(
  'a preStop hook that fails is told, and the container ends all the same',
  async (world) => {
    await create(world, podOf({ lifecycle: { preStop: shell('exit 3') } }))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(3_000)
    assert.equal(await found(world), undefined)
    const said = await reasons(world)
    assert.ok(said.includes('FailedPreStopHook: PreStopHook failed'), said.join('\n'))
  },
  one,
)

const kept = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, finalizers: ['x.example/y'] },
})
for (const [what, spec, end] of [
  ['is deleted', {}, (world: World) => world.of(resources.pods).delete('p')],
  ['is past its deadline', { activeDeadlineSeconds: 10 }, async () => {}],
] as const)
  scenario(
    `nothing waits in a pod that ${what}: what was to start again has ended, what never ran is lost`,
    async (world) => {
      const crashing = { name: 'c', image: 'app:1', command: ['sh', '-c', 'exit 5'] }
      const never = { name: 'd', image: 'UPPER:1' }
      await create(world, kept(podOf({}, { containers: [crashing, never], ...spec })))
      await world.advance(8_000)
      const waiting = (await found(world))?.status?.containerStatuses ?? []
      assert.deepEqual(
        waiting.map(({ state }) => state?.waiting?.reason),
        ['CrashLoopBackOff', 'InvalidImageName'],
      )
      await end(world)
      await world.advance(5_000)
      const { phase, containerStatuses = [] } = (await found(world))?.status ?? {}
      assert.equal(phase, 'Failed')
      const [crashed, lost] = containerStatuses.map(({ state }) => state?.terminated)
      assert.deepEqual([crashed?.exitCode, crashed?.reason], [5, 'Error'])
      assert.deepEqual([lost?.exitCode, lost?.reason], [137, 'ContainerStatusUnknown'])
      assert.deepEqual([lost?.startedAt, lost?.containerID].filter(Boolean), [])
    },
    one,
  )

scenario(
  'a pod that has not begun is ended with its containers waiting',
  async (world) => {
    await create(world, kept(podOf({ image: 'UPPER:1' })))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(5_000)
    assert.equal((await found(world))?.status?.phase, 'Failed')
    assert.equal((await statusOf(world))?.state?.waiting?.reason, 'InvalidImageName')
  },
  one,
)

const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token'
for (const [what, script, preStop] of [
  ['a preStop hook that reads the token of an account that is gone', 'sleep 600', `cat ${TOKEN}`],
  [
    'a handler of TERM whose program only the real image has',
    'trap "nginx -s quit" TERM; sleep 600 & wait',
  ],
  ['a handler of TERM that waits beside a job', 'trap "sleep 2; exit 3" TERM; sleep 600 & wait'],
] as const)
  scenario(
    `a pod comes to its end: ${what}`,
    async (world) => {
      const account = { metadata: { name: 'app', namespace: 'default' } }
      await world.of(resources.serviceaccounts).create(account)
      const lifecycle = preStop && { preStop: shell(preStop) }
      const container = { command: ['sh', '-c', script], ...(lifecycle && { lifecycle }) }
      await create(world, podOf(container, { serviceAccountName: 'app' }))
      await world.advance(5_000)
      await world.of(resources.serviceaccounts).delete('app')
      await world.of(resources.pods).delete('p')
      await world.advance(5_000)
      assert.equal(await found(world), undefined)
      const said = await reasons(world)
      const hasFailed = said.includes('FailedPreStopHook: PreStopHook failed')
      assert.equal(hasFailed, preStop !== undefined, said.join('\n'))
    },
    one,
  )

scenario(
  'a deadline that is set later counts from the start of the pod',
  async (world) => {
    await create(world, podOf({}))
    await world.advance(10_000)
    await world
      .of(resources.pods)
      .patch('p', { type: 'merge', value: { spec: { activeDeadlineSeconds: 15 } } })
    await world.advance(3_000)
    assert.equal((await found(world))?.status?.phase, 'Running')
    await world.advance(4_000)
    const { phase, reason } = (await found(world))?.status ?? {}
    assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded'])
  },
  one,
)

for (const [script, seconds, exitCode] of [
  ['term() { sleep 4; exit 7; }; trap term TERM; while true; do sleep 1; done', 4, 7],
  ['trap "echo noted" TERM; while true; do sleep 1; done', 10, 137],
  ["trap '' TERM; sleep 600", 10, 137],
  // A shell handles it when the command that it waits for is over.
  ['trap "exit 7" TERM; sleep 600', 10, 137],
  ['trap "exit 7" TERM; sleep 9; exit 1', 4, 7],
  ['trap "exit 7" TERM; (sleep 9) | cat; exit 1', 4, 7],
  ['trap "X=$(sleep 2)" TERM; sleep 9; exit 3', 6, 3],
  ['trap "exit 6" TERM; sleep infinity & wait', 0, 6],
  ['trap "exit 7" TERM; trap - TERM; sleep 600', 0, 0],
] as const)
  scenario(
    `a program that is asked to end does what its script says: ${script}`,
    async (world) => {
      const pod = podOf({ command: ['sh', '-c', script] }, { terminationGracePeriodSeconds: 10 })
      await create(world, { ...pod, metadata: { ...pod.metadata, finalizers: ['x.example/y'] } })
      await world.advance(5_000)
      await world.of(resources.pods).delete('p')
      if (seconds > 0) await world.advance(seconds * 1000 - 500)
      if (seconds > 0) assert.ok((await statusOf(world))?.state?.running)
      await world.advance(1_500)
      assert.equal((await statusOf(world))?.state?.terminated?.exitCode, exitCode)
    },
    one,
  )

scenario(
  'a pod of a Job that is deleted while it runs has failed, and gets a successor',
  async (world) => {
    const { spec } = podOf({ command: ['sleep', '600'] }, { restartPolicy: 'Never' })
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', namespace: 'default' },
    }
    await world.of(resources.jobs).create({ ...job, spec: { template: { spec } } } as never)
    await world.advance(5_000)
    const [first] = await world.list(resources.pods)
    await world.of(resources.pods).delete(first!.metadata!.name!)
    await world.advance(30_000)
    const {
      failed = 0,
      succeeded = 0,
      active = 0,
    } = (await world.find(resources.jobs, 'j'))?.status ?? {}
    assert.deepEqual([failed, succeeded, active], [1, 0, 1])
  },
  one,
)

for (const [what, spec, message] of [
  [
    'a container that writes more than its limit',
    { resources: { limits: { 'ephemeral-storage': '5Mi' } } },
    'Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ',
  ],
  [
    'a volume that holds more than its size',
    { volumeMounts: [{ name: 'v', mountPath: '/v' }], workingDir: '/v' },
    'Usage of EmptyDir volume "v" exceeds the limit "5Mi". ',
  ],
] as const)
  scenario(
    `${what} has its pod evicted, which stays as it ended`,
    async (world) => {
      const script = 'sleep 10; dd if=/dev/zero of=$DIR/file bs=1M count=10; sleep 10000'
      const env = [{ name: 'DIR', value: 'workingDir' in spec ? '/v' : '/tmp' }]
      await world.of(resources.pods).create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'large' },
        spec: {
          restartPolicy: 'OnFailure',
          volumes: [{ name: 'v', emptyDir: { sizeLimit: '5Mi' } }],
          containers: [
            { name: 'c', image: 'busybox:1', command: ['sh', '-c', script], env, ...spec },
          ],
        },
      })
      await world.advance(9_000)
      assert.equal((await world.find(resources.pods, 'large'))?.status?.phase, 'Running')
      await world.advance(30_000)
      const { status } = (await world.find(resources.pods, 'large')) ?? {}
      assert.deepEqual(
        [status?.phase, status?.reason, status?.message],
        ['Failed', 'Evicted', message],
      )
      const disrupted = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      assert.deepEqual(
        [disrupted?.status, disrupted?.reason, disrupted?.message],
        ['True', 'TerminationByKubelet', message],
      )
      const events = await world.list(resources.events)
      assert.ok(events.some(({ reason, type }) => reason === 'Evicted' && type === 'Warning'))
    },
    { nodes: 1 },
  )

const named = (name: string, { spec }: Pod): Pod => ({ metadata: { name }, spec })

async function addressOf(world: World, name: string): Promise<string> {
  return world.until(`${name} has an address`, 60_000, async () => {
    const { status } = (await world.find(resources.pods, name)) ?? {}
    return status?.phase === 'Running' ? status.podIP : undefined
  })
}

/** The pods on the node are taken up again. */
async function restartNode(world: World): Promise<void> {
  world.crash('node-1')
  await world.advance(3_000)
}

scenario(
  'a pod that was ending when its node started anew keeps its address until it is gone, and nobody has it twice',
  async (world) => {
    const slow = podOf(
      { lifecycle: { preStop: { sleep: { seconds: 60 } } } },
      { terminationGracePeriodSeconds: 90 },
    )
    await create(world, named('leaving', slow))
    const address = await addressOf(world, 'leaving')
    await world.of(resources.pods).delete('leaving')
    await restartNode(world)
    const addresses = new Set([address])
    await create(world, named('first', podOf({})))
    addresses.add(await addressOf(world, 'first'))
    assert.ok(await world.find(resources.pods, 'leaving'))
    await world.until('it is gone', 120_000, async () =>
      (await world.find(resources.pods, 'leaving')) === undefined ? true : undefined,
    )
    await create(world, named('second', podOf({})))
    addresses.add(await addressOf(world, 'second'))
    assert.equal(addresses.size, 3)
  },
  one,
)

scenario(
  'a pod that had ended when its node started anew gives back no address, which another has by then',
  async (world) => {
    const configMap = { name: 'later' }
    await create(world, named('waiting', podOf({}, { volumes: [{ name: 'v', configMap }] })))
    await world.advance(2_000)
    const done = podOf({ command: ['sleep', '1'] }, { restartPolicy: 'Never' })
    await create(world, named('done', done))
    const ended = await addressOf(world, 'done')
    await world.advance(5_000)
    await restartNode(world)
    await world.of(resources.configmaps).create({ metadata: configMap })
    assert.equal(await addressOf(world, 'waiting'), ended, 'it is free')
    await restartNode(world)
    await create(world, named('new', podOf({})))
    assert.notEqual(await addressOf(world, 'new'), ended)
  },
  one,
)

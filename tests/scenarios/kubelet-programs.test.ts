/** What docs/behaviour/simulation/kubelet.md says of what containers run, and of what is scripted. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, messages, never, one, podOf, seen, shell } from './kubelet-pods.ts'
import type { Container } from './kubelet-pods.ts'
import { scenario } from './scenario.ts'

for (const [script, phase, exitCode] of [
  ['exit 3', 'Failed', 3],
  ['sleep 5; false', 'Failed', 1],
  ['echo done', 'Succeeded', 0],
  ['sleep 2 & wait $!; exit 3', 'Failed', 3],
  ['own-server & wait; exit 3', 'Succeeded', 0],
  ['test -n "$POD_IP" && grep -q "$POD_IP" /etc/hosts', 'Succeeded', 0],
  ['i=0; while [ $i -lt 3 ]; do sleep 1; i=$((i+1)); done; exit $i', 'Failed', 3],
  ['until [ -f /tmp/x ]; do sleep 2; touch /tmp/x; done', 'Succeeded', 0],
  ['test "$MODE" = fast', 'Succeeded', 0],
  ['test "$(cat /proc/1/oom_score_adj)" = 1000', 'Succeeded', 0],
  ['test "$(cat /proc/self/uid_map)" = "         0          0 4294967295"', 'Succeeded', 0],
  ['set -e; test "$(hostname)" = p; grep -q "$HOSTNAME" /etc/hosts; false; exit 0', 'Failed', 1],
  [
    'test "${KUBERNETES_SERVICE_HOST:?}:${KUBERNETES_SERVICE_PORT:?}" = 10.0.0.1:443',
    'Succeeded',
    0,
  ],
  [
    'if [[ -r /nope ]]; then exit 0; fi; for n in $(seq 2); do sleep $n; done; exit $((n * 2))',
    'Failed',
    4,
  ],
] as const) {
  scenario(
    `a pod that does not restart ends as its command does: ${script}`,
    async (world) => {
      const env = [
        { name: 'MODE', value: 'fast' },
        { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      ]
      await create(world, podOf({ ...shell(script), env }, never))
      await world.advance(10_000)
      const { phase: came, exitCode: code } = await seen(world)
      assert.deepEqual([came, code], [phase, exitCode])
    },
    one,
  )
}

scenario(
  'a command takes the time of its sleeps',
  async (world) => {
    await create(world, podOf(shell('sleep 30; exit 2'), never))
    await world.advance(25_000)
    assert.equal((await seen(world)).phase, 'Running')
    await world.advance(10_000)
    assert.deepEqual(await seen(world).then(({ phase, exitCode }) => [phase, exitCode]), [
      'Failed',
      2,
    ])
  },
  one,
)

for (const script of ['while true; do date; sleep 5; done', 'while :; do :; done'])
  scenario(
    `a loop without an end runs on: ${script}`,
    async (world) => {
      await create(world, podOf(shell(script), never))
      await world.advance(600_000)
      assert.equal((await seen(world)).phase, 'Running')
    },
    one,
  )

scenario(
  'an init container waits in a loop for what another container makes',
  async (world) => {
    const volumeMounts = [{ name: 'work', mountPath: '/work' }]
    const initContainers: Container[] = [
      {
        name: 'maker',
        image: 'm:1',
        restartPolicy: 'Always',
        volumeMounts,
        ...shell('sleep 20; touch /work/made; sleep 3600'),
      },
      {
        name: 'waiter',
        image: 'w:1',
        volumeMounts,
        ...shell('until [ -f /work/made ]; do sleep 1; done'),
      },
    ]
    await create(
      world,
      podOf({}, { spec: { initContainers, volumes: [{ name: 'work', emptyDir: {} }] } }),
    )
    await world.advance(18_000)
    assert.equal((await seen(world)).phase, 'Pending')
    await world.advance(5_000)
    assert.equal((await seen(world)).phase, 'Running')
  },
  one,
)

scenario(
  'a server of restartPolicy Never runs on',
  async (world) => {
    await create(world, podOf({ image: 'nginx:1.27' }, never))
    await world.advance(600_000)
    assert.equal((await seen(world)).phase, 'Running')
  },
  one,
)

scenario(
  'a program that ends restarts with back-off where the pod restarts always',
  async (world) => {
    await create(world, podOf(shell('sleep 1; exit 1')))
    await world.advance(60_000)
    const { phase, restarts = 0 } = await seen(world)
    assert.equal(phase, 'Running')
    assert.ok(restarts >= 3 && restarts <= 4, `${restarts} restarts`)
  },
  one,
)

for (const [policy, phase, initExit] of [
  ['Never', 'Failed', 4],
  ['Always', 'Pending', 4],
] as const) {
  scenario(
    `an init container that fails: restartPolicy ${policy} makes the pod ${phase}`,
    async (world) => {
      const initContainers: Container[] = [
        { name: 'side', image: 'log:1', restartPolicy: 'Always' },
        { name: 'init', image: 'i:1', command: ['sh', '-c', 'exit 4'] },
      ]
      const annotations = { 'sim.kubelet/run': '1h' }
      await create(
        world,
        podOf({}, { annotations, spec: { restartPolicy: policy, initContainers } }),
      )
      await world.advance(30_000)
      const pod = await found(world)
      assert.equal(pod?.status?.phase, phase)
      const [side, init] = pod?.status?.initContainerStatuses ?? []
      const end = init?.state?.terminated ?? init?.lastState?.terminated
      assert.equal(end?.exitCode, initExit)
      // Nothing runs any more in a pod that has failed.
      assert.equal(side?.state?.running === undefined, policy === 'Never')
      assert.equal((init?.restartCount ?? 0) > 0, policy === 'Always')
      assert.ok(pod?.status?.containerStatuses?.[0]?.state?.waiting !== undefined)
    },
    one,
  )
}

scenario(
  'an annotation that nodes do not know is told by an event on the pod, once',
  async (world) => {
    await create(world, podOf({}, { annotations: { 'sim.kubelet/exitcode': '1' } }))
    await world.advance(30_000)
    assert.deepEqual(await messages(world, 'AnnotationIgnored'), [
      'annotation sim.kubelet/exitcode is not known to simulated nodes: did you mean sim.kubelet/exit-code?',
    ])
    const events = await world.list(resources.events)
    const [event] = events.filter(({ reason }) => reason === 'AnnotationIgnored')
    assert.deepEqual([event?.type, event?.involvedObject.name, event?.count], ['Warning', 'p', 1])
  },
  one,
)

for (const [title, script, container, expected] of [
  ['the file of its last words', 'echo -n bye > /dev/termination-log; exit 1', {}, 'bye'],
  [
    'a file of its own choice',
    'echo -n DONE > /var/said; exit 0',
    { terminationMessagePath: '/var/said' },
    'DONE',
  ],
  ['nothing', 'echo on the log only; exit 1', {}, undefined],
  [
    'its log where that is asked for, when it failed',
    'echo first; sleep 2; echo last; exit 1',
    { terminationMessagePolicy: 'FallbackToLogsOnError' },
    'first\nlast\n',
  ],
  [
    'no log when it succeeded',
    'echo first; exit 0',
    { terminationMessagePolicy: 'FallbackToLogsOnError' },
    undefined,
  ],
] as const) {
  scenario(
    `the message of a container that ended is ${title}`,
    async (world) => {
      await create(world, podOf({ ...shell(script), ...container }, never))
      await world.advance(8_000)
      const [status] = (await found(world))?.status?.containerStatuses ?? []
      assert.equal(status?.state?.terminated?.message, expected)
    },
    one,
  )
}

scenario(
  'a container is restarted by the rule for its exit code although its pod never restarts',
  async (world) => {
    const restartPolicyRules = [
      { action: 'Restart', exitCodes: { operator: 'In', values: [42] } },
    ] as const
    const script = 'if [ -f /data/once ]; then exit 7; fi; touch /data/once; exit 42'
    const volumeMounts = [{ name: 'data', mountPath: '/data' }]
    const container = { ...shell(script), restartPolicy: 'Never', restartPolicyRules, volumeMounts }
    const spec = { restartPolicy: 'Never', volumes: [{ name: 'data', emptyDir: {} }] } as const
    await create(world, podOf(container, { spec }))
    await world.advance(10_000)
    const { phase, restarts, exitCode } = await seen(world)
    assert.deepEqual([phase, restarts, exitCode], ['Failed', 1, 7])
  },
  one,
)

scenario(
  'an ephemeral container whose script goes round for ever stays, another one ends',
  async (world) => {
    await create(world, podOf({}))
    await world.advance(3_000)
    const ephemeralContainers = [
      { name: 'polls', image: 'busybox', command: ['sh', '-c', 'while true; do sleep 2; done'] },
      { name: 'looks', image: 'busybox', command: ['netstat'] },
    ]
    const value = { spec: { ephemeralContainers } }
    await world
      .of(resources.pods)
      .patch('p', { type: 'strategic', value }, { subresource: 'ephemeralcontainers' })
    await world.advance(10_000)
    const statuses = (await found(world))?.status?.ephemeralContainerStatuses ?? []
    const ran = statuses.map(({ name, state }) => [name, state?.running !== undefined])
    assert.deepEqual(Object.fromEntries(ran), { polls: true, looks: false })
  },
  one,
)

scenario(
  'a Job whose pods count on the files of their node: one fails, the next one succeeds',
  async (world) => {
    const script = 'if [[ -r /data/seen ]]; then exit 0; else touch /data/seen; exit 1; fi'
    const volumes = [{ name: 'data', hostPath: { path: '/var/job' } }]
    const volumeMounts = [{ name: 'data', mountPath: '/data' }]
    const containers = [{ name: 'c', image: 'busybox', ...shell(script), volumeMounts }]
    await world.of(resources.jobs).create({
      metadata: { name: 'j' },
      spec: { template: { spec: { restartPolicy: 'Never', containers, volumes } } },
    })
    await world.advance(60_000)
    const { succeeded, failed } = (await world.find(resources.jobs, 'j'))?.status ?? {}
    assert.deepEqual([succeeded, failed], [1, 1])
  },
  one,
)

const fromFile = (key: string, optional = false): Container['env'] => [
  { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a.env', key, optional } } },
]

for (const [title, env, script, expected] of [
  ['its value', fromFile('KEY'), 'test "$A" = "one two"', 'Succeeded'],
  ['nothing, where that will do', fromFile('OTHER', true), 'test -z "${A+set}"', 'Succeeded'],
  [
    'no such key',
    fromFile('OTHER'),
    'true',
    'environment variable key "OTHER" not found in file "a.env"',
  ],
] as const)
  scenario(
    `a variable from a file that an init container wrote: ${title}`,
    async (world) => {
      const writer = {
        name: 'w',
        image: 'busybox',
        ...shell('echo "KEY=\'one two\'" > /data/a.env'),
        volumeMounts: [{ name: 'v', mountPath: '/data' }],
      }
      const spec = {
        ...never.spec,
        initContainers: [writer],
        volumes: [{ name: 'v', emptyDir: {} }],
      }
      await create(world, podOf({ ...shell(script), env }, { spec }))
      await world.advance(5_000)
      const { phase, containerStatuses: [status] = [] } = (await found(world))?.status ?? {}
      assert.equal(status?.state?.waiting?.message ?? phase, expected)
    },
    one,
  )

scenario(
  'a pod with users of its own has others of its node than any other pod',
  async (world) => {
    const script = 'cut -c12-21 /proc/self/uid_map > /dev/termination-log'
    for (const name of ['a', 'b']) {
      const pod = podOf(shell(script), { spec: { ...never.spec, hostUsers: false } })
      await create(world, { ...pod, metadata: { ...pod.metadata, name } })
    }
    await world.advance(5_000)
    const first = async (name: string): Promise<number> => {
      const pod = await world.find(resources.pods, name)
      return Number(pod?.status?.containerStatuses?.[0]?.state?.terminated?.message)
    }
    const [a, b] = [await first('a'), await first('b')]
    assert.ok(a >= 65_536 && b >= 65_536 && Math.abs(a - b) >= 65_536, `${a} ${b}`)
  },
  one,
)

scenario(
  'a program that looks at its volumes in a loop meets what they show by then, and its log says so',
  async (world) => {
    const config = (data: Readonly<Record<string, string>>) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'conf', namespace: 'default' },
      data,
    })
    await world.of(resources.configmaps).create(config({ key: 'one' }))
    // What is missing makes it end badly, so that its log is its message.
    const args = 'mounttest --file_content=/nosuch --file_content_in_loop=/conf/key --retry_time=20'
    await create(
      world,
      podOf(
        {
          image: 'agnhost:2',
          args: args.split(' '),
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [{ name: 'v', mountPath: '/conf' }],
        },
        { spec: { restartPolicy: 'Never', volumes: [{ name: 'v', configMap: { name: 'conf' } }] } },
      ),
    )
    await world.advance(10_000)
    await world.of(resources.configmaps).update(config({ key: 'two' }))
    await world.advance(20_000)
    const [status] = (await found(world))?.status?.containerStatuses ?? []
    const { exitCode, message = '' } = status?.state?.terminated ?? {}
    assert.equal(exitCode, 1)
    assert.match(message, /"\/conf\/key": one\n(content of file "\/conf\/key": two\n)+$/)
  },
  one,
)

scenario(
  'the log of a script shows what stood in its files when it read them',
  async (world) => {
    const script = 'sleep 2; cat /tmp/note; cat /etc/node-hosts; rm /tmp/note; exit 1'
    const hook = { exec: { command: ['sh', '-c', 'echo from a hook > /tmp/note'] } }
    const container = {
      ...shell(script),
      lifecycle: { postStart: hook },
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [{ name: 'hosts', mountPath: '/etc/node-hosts' }],
    } as const
    const volumes = [{ name: 'hosts', hostPath: { path: '/etc/hosts' } }]
    await create(world, podOf(container, { spec: { ...never.spec, volumes } }))
    await world.advance(10_000)
    const [status] = (await found(world))?.status?.containerStatuses ?? []
    assert.match(status?.state?.terminated?.message ?? '', /^from a hook\n127.0.0.1\tlocalhost\n/)
  },
  one,
)

scenario(
  'a root that is read-only takes no files, its last words and its volumes do',
  async (world) => {
    await create(
      world,
      podOf(
        {
          command: [
            '/bin/sh',
            '-c',
            'touch /tmp/x && exit 1; echo y > /cache/x || exit 2; (echo x > /x) 2> /dev/termination-log || exit 7',
          ],
          securityContext: { readOnlyRootFilesystem: true },
          volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
        },
        { spec: { restartPolicy: 'Never', volumes: [{ name: 'cache', emptyDir: {} }] } },
      ),
    )
    await world.advance(5_000)
    const ended = (await found(world))?.status?.containerStatuses?.[0]?.state?.terminated
    assert.deepEqual(
      [ended?.exitCode, ended?.message],
      [7, "/bin/sh: can't create /x: Read-only file system\n"],
    )
  },
  one,
)

for (const [given, said] of [
  [{ runAsUser: 1000 }, 'Effective uid: 0'],
  [{ runAsUser: 1000, allowPrivilegeEscalation: true }, 'Effective uid: 0'],
  [{ runAsUser: 1000, allowPrivilegeEscalation: false }, 'Effective uid: 1000'],
] as const)
  scenario(
    `a program that runs as its owner, root, with ${JSON.stringify(given)} says ${said}`,
    async (world) => {
      const last = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const
      const container = { image: 'nonewprivs:1', ...last, securityContext: given }
      await create(world, podOf(container, never))
      await world.advance(5_000)
      assert.equal((await seen(world)).phase, 'Succeeded')
      const script = `/nnp | grep -q "^${said}$"`
      await world.of(resources.pods).create({
        ...podOf({ ...container, ...shell(script) }, never),
        metadata: { name: 'again', namespace: 'default' },
      })
      await world.advance(5_000)
      const again = await world.find(resources.pods, 'again')
      assert.equal(again?.status?.phase, 'Succeeded')
    },
    one,
  )

scenario(
  'a container waits for an image that it mounts as a volume, as for its own',
  async (world) => {
    const mount = { volumeMounts: [{ name: 'v', mountPath: '/v' }] }
    const volume = (reference: string) => ({
      spec: { volumes: [{ name: 'v', image: { reference } }] },
    })
    await create(world, podOf(mount, volume('example.com/files:1')))
    await world.advance(5_000)
    assert.equal((await seen(world)).phase, 'Running')
    const present = `Container image "example.com/files:1" already present on machine and can be accessed by the pod`
    assert.ok((await messages(world, 'Pulled')).includes(present))

    await world.of(resources.pods).create({
      ...podOf(mount, volume('example.com/files:nosuchtag')),
      metadata: { name: 'waits', namespace: 'default' },
    })
    await world.advance(5_000)
    const waits = await world.find(resources.pods, 'waits')
    const [status] = waits?.status?.containerStatuses ?? []
    assert.equal(status?.state?.waiting?.reason, 'ImagePullBackOff')
    assert.match(status?.state?.waiting?.message ?? '', /example.com\/files:nosuchtag/)
  },
  one,
)

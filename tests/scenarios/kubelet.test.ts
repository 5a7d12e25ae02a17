/** What docs/behaviour/simulation/kubelet.md says of pods whose volumes and environment refer to something that is not there. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]

const podOf = (volumes: Spec['volumes'], container: Partial<Container> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'web:1', ...container }], volumes },
})

const web = (world: World) => world.find(resources.pods, 'web')
const isRunning = (world: World) => async () =>
  (await web(world))?.status?.phase === 'Running' ? true : undefined

async function waiting(world: World): Promise<readonly (string | undefined)[]> {
  const [status] = (await web(world))?.status?.containerStatuses ?? []
  return [status?.state?.waiting?.reason, status?.state?.waiting?.message]
}

async function messages(world: World, wanted: string): Promise<readonly string[]> {
  await world.advance(2_000)
  const events = await world.list(resources.events)
  const own = events.filter(
    ({ involvedObject, reason }) => involvedObject.name === 'web' && reason === wanted,
  )
  return [...new Set(own.map(({ message }) => message ?? ''))]
}

type Make = (world: World) => Promise<unknown>
const makeMap =
  (data: Readonly<Record<string, string>>): Make =>
  (world) =>
    world.of(resources.configmaps).create({ metadata: { name: 'settings' }, data })
const makeSecret: Make = (world) =>
  world.of(resources.secrets).create({ metadata: { name: 'keys' }, stringData: { k: 'v' } })

const VOLUMES: readonly (readonly [string, NonNullable<Spec['volumes']>[number], string, Make])[] =
  [
    [
      'a ConfigMap',
      { name: 'v', configMap: { name: 'settings' } },
      'configmap "settings" not found',
      makeMap({}),
    ],
    [
      'a Secret',
      { name: 'v', secret: { secretName: 'keys' } },
      'secret "keys" not found',
      makeSecret,
    ],
    [
      'projected sources',
      {
        name: 'v',
        projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }] },
      },
      '[configmap "settings" not found, secret "keys" not found]',
      async (world) => {
        await makeMap({})(world)
        await makeSecret(world)
      },
    ],
  ]
for (const [title, volume, problem, make] of VOLUMES) {
  scenario(
    `a pod with a volume of ${title} that is missing stays ContainerCreating with FailedMount, and starts once it is there`,
    async (world) => {
      await world.of(resources.pods).create(podOf([volume]))
      await world.advance(20_000)
      assert.deepEqual(await waiting(world), ['ContainerCreating', undefined])
      assert.equal((await web(world))?.status?.phase, 'Pending')
      assert.equal((await web(world))?.status?.podIP, undefined)
      const text = `MountVolume.SetUp failed for volume "v" : ${problem}`
      assert.deepEqual(await messages(world, 'FailedMount'), [text])
      await make(world)
      await world.until('it runs', 60_000, isRunning(world))
    },
    { nodes: 1 },
  )
}

scenario(
  'a volume that waits for longer than two minutes: Unable to attach or mount volumes',
  async (world) => {
    await world
      .of(resources.pods)
      .create(
        podOf([{ name: 'v', configMap: { name: 'settings', items: [{ key: 'a', path: 'a' }] } }]),
      )
    await makeMap({ b: 'c' })(world)
    await world.advance(300_000)
    const [setUp, overall, ...others] = (await messages(world, 'FailedMount')).toSorted()
    assert.match(
      setUp ?? '',
      /^MountVolume.SetUp failed for volume "v" : references non-existent config key: a$/,
    )
    assert.match(overall ?? '', /^Unable to attach or mount volumes: unmounted volumes=\[v\], /)
    assert.deepEqual(others, [])
  },
  { nodes: 1 },
)

const ENVIRONMENTS: readonly (readonly [string, Partial<Container>, string, Make])[] = [
  [
    'a ConfigMap',
    { envFrom: [{ configMapRef: { name: 'settings' } }] },
    'configmap "settings" not found',
    makeMap({}),
  ],
  [
    'a Secret',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } }] },
    'secret "keys" not found',
    makeSecret,
  ],
]
for (const [title, container, problem, make] of ENVIRONMENTS) {
  scenario(
    `a container whose environment needs ${title} that is missing waits with CreateContainerConfigError, and starts once it is there`,
    async (world) => {
      await world.of(resources.pods).create(podOf([], container))
      await world.advance(20_000)
      assert.deepEqual(await waiting(world), ['CreateContainerConfigError', problem])
      assert.ok((await messages(world, 'Failed')).includes(`Error: ${problem}`))
      await make(world)
      await world.until('it runs', 60_000, isRunning(world))
    },
    { nodes: 1 },
  )
}

scenario(
  'a key that its ConfigMap does not have is named',
  async (world) => {
    await makeMap({ a: 'b' })(world)
    const valueFrom = { configMapKeyRef: { name: 'settings', key: 'z' } }
    await world.of(resources.pods).create(podOf([], { env: [{ name: 'A', valueFrom }] }))
    await world.advance(20_000)
    assert.deepEqual(await waiting(world), [
      'CreateContainerConfigError',
      "couldn't find key z in ConfigMap default/settings",
    ])
  },
  { nodes: 1 },
)

scenario(
  'what is optional is not waited for, and other volumes are always there',
  async (world) => {
    const volumes: Spec['volumes'] = [
      { name: 'a', configMap: { name: 'settings', optional: true } },
      { name: 'b', secret: { secretName: 'keys', optional: true } },
      { name: 'c', emptyDir: {} },
      { name: 'd', downwardAPI: { items: [] } },
    ]
    const envFrom = [{ configMapRef: { name: 'settings', optional: true } }]
    await world.of(resources.pods).create(podOf(volumes, { envFrom }))
    await world.until('it runs', 20_000, isRunning(world))
    assert.deepEqual(await messages(world, 'FailedMount'), [])
  },
  { nodes: 1 },
)

scenario(
  'a pod that waits for a volume can be deleted',
  async (world) => {
    await world.of(resources.pods).create(podOf([{ name: 'v', configMap: { name: 'settings' } }]))
    await world.advance(20_000)
    await world.of(resources.pods).delete('web')
    await world.until('it is gone', 60_000, async () => ((await web(world)) ? undefined : true))
  },
  { nodes: 1 },
)

const REFUSED: readonly (readonly [string, Partial<Container>, RegExp])[] = [
  [
    'runs as root although it must not',
    { securityContext: { runAsNonRoot: true, runAsUser: 0 } },
    /^container's runAsUser breaks non-root policy \(pod: "web_default\([0-9a-f-]+\)", container: c\)$/,
  ],
  [
    "has an image of root's although it must not",
    { image: 'nginx:1.29', securityContext: { runAsNonRoot: true } },
    /^container has runAsNonRoot and image will run as root \(pod: "web_default\(.*\)", container: c\)$/,
  ],
  [
    'mounts an absolute path of a volume',
    {
      env: [{ name: 'A', value: '/tmp' }],
      volumeMounts: [{ name: 'v', mountPath: '/x', subPathExpr: '$(A)' }],
    },
    /^error SubPath `\/tmp` must not be an absolute path$/,
  ],
  [
    'mounts a path above a volume',
    {
      env: [{ name: 'A', value: '..' }],
      volumeMounts: [{ name: 'v', mountPath: '/x', subPathExpr: 'a/$(A)' }],
    },
    /^unable to provision SubPath `a\/\.\.`: must not contain '\.\.'$/,
  ],
  [
    'mounts a path made of a variable that is not there',
    { volumeMounts: [{ name: 'v', mountPath: '/x', subPathExpr: '$(NOPE)$(HOSTNAME)' }] },
    /^missing value for HOSTNAME, NOPE$/,
  ],
]
for (const [title, container, problem] of REFUSED) {
  scenario(
    `a container that ${title} waits with CreateContainerConfigError`,
    async (world) => {
      await world.of(resources.pods).create(podOf([{ name: 'v', emptyDir: {} }], container))
      await world.advance(5_000)
      const [reason, message] = await waiting(world)
      assert.equal(reason, 'CreateContainerConfigError')
      assert.match(message ?? '', problem)
    },
    { nodes: 1 },
  )
}

for (const [title, container] of [
  ['a user that is not root', { securityContext: { runAsNonRoot: true, runAsUser: 7 } }],
  ['an image of which nothing is known', { securityContext: { runAsNonRoot: true } }],
  [
    'a path of a volume',
    {
      env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      volumeMounts: [{ name: 'v', mountPath: '/x', subPathExpr: '$(A)' }],
    },
  ],
] as const) {
  scenario(
    `a container with ${title} runs`,
    async (world) => {
      await world.of(resources.pods).create(podOf([{ name: 'v', emptyDir: {} }], container))
      await world.until('it runs', 10_000, isRunning(world))
    },
    { nodes: 1 },
  )
}

const another = (world: World, image: string) =>
  world
    .of(resources.pods)
    .patch('web', { type: 'strategic', value: { spec: { containers: [{ name: 'c', image }] } } })

scenario(
  'a container that gets another image starts again at once, whatever its policy',
  async (world) => {
    const pod = podOf([])
    await world
      .of(resources.pods)
      .create({ ...pod, spec: { ...pod.spec!, restartPolicy: 'Never' } })
    await world.advance(5_000)
    await another(world, 'web:2')
    await world.advance(2_000)
    const [status] = (await web(world))?.status?.containerStatuses ?? []
    assert.deepEqual(
      [status?.restartCount, status?.image, status?.state?.running !== undefined],
      [1, 'docker.io/library/web:2', true],
    )
    assert.deepEqual(await messages(world, 'Killing'), [
      'Container c definition changed, will be restarted',
    ])
  },
  { nodes: 1 },
)

for (const [title, image, annotation] of [
  ['CrashLoopBackOff', 'web:1', { 'sim.kubelet/crash-loop': 'true' }],
  ['ImagePullBackOff', 'web:broken', {}],
] as const)
  scenario(
    `a container in ${title} that gets another image does not wait on`,
    async (world) => {
      const pod = podOf([])
      const containers = [{ name: 'c', image }]
      await world.of(resources.pods).create({
        ...pod,
        metadata: { ...pod.metadata, annotations: { ...annotation } },
        spec: { ...pod.spec!, containers },
      })
      await world.advance(120_000)
      const seen = async () => (await web(world))?.status?.containerStatuses?.[0]
      assert.equal((await seen())?.state?.waiting?.reason, title)
      await another(world, 'web:2')
      await world.advance(700)
      assert.ok((await seen())?.state?.running)
    },
    { nodes: 1 },
  )

scenario(
  'a pod whose RuntimeClass has a handler that no node has configured stays Pending with FailedCreatePodSandBox; others run',
  async (world) => {
    for (const [name, handler] of [
      ['sandboxed', 'runsc'],
      ['tested', 'test-handler'],
      ['odd', 'own-handler'],
    ] as const) {
      await world.of(resources.runtimeclasses).create({
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name },
        handler,
      })
    }
    const pod = (runtimeClassName: string): Pod => {
      const { spec, ...rest } = podOf([])
      return { ...rest, spec: { ...spec!, runtimeClassName } }
    }
    await world.of(resources.pods).create(pod('odd'))
    await world.advance(25_000)
    const text =
      'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "own-handler" is configured'
    assert.deepEqual(await messages(world, 'FailedCreatePodSandBox'), [text])
    assert.equal((await web(world))?.status?.phase, 'Pending')
    for (const name of ['sandboxed', 'tested']) {
      await world.of(resources.pods).delete('web')
      await world.until('it is gone', 40_000, async () => ((await web(world)) ? undefined : true))
      await world.of(resources.pods).create(pod(name))
      await world.until('it runs', 10_000, isRunning(world))
    }
  },
  { nodes: 1 },
)

/** What docs/behaviour/simulation/kubelet.md says of network policies. */
import assert from 'node:assert/strict'
import type { NetworkPolicy, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

interface Given {
  readonly command?: readonly string[]
  readonly namespace?: string
}

async function pod(world: World, name: string, { command, namespace = 'default' }: Given = {}) {
  const created: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      ...(command && { restartPolicy: 'Never' }),
      terminationGracePeriodSeconds: 0,
      containers: [
        command === undefined
          ? { name: 'c', image: 'nginx:1', ports: [{ containerPort: 80 }] }
          : { name: 'c', image: 'busybox:1', command },
      ],
    },
  }
  await world.client.resource(resources.pods, namespace).create(created)
}

async function policy(world: World, name: string, spec: NetworkPolicy['spec']): Promise<void> {
  await world.of(resources.networkpolicies).create({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec,
  })
}

/** Whether a new pod reaches what it asks for; once it has ended. */
async function reaches(world: World, name: string, target: string, namespace = 'default') {
  const pods = world.client.resource(resources.pods, namespace)
  await pod(world, name, { namespace, command: ['nc', '-z', '-w', '3', target, '80'] })
  await world.advance(10_000)
  const { status } = await pods.get(name)
  const exitCode = status?.containerStatuses?.[0]?.state?.terminated?.exitCode
  assert.notEqual(exitCode, undefined, `${name} has not ended`)
  await pods.delete(name)
  await world.advance(2_000)
  return exitCode === 0
}

async function webService(world: World): Promise<string> {
  await pod(world, 'web')
  await world.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  })
  await world.advance(5_000)
  return (await world.find(resources.services, 'web'))?.spec?.clusterIP ?? ''
}

scenario(
  'a policy that lets one pod in keeps the others out, behind a Service too',
  async (world) => {
    await webService(world)
    assert.equal(await reaches(world, 'stranger', 'web'), true)
    await policy(world, 'web', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }],
    })
    assert.equal(await reaches(world, 'stranger', 'web'), false)
    assert.equal(await reaches(world, 'friend', 'web'), true)
    const ip = (await world.find(resources.pods, 'web'))?.status?.podIP ?? ''
    assert.equal(await reaches(world, 'stranger', ip), false)
    await world.of(resources.networkpolicies).delete('web')
    assert.equal(await reaches(world, 'stranger', ip), true)
  },
)

scenario(
  'a policy counts the labels of namespaces, and those that it gets later',
  async (world) => {
    const ip = await webService(world)
    await world.of(resources.namespaces).create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other', labels: { team: 'red' } },
    })
    await world.advance(2_000)
    await policy(world, 'web', {
      podSelector: {},
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'blue' } } }] }],
    })
    assert.equal(await reaches(world, 'a', ip, 'other'), false)
    await world
      .of(resources.namespaces)
      .patch('other', { type: 'merge', value: { metadata: { labels: { team: 'blue' } } } })
    assert.equal(await reaches(world, 'a', ip, 'other'), true)
  },
)

scenario(
  'a pod that may not go out finds no names either, until it may ask for them',
  async (world) => {
    const ip = await webService(world)
    const toWeb = { to: [{ podSelector: { matchLabels: { app: 'web' } } }] }
    await policy(world, 'out', {
      podSelector: { matchLabels: { app: 'a' } },
      policyTypes: ['Egress'],
      egress: [toWeb],
    })
    assert.equal(await reaches(world, 'a', ip), true)
    assert.equal(await reaches(world, 'a', 'web'), false)
    await policy(world, 'names', {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
            },
          ],
          ports: [{ port: 53, protocol: 'UDP' }],
        },
      ],
    })
    assert.equal(await reaches(world, 'a', 'web'), true)
    assert.equal(await reaches(world, 'b', ip), false)
  },
)

scenario('probes are not refused: a pod that nobody may reach gets ready', async (world) => {
  await policy(world, 'none', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'probed' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'nginx:1',
          ports: [{ containerPort: 80 }],
          readinessProbe: { httpGet: { port: 80 } },
        },
      ],
    },
  })
  await world.advance(15_000)
  const { status } = (await world.find(resources.pods, 'probed')) ?? {}
  assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
})

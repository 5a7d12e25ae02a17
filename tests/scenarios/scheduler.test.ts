/** Acceptance scenarios of docs/behaviour/simulation/scheduler.md that need a whole cluster. */
import assert from 'node:assert/strict'
import type { Pod, PriorityClass } from '@gyropilot/api'
import { findCondition, resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

function podOf(name: string, cpu: string, given: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: {
      containers: [{ name: 'c', image: 'web:1', resources: { requests: { cpu } } }],
      terminationGracePeriodSeconds: 10,
      ...given,
    },
  }
}

async function withClasses(world: World): Promise<string> {
  const high: PriorityClass = { metadata: { name: 'high' }, value: 1_000 }
  const meek: PriorityClass = {
    metadata: { name: 'meek' },
    value: 1_000,
    preemptionPolicy: 'Never',
  }
  await world.of(resources.priorityclasses).create(high)
  await world.of(resources.priorityclasses).create(meek)
  const [node] = await world.list(resources.nodes)
  return String(node?.status?.allocatable?.['cpu'])
}

const bound = (world: World, name: string) => async () => {
  const found = await world.find(resources.pods, name)
  return found?.spec?.nodeName ? found : undefined
}

scenario(
  'High priority pod, full node: DisruptionTarget on the victim, DELETE, Preempted event, nominatedNodeName, binding after the victim is gone',
  async (world) => {
    const cpu = await withClasses(world)
    await world.of(resources.pods).create(podOf('low', cpu))
    const low = await world.until('low is bound', 10_000, bound(world, 'low'))
    await world.until('low runs', 20_000, async () => {
      const found = await world.find(resources.pods, 'low')
      return found?.status?.phase === 'Running' ? found : undefined
    })
    await world.of(resources.pods).create(podOf('high', cpu, { priorityClassName: 'high' }))
    const victim = await world.until('low goes', 10_000, async () => {
      const found = await world.find(resources.pods, 'low')
      return found?.metadata?.deletionTimestamp ? found : undefined
    })
    const target = findCondition(victim.status?.conditions, 'DisruptionTarget')
    assert.deepEqual(
      [target?.status, target?.reason, target?.message],
      [
        'True',
        'PreemptionByScheduler',
        'default-scheduler: preempting to accommodate a higher priority pod',
      ],
    )
    const nominated = await world.find(resources.pods, 'high')
    assert.equal(nominated?.status?.nominatedNodeName, low.spec?.nodeName)
    assert.equal(nominated?.spec?.nodeName, undefined)
    const scheduled = findCondition(nominated?.status?.conditions, 'PodScheduled')
    assert.equal(scheduled?.message, '0/1 nodes are available: 1 Insufficient cpu.')
    const high = await world.until('high is bound', 60_000, bound(world, 'high'))
    assert.equal(high.spec?.nodeName, low.spec?.nodeName)
    assert.equal(high.status?.nominatedNodeName, undefined)
    assert.equal(await world.find(resources.pods, 'low'), undefined)
    await world.advance(5_000)
    const events = await world.list(resources.events)
    const [preempted, ...others] = events.filter(({ reason }) => reason === 'Preempted')
    assert.deepEqual(others, [])
    assert.equal(preempted?.involvedObject.name, 'low')
    assert.equal(
      preempted?.message,
      `Preempted by pod ${high.metadata?.uid} on node ${low.spec?.nodeName}`,
    )
    assert.deepEqual([preempted?.action, preempted?.related?.name], ['Preempting', 'high'])
  },
  { nodes: 1, controllers: ['*'] },
)

scenario(
  'Unschedulable pod, message unchanged over retries: event series count grows; events are of events.k8s.io, with an action',
  async (world) => {
    await world.of(resources.pods).create(podOf('huge', '1000'))
    await world.of(resources.pods).create(podOf('small', '1m'))
    await world.until('small is bound', 10_000, bound(world, 'small'))
    await world.advance(1_000)
    const told = async (reason: string) =>
      (await world.list(resources.events)).filter((event) => event.reason === reason)
    const [scheduled] = await told('Scheduled')
    assert.equal(scheduled?.action, 'Binding')
    assert.equal(scheduled?.reportingComponent, 'default-scheduler')
    assert.match(scheduled?.reportingInstance ?? '', /^default-scheduler-./)
    assert.notEqual(scheduled?.eventTime, undefined)
    assert.deepEqual(
      [scheduled?.source?.component, scheduled?.count, scheduled?.firstTimestamp],
      [undefined, undefined, null],
    )
    // A pod that has been tried waits for what may help: a node that says something new.
    for (const zone of ['a', 'b', 'c']) {
      for (const { metadata } of await world.list(resources.nodes))
        await world.of(resources.nodes).patch(metadata?.name ?? '', {
          type: 'merge',
          value: { metadata: { labels: { zone } } },
        })
      await world.advance(20_000)
    }
    const failed = await told('FailedScheduling')
    assert.deepEqual([...new Set(failed.map(({ action }) => action))], ['Scheduling'])
    // What is said of one version of the pod is one series; each of its versions has its own.
    const versions = failed.map(({ involvedObject }) => involvedObject.resourceVersion)
    assert.equal(new Set(versions).size, failed.length)
    assert.ok(failed.some(({ series }) => (series?.count ?? 0) > 1))
  },
)

scenario(
  'preemptionPolicy Never: nobody goes, and the message says why',
  async (world) => {
    const cpu = await withClasses(world)
    await world.of(resources.pods).create(podOf('low', cpu))
    await world.until('low is bound', 10_000, bound(world, 'low'))
    await world.of(resources.pods).create(podOf('meek', cpu, { priorityClassName: 'meek' }))
    await world.advance(30_000)
    const meek = await world.find(resources.pods, 'meek')
    assert.equal(
      findCondition(meek?.status?.conditions, 'PodScheduled')?.message,
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    )
    const low = await world.find(resources.pods, 'low')
    assert.equal(low?.metadata?.deletionTimestamp, undefined)
  },
  { nodes: 1 },
)

scenario(
  'room that was made for an important pod is not taken by a less important one',
  async (world) => {
    const cpu = await withClasses(world)
    await world.of(resources.pods).create(podOf('low', cpu))
    await world.until('low is bound', 10_000, bound(world, 'low'))
    await world.advance(10_000)
    await world.of(resources.pods).create(podOf('high', cpu, { priorityClassName: 'high' }))
    await world.advance(500)
    await world.of(resources.pods).create(podOf('late', cpu))
    await world.until('high is bound', 60_000, bound(world, 'high'))
    assert.equal((await world.find(resources.pods, 'late'))?.spec?.nodeName, undefined)
  },
  { nodes: 1 },
)

scenario(
  'Immediate claim unbound: pre-filter text; bound claim: pod scheduled without waiting 5 min',
  async (world) => {
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
    } as const
    await world.of(resources.persistentvolumeclaims).create({ metadata: { name: 'data' }, spec })
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
    await world.of(resources.pods).create(podOf('user', '1', { volumes }))
    await world.advance(40_000)
    const waiting = await world.find(resources.pods, 'user')
    assert.equal(
      findCondition(waiting?.status?.conditions, 'PodScheduled')?.message,
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    )
    await world.of(resources.persistentvolumes).create({
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/disk' },
      },
    })
    await world.until('it is bound', 15_000, bound(world, 'user'))
  },
  { nodes: 1 },
)

scenario(
  'a pod that takes a node from which all victims are going already leaves others their nomination until it is bound',
  async (world) => {
    const cpu = await withClasses(world)
    const middle: PriorityClass = { metadata: { name: 'middle' }, value: 500 }
    await world.of(resources.priorityclasses).create(middle)
    await world.of(resources.pods).create(podOf('low', cpu))
    await world.until('low is bound', 10_000, bound(world, 'low'))
    await world.advance(10_000)
    const nominated = (name: string) => async (): Promise<true | undefined> =>
      (await world.find(resources.pods, name))?.status?.nominatedNodeName ? true : undefined
    await world.of(resources.pods).create(podOf('middle', cpu, { priorityClassName: 'middle' }))
    await world.until('middle is nominated', 5_000, nominated('middle'))
    await world.of(resources.pods).create(podOf('high', cpu, { priorityClassName: 'high' }))
    await world.until('high is nominated', 5_000, nominated('high'))
    const left = await world.find(resources.pods, 'low')
    assert.ok(left?.metadata?.deletionTimestamp, 'all while low is going')
    assert.equal(await nominated('middle')(), true)
    await world.until('high is bound', 60_000, bound(world, 'high'))
    await world.until('middle is nominated no more', 20_000, async () =>
      (await nominated('middle')()) ? undefined : true,
    )
    assert.equal((await world.find(resources.pods, 'middle'))?.spec?.nodeName, undefined)
  },
  { nodes: 1, controllers: ['*'] },
)

scenario(
  'a pod for which no room can be made any more gives up its nomination, and a bound one has none',
  async (world) => {
    const cpu = await withClasses(world)
    await world.of(resources.pods).create(podOf('low', cpu))
    const low = await world.until('low is bound', 10_000, bound(world, 'low'))
    await world.until('low runs', 20_000, async () => {
      const found = await world.find(resources.pods, 'low')
      return found?.status?.phase === 'Running' ? found : undefined
    })
    const nodeName = low.spec?.nodeName ?? ''
    const cordon = (unschedulable: boolean) =>
      world
        .of(resources.nodes)
        .patch(nodeName, { type: 'merge', value: { spec: { unschedulable } } })
    const nominatedNode = async (): Promise<string | undefined> =>
      (await world.find(resources.pods, 'high'))?.status?.nominatedNodeName
    await world.of(resources.pods).create(podOf('high', cpu, { priorityClassName: 'high' }))
    await world.until('high is nominated', 10_000, nominatedNode)
    await cordon(true)
    await world.until('the nomination is taken back', 60_000, async () =>
      (await nominatedNode()) === undefined ? true : undefined,
    )
    assert.equal((await world.find(resources.pods, 'high'))?.spec?.nodeName, undefined)
    await cordon(false)
    await world.until('high is bound', 60_000, bound(world, 'high'))
    assert.equal(await nominatedNode(), undefined)
  },
  { nodes: 1, controllers: ['*'] },
)

scenario(
  'a pod that has to be where others are is tried again when one of them is bound, or is one of them by its labels',
  async (world) => {
    const beside = (app: string): Partial<NonNullable<Pod['spec']>> => {
      const labelSelector = { matchLabels: { app } }
      const terms = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }]
      return {
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
      }
    }
    const label = (name: string, app: string) =>
      world
        .of(resources.pods)
        .patch(name, { type: 'merge', value: { metadata: { labels: { app } } } })
    const pods = world.of(resources.pods)
    await pods.create(podOf('beside', '1m', beside('target')))
    await pods.create(podOf('beside-labelled', '1m', beside('labelled')))
    await pods.create(podOf('alone', '1m', beside('group')))
    await world.advance(10_000)
    const waiting = (await world.list(resources.pods)).filter(({ spec }) => !spec?.nodeName)
    assert.equal(waiting.length, 3)
    await pods.create(podOf('target', '1m'))
    await world.until('beside is bound', 10_000, bound(world, 'beside'))
    await label('target', 'labelled')
    await world.until('beside-labelled is bound', 10_000, bound(world, 'beside-labelled'))
    await label('alone', 'group')
    await world.until('alone is bound', 10_000, bound(world, 'alone'))
  },
)

scenario(
  'a pod that may not be where too many others are is tried again when there is one more elsewhere',
  async (world) => {
    const [one, two] = (await world.list(resources.nodes)).map(
      ({ metadata }) => metadata?.name ?? '',
    )
    const labels = { app: 'web' }
    const constraint = {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
    } as const
    const on = (name: string, node = '', spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
      ...podOf(name, '1m', { nodeSelector: { 'kubernetes.io/hostname': node }, ...spec }),
      metadata: { name, namespace: 'default', labels },
    })
    const pods = world.of(resources.pods)
    await pods.create(on('first', one))
    await world.until('first is bound', 10_000, bound(world, 'first'))
    const spread = { topologySpreadConstraints: [{ ...constraint, nodeAffinityPolicy: 'Ignore' }] }
    await pods.create(on('second', one, spread as Partial<NonNullable<Pod['spec']>>))
    await world.advance(10_000)
    assert.equal((await world.find(resources.pods, 'second'))?.spec?.nodeName, undefined)
    await pods.create(on('other', two))
    await world.until('second is bound', 15_000, bound(world, 'second'))
  },
)

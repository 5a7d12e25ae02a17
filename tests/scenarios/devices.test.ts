/** Devices from annotation to running pods, on a whole cluster: docs/behaviour/simulation/scheduler.md and kubelet.md, Devices. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { DeviceClaim, Pod, ResourceClaimTemplate } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const DRIVER = 'gpu.example.com'

async function annotate(world: World, node: string, devices: string | null): Promise<void> {
  const annotations = { 'sim.kubelet/devices': devices }
  await world
    .of(resources.nodes)
    .patch(node, { type: 'merge', value: { metadata: { annotations } } })
}

async function slices(world: World) {
  const all = await world.list(resources.resourceslices)
  return all.map(({ spec }) => `${spec.nodeName} ${spec.driver} ${spec.devices?.length}`).toSorted()
}

async function withTemplate(world: World, devices?: DeviceClaim): Promise<void> {
  const one = { requests: [{ name: 'gpu', exactly: { deviceClassName: DRIVER } }] }
  const template: ResourceClaimTemplate = {
    metadata: { name: 'one-gpu', namespace: 'default' },
    spec: { spec: { devices: devices ?? one } },
  }
  await world.of(resources.resourceclaimtemplates).create(template)
}

function podOf(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'web:1', resources: { claims: [{ name: 'gpu' }] } }],
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
      ...spec,
    },
  }
}

const running = (world: World, name: string) => () =>
  world
    .find(resources.pods, name)
    .then((pod) => (pod?.status?.phase === 'Running' ? pod : undefined))

async function claimOf(world: World, pod: Pod) {
  const name = pod.status?.resourceClaimStatuses?.[0]?.resourceClaimName ?? ''
  return await world.find(resources.resourceclaims, name)
}

scenario(
  'A pod with a claim from a template runs where a device is, and the next one after it is gone',
  async (world) => {
    await annotate(world, 'node-1', `${DRIVER}=1`)
    await world.until('the device is published', 5_000, async () =>
      (await slices(world)).length > 0 ? true : undefined,
    )
    await withTemplate(world)
    await world.of(resources.pods).create(podOf('first'))
    const first = await world.until('first runs', 20_000, running(world, 'first'))
    assert.equal(first.spec?.nodeName, 'node-1')
    const claim = await claimOf(world, first)
    assert.deepEqual(claim?.metadata?.finalizers, ['resource.kubernetes.io/delete-protection'])
    const since = claim?.status?.allocation?.allocationTimestamp
    assert.ok(since)
    assert.deepEqual(claim?.status, {
      allocation: {
        allocationTimestamp: since,
        devices: {
          results: [{ request: 'gpu', driver: DRIVER, pool: 'node-1', device: 'gpu-0' }],
        },
        nodeSelector: {
          nodeSelectorTerms: [
            { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] },
          ],
        },
      },
      reservedFor: [{ resource: 'pods', name: 'first', uid: first.metadata?.uid }],
    })
    await world.of(resources.pods).create(podOf('second'))
    const waiting = await world.until('second waits', 5_000, async () => {
      const found = await world.find(resources.pods, 'second')
      return findCondition(found?.status?.conditions, 'PodScheduled')
    })
    assert.equal(
      waiting.message,
      '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    )
    const device = { driver: DRIVER, pool: 'node-1', device: 'gpu-0', data: { told: true } }
    await world
      .of(resources.resourceclaims)
      .patch(
        claim!.metadata!.name!,
        { type: 'merge', value: { status: { devices: [device] } } },
        { subresource: 'status' },
      )
    await world.of(resources.pods).delete('first')
    await world.until('second runs', 30_000, running(world, 'second'))
    assert.equal(await world.find(resources.resourceclaims, claim!.metadata!.name!), undefined)
  },
)

scenario('a node publishes the devices that it is annotated with', async (world) => {
  await annotate(world, 'node-1', `${DRIVER}=2, nic.example.com=1`)
  await annotate(world, 'node-2', 'wrong=many')
  await world.advance(2_000)
  assert.deepEqual(await slices(world), [`node-1 ${DRIVER} 2`, 'node-1 nic.example.com 1'])
  const events = await world.list(resources.events)
  assert.deepEqual(
    events.filter(({ reason }) => reason === 'AnnotationIgnored').map(({ message }) => message),
    [
      'annotation sim.kubelet/devices: "wrong=many" is not a driver and its devices, at most 128: gpu.example.com=4',
    ],
  )
  const classes = await world.list(resources.deviceclasses)
  assert.deepEqual(classes.map(({ metadata }) => metadata?.name).toSorted(), [
    DRIVER,
    'nic.example.com',
  ])
  await annotate(world, 'node-1', `${DRIVER}=3`)
  await world.advance(2_000)
  assert.deepEqual(await slices(world), [`node-1 ${DRIVER} 3`])
  const [slice] = await world.list(resources.resourceslices)
  assert.equal(slice?.spec.pool.generation, 2)
  await annotate(world, 'node-1', null)
  await world.advance(2_000)
  assert.deepEqual(await slices(world), [])
})

scenario(
  'what is asked of devices is an expression, and devices of two claims are no ones twice',
  async (world) => {
    await annotate(world, 'node-1', `${DRIVER}=1`)
    await annotate(world, 'node-2', `${DRIVER}=3`)
    const expression = `device.attributes["${DRIVER}"].index >= 1 && device.capacity["${DRIVER}"].memory.compareTo(quantity("8Gi")) >= 0`
    await withTemplate(world, {
      requests: [
        { name: 'gpu', exactly: { deviceClassName: DRIVER, selectors: [{ cel: { expression } }] } },
      ],
    })
    await world.advance(2_000)
    const names = ['a', 'b']
    for (const name of names) await world.of(resources.pods).create(podOf(name))
    const devices: string[] = []
    for (const name of names) {
      const pod = await world.until(`${name} runs`, 20_000, running(world, name))
      assert.equal(pod.spec?.nodeName, 'node-2')
      const claim = await claimOf(world, pod)
      devices.push(claim!.status!.allocation!.devices!.results![0]!.device)
    }
    assert.deepEqual(devices.toSorted(), ['gpu-1', 'gpu-2'])
  },
)

scenario(
  'pods that share a claim are where its device is; a class that is missing is told of',
  async (world) => {
    await annotate(world, 'node-2', `${DRIVER}=1`)
    const requests = [{ name: 'gpu', exactly: { deviceClassName: DRIVER } }]
    await world.of(resources.resourceclaims).create({
      metadata: { name: 'shared', namespace: 'default' },
      spec: { devices: { requests } },
    })
    const resourceClaims = [{ name: 'gpu', resourceClaimName: 'shared' }]
    await world.advance(2_000)
    for (const name of ['a', 'b', 'c'])
      await world.of(resources.pods).create(podOf(name, { resourceClaims }))
    for (const name of ['a', 'b', 'c']) {
      const pod = await world.until(`${name} runs`, 20_000, running(world, name))
      assert.equal(pod.spec?.nodeName, 'node-2')
    }
    const shared = await world.find(resources.resourceclaims, 'shared')
    assert.deepEqual(shared?.status?.reservedFor?.map(({ name }) => name).toSorted(), [
      'a',
      'b',
      'c',
    ])
    await withTemplate(world, {
      requests: [{ name: 'gpu', exactly: { deviceClassName: 'nosuch' } }],
    })
    await world.of(resources.pods).create(podOf('lost'))
    const condition = await world.until('lost waits', 5_000, async () => {
      const found = await world.find(resources.pods, 'lost')
      return findCondition(found?.status?.conditions, 'PodScheduled')
    })
    assert.equal(
      condition.message,
      '0/2 nodes are available: request gpu: device class nosuch does not exist. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    )
  },
)

scenario(
  'devices that nobody uses are given back where they hold a pod elsewhere; an expression that fails is told of',
  async (world) => {
    await annotate(world, 'node-1', `${DRIVER}=1`)
    await annotate(world, 'node-2', `${DRIVER}=1`)
    await world.advance(2_000)
    const requests = [{ name: 'gpu', exactly: { deviceClassName: DRIVER } }]
    const claims = world.of(resources.resourceclaims)
    await claims.create({
      metadata: { name: 'kept', namespace: 'default' },
      spec: { devices: { requests } },
    })
    const values = ['node-1']
    const matchFields = [{ key: 'metadata.name', operator: 'In', values }] as const
    const results = [{ request: 'gpu', driver: DRIVER, pool: 'node-1', device: 'gpu-0' }]
    const allocation = {
      devices: { results },
      nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
    }
    const value = { status: { allocation } }
    await claims.patch('kept', { type: 'merge', value }, { subresource: 'status' })
    const spec = {
      nodeSelector: { 'kubernetes.io/hostname': 'node-2' },
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'kept' }],
    }
    await world.of(resources.pods).create(podOf('moved', spec))
    const moved = await world.until('moved runs', 20_000, running(world, 'moved'))
    assert.equal(moved.spec?.nodeName, 'node-2')
    // One node would do, and yet the pod has none while of the other it cannot be said.
    await annotate(world, 'node-2', `nic.example.com=1`)
    await world.of(resources.deviceclasses).create({ metadata: { name: 'any' }, spec: {} })
    const expression = 'device.driver == "nic.example.com" || device.attributes["other"].x == 1'
    const selectors = [{ cel: { expression } }]
    await withTemplate(world, {
      requests: [{ name: 'gpu', exactly: { deviceClassName: 'any', selectors } }],
    })
    await world.advance(2_000)
    await world.of(resources.pods).create(podOf('lost'))
    const scheduled = await world.until('lost waits', 5_000, async () => {
      const found = await world.find(resources.pods, 'lost')
      return findCondition(found?.status?.conditions, 'PodScheduled')
    })
    assert.equal(scheduled.reason, 'SchedulerError')
    assert.match(
      scheduled.message ?? '',
      /^running "DynamicResources" filter plugin: claim default\/lost-gpu-\w{5}: selector #0: CEL runtime error: no such key: x$/,
    )
    const told = (await world.list(resources.events)).map(({ message }) => message)
    assert.ok(
      told.includes(
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 resourceclaim not available on the node. deallocation of ResourceClaim completed, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      ),
      told.join('\n'),
    )
  },
)

scenario(
  'extended resources that no node counts are served by devices, through a claim that the scheduler makes',
  async (world) => {
    const GPU = 'example.com/gpu'
    await annotate(world, 'node-1', `${DRIVER}=2`)
    const expression = `device.driver == "${DRIVER}"`
    await world.of(resources.deviceclasses).create({
      metadata: { name: 'all-gpus' },
      spec: { extendedResourceName: GPU, selectors: [{ cel: { expression } }] },
    })
    await world.advance(2_000)
    const asking = (
      name: string,
      resource: string,
      count: string,
      spec: Partial<Pod['spec']> = {},
    ) =>
      world.of(resources.pods).create({
        metadata: { name, namespace: 'default' },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image: 'web:1', resources: { limits: { [resource]: count } } }],
          ...spec,
        },
      })
    await asking('first', GPU, '1')
    const first = await world.until('first runs', 20_000, running(world, 'first'))
    assert.equal(first.spec?.nodeName, 'node-1')
    const { resourceClaimName = '', requestMappings } =
      first.status?.extendedResourceClaimStatus ?? {}
    const requestName = 'container-0-request-0'
    assert.deepEqual(requestMappings, [{ containerName: 'c', requestName, resourceName: GPU }])
    assert.match(resourceClaimName, /^first-extended-resources-\w{5}$/)
    const claim = await world.find(resources.resourceclaims, resourceClaimName)
    const uid = first.metadata?.uid ?? ''
    assert.deepEqual(claim?.metadata?.annotations, {
      'resource.kubernetes.io/extended-resource-claim': 'true',
    })
    assert.deepEqual(claim?.metadata?.finalizers, ['resource.kubernetes.io/delete-protection'])
    assert.deepEqual(claim?.metadata?.ownerReferences, [
      { apiVersion: 'v1', kind: 'Pod', name: 'first', uid, controller: true },
    ])
    assert.deepEqual(claim?.status?.allocation?.devices?.results, [
      { request: requestName, driver: DRIVER, pool: 'node-1', device: 'gpu-0' },
    ])
    assert.deepEqual(claim?.status?.reservedFor, [{ resource: 'pods', name: 'first', uid }])
    await asking('second', `deviceclass.resource.kubernetes.io/${DRIVER}`, '1')
    await world.until('second runs', 20_000, running(world, 'second'))
    const waiting = (name: string) =>
      world.until(`${name} waits`, 5_000, async () => {
        const found = await world.find(resources.pods, name)
        return findCondition(found?.status?.conditions, 'PodScheduled')
      })
    await asking('third', GPU, '2')
    assert.equal(
      (await waiting('third')).message,
      '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    )
    await asking('vast', GPU, '33')
    const vast = await waiting('vast')
    assert.deepEqual(
      [vast.reason, vast.message],
      [
        'SchedulerError',
        'running "DynamicResources" filter plugin: claim default/<extended-resources>: number of requested devices 33 exceeds the claim limit of 32',
      ],
    )
    for (const name of ['first', 'second', 'vast']) await world.of(resources.pods).delete(name)
    const third = await world.until('third runs', 60_000, running(world, 'third'))
    const name = third.status?.extendedResourceClaimStatus?.resourceClaimName
    const left = await world.list(resources.resourceclaims)
    assert.deepEqual(
      left.map(({ metadata }) => metadata?.name),
      [name],
    )
    await world.of(resources.pods).delete('third')
    // A claim that somebody else made for the pod, or an earlier scheduler, is deleted first.
    const gated = await asking('gated', GPU, '1', { schedulingGates: [{ name: 'example.com/g' }] })
    const owner = { name: 'gated', uid: gated.metadata?.uid ?? '', controller: true }
    await world.of(resources.resourceclaims).create({
      metadata: {
        name: 'made-before',
        namespace: 'default',
        annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', ...owner }],
      },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: DRIVER } }] } },
    })
    await world
      .of(resources.pods)
      .patch('gated', { type: 'merge', value: { spec: { schedulingGates: null } } })
    await world.until('gated runs', 60_000, running(world, 'gated'))
    assert.equal(await world.find(resources.resourceclaims, 'made-before'), undefined)
    const told = (await world.list(resources.events)).map(({ message }) => message)
    assert.ok(
      told.includes(
        '0/2 nodes are available: 2 cannot schedule extended resource claim. deletion of ResourceClaim completed, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
      ),
      told.join('\n'),
    )
  },
)

scenario(
  'claims of a pod whose binding is refused are not reserved for it any more, and what was made for it goes',
  async (world) => {
    const GPU = 'example.com/gpu'
    await annotate(world, 'node-1', `${DRIVER}=2`)
    await world.of(resources.deviceclasses).create({
      metadata: { name: 'any' },
      spec: { extendedResourceName: GPU },
    })
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['pods/binding'],
    } as const
    await world.of(resources.validatingadmissionpolicies).create({
      metadata: { name: 'no-binding' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'false', message: 'no binding' }],
      },
    })
    const bindings = world.of(resources.validatingadmissionpolicybindings)
    await bindings.create({
      metadata: { name: 'no-binding' },
      spec: { policyName: 'no-binding', validationActions: ['Deny'] },
    })
    await world.of(resources.resourceclaims).create({
      metadata: { name: 'kept', namespace: 'default' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'any' } }] } },
    })
    await world.advance(2_000)
    const resourceClaims = [{ name: 'gpu', resourceClaimName: 'kept' }]
    await world.of(resources.pods).create(podOf('user', { resourceClaims }))
    const containers = [{ name: 'c', image: 'web:1', resources: { limits: { [GPU]: '1' } } }]
    await world.of(resources.pods).create(podOf('asking', { resourceClaims: [], containers }))
    const refused = (name: string) =>
      world.until(`${name} is refused`, 10_000, async () => {
        const found = await world.find(resources.pods, name)
        const scheduled = findCondition(found?.status?.conditions, 'PodScheduled')
        return scheduled && { scheduled, nominated: found?.status?.nominatedNodeName }
      })
    for (const name of ['user', 'asking']) {
      const { scheduled, nominated } = await refused(name)
      assert.equal(nominated, undefined)
      assert.equal(scheduled.reason, 'SchedulerError')
      assert.equal(
        scheduled.message,
        `running Bind plugin "DefaultBinder": pods "${name}" is forbidden: ValidatingAdmissionPolicy 'no-binding' with binding 'no-binding' denied request: no binding`,
      )
    }
    const [kept, ...others] = await world.until('what was made is gone', 5_000, async () => {
      const claims = await world.list(resources.resourceclaims)
      return claims.length === 1 ? claims : undefined
    })
    assert.deepEqual(others, [])
    assert.ok(kept?.status?.allocation)
    assert.deepEqual(kept.status.reservedFor ?? [], [])
    await bindings.delete('no-binding')
    await world.until('user runs', 30_000, running(world, 'user'))
    await world.until('asking runs', 30_000, running(world, 'asking'))
    const claims = await world.list(resources.resourceclaims)
    assert.deepEqual(
      claims.map(({ status }) => status?.reservedFor?.map(({ name }) => name)).toSorted(),
      [['asking'], ['user']],
    )
  },
)

scenario(
  'pods that wait until their devices are ready keep no other pod from its node, and those that are deleted give theirs up',
  async (world) => {
    const conditions = { bindingConditions: ['Up'], bindingFailureConditions: ['Down'] }
    const names = Array.from({ length: 10 }, (_, at) => `slow-${at}`)
    await world.of(resources.deviceclasses).create({ metadata: { name: DRIVER }, spec: {} })
    await world.of(resources.resourceslices).create({
      metadata: { name: 'slow' },
      spec: {
        driver: DRIVER,
        pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
        allNodes: true,
        devices: names.map((name) => ({ name, ...conditions })),
      },
    })
    await withTemplate(world)
    for (const name of names) await world.of(resources.pods).create(podOf(name))
    const allocated = () =>
      world
        .list(resources.resourceclaims)
        .then((claims) => claims.filter(({ status }) => status?.reservedFor?.length === 1))
    await world.until('all have their devices', 10_000, async () =>
      (await allocated()).length === names.length ? true : undefined,
    )
    const containers = [{ name: 'c', image: 'web:1' }]
    await world.of(resources.pods).create({ metadata: { name: 'plain' }, spec: { containers } })
    await world.until('the plain pod runs', 10_000, running(world, 'plain'))
    const waiting = await Promise.all(names.map((name) => world.find(resources.pods, name)))
    assert.ok(waiting.every((pod) => pod?.spec?.nodeName === undefined))
    const claim = await claimOf(world, waiting[0]!)
    const [result] = claim!.status!.allocation!.devices!.results!
    const { driver, pool, device } = result!
    const [reason, lastTransitionTime] = ['Ready', '2026-01-01T00:00:00Z']
    const up = { type: 'Up', status: 'True' as const, reason, message: '', lastTransitionTime }
    const value = { status: { devices: [{ driver, pool, device, conditions: [up] }] } }
    await world
      .of(resources.resourceclaims)
      .patch(claim!.metadata!.name!, { type: 'merge', value }, { subresource: 'status' })
    await world.until('the first one runs', 10_000, running(world, names[0]!))
    const held = waiting[1]!
    await world.of(resources.pods).patch(names[1]!, {
      type: 'merge',
      value: { metadata: { finalizers: ['example.com/held'] } },
    })
    await world.of(resources.pods).delete(names[1]!)
    await world.until('the one that is to go holds no device', 3_000, async () =>
      (await claimOf(world, held))?.status?.reservedFor === undefined ? true : undefined,
    )
  },
)

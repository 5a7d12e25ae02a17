import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as Test } from 'node:test'
import { findCondition, resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { DEVICE_TAINT_RULES } from './device-taint-rule.ts'
import { claim, pod, rule, slice, taint, tolerating } from './fixtures.ts'
import { deviceTaintEvictionController } from './index.ts'

const NAME = 'device-taint-eviction-controller'
const PREFIX = 'device_taint_eviction_controller_pod_deletion'

/** A controller at work on these objects. */
async function evicting(t: Test, objects: readonly KubernetesObject[], withRules = true) {
  const context = testContext({
    name: NAME,
    configuration: {
      ...defaultControllersConfiguration,
      featureGates: { DRADeviceTaintRules: withRules },
    },
    cached: objects,
  })
  const { client, informers, clock, metrics, events } = context
  const controller = await deviceTaintEvictionController.build(context)
  for (const each of objects) if (each.kind === 'Pod') client.put(resources.pods, each as Pod)
  for (const each of objects)
    if (each.kind === 'DeviceTaintRule') client.put(DEVICE_TAINT_RULES, each as never)
  t.after(startLoop(controller, clock).stop)
  await clock.advance(0)
  const set = async <T extends KubernetesObject>(type: ResourceType<T>, object: T) => {
    client.put(type, object)
    informers.apply(type, object)
    await clock.advance(0)
  }
  const unset = async <T extends KubernetesObject>(type: ResourceType<T>, object: T) => {
    client.remove(type, object)
    informers.remove(type, object)
    await clock.advance(0)
  }
  return {
    client,
    clock,
    metrics,
    informers,
    set,
    unset,
    setSlice: (object: ReturnType<typeof slice>) => set(resources.resourceslices, object),
    setClaim: (object: ReturnType<typeof claim>) => set(resources.resourceclaims, object),
    setPod: (object: Pod) => set(resources.pods, object),
    setRule: (object: ReturnType<typeof rule>) => set(DEVICE_TAINT_RULES, object),
    events: () => events.map(({ message }) => message),
    recorded: events,
    /** Names of pods whose deletion was sent. */
    deleted: () => client.requested('delete').map(({ path }) => path.split('/').at(-1)),
    /** As `status reason message` of what was last applied to the rule. */
    told(name: string): string | undefined {
      const applied = client
        .requested('apply', 'patch')
        .findLast(({ path }) => path.includes(`/devicetaintrules/${name}`))
      const object = JSON.parse(JSON.stringify(applied?.body ?? null)) as {
        value?: KubernetesObject & { status: { conditions: never[] } }
        status?: { conditions: never[] }
      } | null
      const condition = findCondition<{
        type: string
        status: string
        reason: string
        message: string
      }>((object?.value ?? object)?.status?.conditions, 'EvictionInProgress')
      return condition && `${condition.status} ${condition.reason} ${condition.message}`.trim()
    },
  }
}

const user = pod('p')
const used = claim('c', { users: [user] })
const bad = slice('s', { 'gpu-0': [taint('bad')] })
const good = slice('s', { 'gpu-0': [] })

test('Given an allocated claim on a tainted device, then claim and pod get an eviction.', async (t) => {
  const world = await evicting(t, [user, used, bad])
  const [patched] = world.client.requested('patch')
  const body = JSON.parse(JSON.stringify(patched!.body))
  const { metadata, status } = body.value ?? body
  assert.deepEqual(metadata, { uid: 'p-uid' })
  assert.deepEqual(status.conditions, [
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByDeviceTaintManager',
      message: 'Device Taint manager: deleting due to NoExecute taint',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ])
  assert.deepEqual(
    world.client.requested('get', 'patch', 'delete').map(({ verb }) => verb),
    ['get', 'patch', 'delete'],
  )
  const [deletion] = world.client.requested('delete')
  assert.deepEqual(JSON.parse(JSON.stringify(deletion!.options)).preconditions, { uid: 'p-uid' })
  assert.deepEqual(world.recorded, [
    {
      regarding: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'ns', name: 'p', uid: 'p-uid' },
      },
      type: 'Normal',
      reason: 'DeviceTaintManagerEviction',
      message: 'Marking for deletion',
      component: NAME,
    },
  ])
  assert.equal(world.metrics.value(`${PREFIX}s_total`), 1)
  assert.equal(world.metrics.value('workqueue_adds_total', { name: NAME }), 1)
  assert.deepEqual(world.metrics.observed(`${PREFIX}_duration_seconds`), [0])
  // From a template.
  const own = pod('q', { generated: 'q-gpu' })
  const generated = claim('q-gpu', { owner: own, users: [own] })
  assert.deepEqual((await evicting(t, [own, generated, bad])).deleted(), ['q'])
})

test('Given a matching rule, then the same and a status condition.', async (t) => {
  const world = await evicting(t, [user, used, good, rule('r', { device: 'gpu-0' })])
  assert.deepEqual(world.deleted(), ['p'])
  assert.equal(
    world.told('r'),
    'True PodsPendingEviction 1 pod needs to be evicted in 1 namespace.',
  )
  await world.clock.advance(10_000)
  const done = 'False Completed 1 pod evicted since starting the controller.'
  assert.equal(world.told('r'), done)
  const [, last] = world.client.requested('apply', 'patch').filter(({ path }) => /rules/.test(path))
  assert.match(last!.path, /\/r(\/status)?$/)
  const later = await evicting(t, [
    user,
    claim('c', { users: [user], tolerations: [tolerating('bad', 20)] }),
    good,
  ])
  await later.setRule(rule('r', {}))
  assert.equal(
    later.told('r'),
    'True PodsPendingEviction 1 pod needs to be evicted in 1 namespace.',
  )
  await later.clock.advance(19_999)
  assert.deepEqual(later.deleted(), [])
  await later.clock.advance(1)
  assert.deepEqual(later.deleted(), ['p'])
  await later.clock.advance(10_000)
  assert.equal(later.told('r'), done)
})

test('rules are not looked at without their gate', async (t) => {
  const world = await evicting(t, [user, used, good, rule('r', {})], false)
  await world.clock.advance(60_000)
  assert.deepEqual([world.deleted(), world.told('r')], [[], undefined])
})

test('Given a rule with effect None, then counts in the condition and no eviction.', async (t) => {
  const suffix =
    ' if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.'
  const none = rule('r', {}, { effect: 'None' })
  const one = await evicting(t, [user, used, good, none])
  assert.equal(
    one.told('r'),
    `False NoEffect 1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace${suffix}`,
  )
  assert.deepEqual(one.deleted(), [])
  const users = ['a', 'b', 'c'].map((name) => pod(name, { namespace: name === 'c' ? 'm' : 'ns' }))
  const deleting = pod('gone', { deleting: true })
  const many = await evicting(t, [
    ...users,
    deleting,
    claim('c', { users: [users[0]!, users[1]!, deleting, pod('unknown')] }),
    claim('c', { namespace: 'm', users: [users[2]!], devices: ['gpu-1'] }),
    slice('s', { 'gpu-0': [], 'gpu-1': [], 'gpu-2': [] }),
    none,
    rule('same', { device: 'gpu-0' }, { effect: 'None' }),
    rule('tolerated', {}, { effect: 'None', key: 'other' }),
  ])
  assert.equal(
    many.told('r'),
    `False NoEffect 3 published devices selected. 2 allocated devices selected. 3 pods would be evicted in 2 different namespaces${suffix}`,
  )
  assert.equal(
    many.told('same'),
    `False NoEffect 1 published device selected. 1 allocated device selected. 2 pods would be evicted in 1 namespace${suffix}`,
  )
  const idle = await evicting(t, [rule('r', undefined, { effect: 'None' }), good])
  assert.equal(
    idle.told('r'),
    `False NoEffect 0 published devices selected. 0 allocated devices selected. 0 pods would be evicted in 0 different namespaces${suffix}`,
  )
})

test('what an effect of None would do is told at the start and for each generation, not when devices change', async (t) => {
  const condition = {
    type: 'EvictionInProgress',
    status: 'False',
    reason: 'NoEffect',
    message: 'by an earlier process',
    observedGeneration: 1,
    lastTransitionTime: '2025-12-31T00:00:00Z',
  }
  const before = { ...rule('r', {}, { effect: 'None' }), status: { conditions: [condition] } }
  const world = await evicting(t, [user, used, good, before])
  assert.match(world.told('r')!, /^False NoEffect 1 published device /)
  await world.setSlice(slice('s', { 'gpu-0': [], 'gpu-1': [] }))
  await world.clock.advance(60_000)
  assert.match(world.told('r')!, /^False NoEffect 1 published device /)
  await world.setRule(rule('r', { pool: 'pool' }, { effect: 'None', generation: 2 }))
  assert.match(world.told('r')!, /^False NoEffect 2 published devices /)
})

test('effects that are neither NoExecute nor None evict nobody and say so', async (t) => {
  const world = await evicting(t, [user, used, good, rule('r', {}, { effect: 'NoSchedule' })])
  assert.equal(world.told('r'), 'False OtherEffect Eviction only happens for the NoExecute effect.')
  assert.deepEqual(world.deleted(), [])
  const unused = await evicting(t, [good, rule('r', {})])
  assert.equal(unused.told('r'), 'False NotStarted')
})

test('a rule tells of the pods that it evicted before it had another effect', async (t) => {
  const world = await evicting(t, [user, used, good, rule('r', {})])
  assert.deepEqual(world.deleted(), ['p'])
  for (const [at, effect] of (['NoSchedule', 'None'] as const).entries()) {
    await world.setRule(rule('r', {}, { effect, generation: at + 2 }))
    assert.match(world.told('r')!, /\. 1 pod evicted since starting the controller\.$/, effect)
  }
})

test('Given many pods in one or more namespaces, then the pending counts match.', async (t) => {
  const tolerations = [tolerating('bad', 100)]
  const users = ['a', 'b', 'd'].map((name) => pod(name))
  const far = pod('far', { namespace: 'm' })
  const deleting = pod('going', { deleting: true })
  const together = claim('c', { users: [...users, deleting], tolerations })
  const same = await evicting(t, [...users, deleting, together, rule('r', {})])
  assert.equal(same.told('r'), 'True PodsPendingEviction 3 pods need to be evicted in 1 namespace.')
  const more = claim('c', { namespace: 'm', users: [far], tolerations })
  const both = await evicting(t, [...users, far, together, more, rule('r', {})])
  assert.equal(
    both.told('r'),
    'True PodsPendingEviction 4 pods need to be evicted in 2 different namespaces.',
  )
})

test('Given several claims under one rule, then the pod counts once.', async (t) => {
  const tolerations = [tolerating('bad', 100)]
  const two = pod('p', { claims: ['c', 'd'] })
  const world = await evicting(t, [
    two,
    claim('c', { users: [two], tolerations }),
    claim('d', { users: [two], tolerations, devices: ['gpu-1'] }),
    rule('r', {}),
  ])
  assert.equal(
    world.told('r'),
    'True PodsPendingEviction 1 pod needs to be evicted in 1 namespace.',
  )
  await world.clock.advance(110_000)
  assert.deepEqual(world.deleted(), ['p'])
  assert.equal(world.told('r'), 'False Completed 1 pod evicted since starting the controller.')
})

test('a rule tells of pods that went while others wait, and forgets them with the rule', async (t) => {
  const [first, second] = [pod('a'), pod('b', { claims: ['d'] })]
  const world = await evicting(t, [
    first,
    second,
    claim('c', { users: [first] }),
    claim('d', { users: [second], tolerations: [tolerating('bad', 100)] }),
    rule('r', {}),
  ])
  await world.clock.advance(10_000)
  assert.equal(
    world.told('r'),
    'True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller.',
  )
  await world.unset(DEVICE_TAINT_RULES, rule('r', {}))
  assert.deepEqual(world.events().at(-1), 'Cancelling deletion')
  const again = {
    ...rule('r', { device: 'none' }),
    metadata: { name: 'r', uid: 'again', generation: 1 },
  }
  await world.setRule(again)
  assert.equal(world.told('r'), 'False NotStarted')
})

test('the status of a rule is written every ten seconds at most', async (t) => {
  const world = await evicting(t, [good])
  const condition = {
    type: 'EvictionInProgress',
    status: 'False',
    reason: 'Completed',
    message: 'of an earlier process',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  await world.setRule({ ...rule('r', {}), status: { conditions: [condition] } })
  await world.clock.advance(9_999)
  assert.equal(world.told('r'), undefined)
  await world.clock.advance(1)
  assert.equal(world.told('r'), 'False NotStarted')
  const [applied] = world.client.requested('apply', 'patch')
  const body = JSON.parse(JSON.stringify(applied!.body))
  assert.equal((body.value ?? body).metadata.uid, 'r-uid')
  // What is there already is not written again.
  const quiet = await evicting(t, [good])
  const same = {
    ...condition,
    reason: 'NotStarted',
    message: '',
    lastTransitionTime: '2025-12-31T00:00:00Z',
  }
  await quiet.setRule({ ...rule('r', {}), status: { conditions: [same] } })
  assert.equal(quiet.told('r'), undefined)
})

test('Given a pod scheduled after the taint, then it is evicted then.', async (t) => {
  const waiting = pod('p', { node: '' })
  const world = await evicting(t, [waiting, used, bad])
  await world.clock.advance(60_000)
  assert.deepEqual(world.client.requests, [])
  await world.setPod(user)
  assert.deepEqual(world.deleted(), ['p'])
})

test('toleration time counts from when the taint was added, and moves with it both ways', async (t) => {
  const patient = claim('c', { users: [user], tolerations: [tolerating('bad', 600)] })
  const early = slice('s', { 'gpu-0': [taint('bad', { timeAdded: '2025-12-31T23:55:00Z' })] })
  const world = await evicting(t, [user, patient, early])
  await world.clock.advance(299_999)
  assert.deepEqual(world.deleted(), [])
  const later = slice('s', { 'gpu-0': [taint('bad', { timeAdded: '2026-01-01T00:01:00Z' })] })
  await world.setSlice(later)
  await world.clock.advance(60_000)
  assert.deepEqual(world.deleted(), [])
  await world.setSlice(early)
  assert.deepEqual([world.deleted(), world.events()], [['p'], ['Marking for deletion']])
  assert.deepEqual(world.metrics.observed(`${PREFIX}_duration_seconds`), [59.999])
})

test('Given no status, no claim, another device, another pod, then nothing.', async (t) => {
  const unrecorded = pod('p', { generated: null })
  const recorded = pod('p', { generated: 'c' })
  const cases: readonly (readonly KubernetesObject[])[] = [
    [unrecorded, claim('c', { owner: unrecorded, users: [unrecorded] }), bad],
    [recorded, bad],
    [user, claim('c', { users: [user], devices: ['gpu-1'] }), bad],
    [user, claim('c', { users: [pod('other')] }), bad],
    [user, claim('c', { users: [pod('p', { uid: 'earlier' })] }), bad],
    [recorded, claim('c', { owner: pod('p', { uid: 'earlier' }), users: [recorded] }), bad],
    [user, claim('c', { users: [user], devices: [] }), bad],
    [pod('p', { claims: [] }), used, bad],
  ]
  for (const objects of cases) {
    const world = await evicting(t, objects)
    await world.clock.advance(1_000)
    assert.deepEqual(world.client.requests, [])
  }
})

test('Given taint removed, weakened, moved to a new slice, slice removed, then cancelled with event; pod deleted: without event.', async (t) => {
  const patient = claim('c', { users: [user], tolerations: [tolerating('bad', 100)] })
  type World = Awaited<ReturnType<typeof evicting>>
  const cases: readonly [string, (world: World) => Promise<void>, readonly string[]][] = [
    ['removed', (world) => world.setSlice(good), ['Cancelling deletion']],
    [
      'weakened',
      (world) => world.setSlice(slice('s', { 'gpu-0': [taint('bad', { effect: 'NoSchedule' })] })),
      ['Cancelling deletion'],
    ],
    [
      'a newer generation',
      (world) => world.setSlice(slice('t', { 'gpu-0': [] }, { generation: 2 })),
      ['Cancelling deletion'],
    ],
    [
      'the slice is gone',
      (world) => world.unset(resources.resourceslices, bad),
      ['Cancelling deletion'],
    ],
    ['the pod is gone', (world) => world.unset(resources.pods, user), []],
    ['a successor of the name', (world) => world.setPod(pod('p', { uid: 'later' })), []],
    [
      'no longer reserved',
      (world) => world.setClaim(claim('c', { tolerations: [tolerating('bad', 100)] })),
      ['Cancelling deletion'],
    ],
  ]
  for (const [title, change, events] of cases) {
    const world = await evicting(t, [user, patient, bad])
    await change(world)
    assert.deepEqual(world.events(), events, title)
    await world.clock.advance(200_000)
    assert.deepEqual(world.deleted(), [], title)
    assert.deepEqual(world.events(), events, title)
  }
  // Moved to another slice of the same pool and generation: still there.
  const moved = await evicting(t, [user, patient, bad])
  await moved.setSlice(slice('t', { 'gpu-0': [taint('bad')] }))
  await moved.unset(resources.resourceslices, bad)
  await moved.clock.advance(100_000)
  assert.deepEqual(moved.deleted(), ['p'])
})

test('Given a claim deallocated or deleted, then no eviction.', async (t) => {
  const patient = claim('c', { users: [user], tolerations: [tolerating('bad', 100)] })
  const deallocated = await evicting(t, [user, patient, bad])
  await deallocated.setClaim(claim('c', { devices: [] }))
  const deleted = await evicting(t, [user, patient, bad])
  await deleted.unset(resources.resourceclaims, patient)
  const replaced = await evicting(t, [user, patient, bad])
  await replaced.setClaim(claim('c', { uid: 'later', users: [user], devices: ['gpu-1'] }))
  for (const world of [deallocated, deleted, replaced]) {
    await world.clock.advance(200_000)
    assert.deepEqual([world.deleted(), world.events()], [[], ['Cancelling deletion']])
  }
  // Allocated anew it is judged anew.
  await deallocated.setClaim(used)
  assert.deepEqual(deallocated.deleted(), ['p'])
})

test('a claim that was freed and allocated anew while the watch had a gap is judged by its new devices', async (t) => {
  const healthy = claim('c', { users: [user], devices: ['gpu-1'] })
  const worsened = await evicting(t, [user, healthy, bad])
  await worsened.setClaim(used)
  assert.deepEqual(worsened.deleted(), ['p'])
  const patient = claim('c', { users: [user], tolerations: [tolerating('bad', 100)] })
  const cured = await evicting(t, [user, patient, bad])
  await cured.setClaim(healthy)
  await cured.clock.advance(200_000)
  assert.deepEqual([cured.deleted(), cured.events()], [[], ['Cancelling deletion']])
})

test('Given a running controller, then pods with events from initial list, add, update, delete behave alike.', async (t) => {
  const objects = [
    [resources.pods, user],
    [resources.resourceclaims, used],
    [resources.resourceslices, bad],
  ] as const
  for (let first = 0; first < objects.length; first++) {
    for (const step of [1, 2]) {
      const world = await evicting(t, [])
      for (let at = 0; at < objects.length; at++) {
        assert.deepEqual(world.deleted(), [])
        const [type, object] = objects[(first + at * step) % objects.length]!
        await world.set(type as ResourceType, object)
      }
      assert.deepEqual(world.deleted(), ['p'])
    }
  }
  const missed = await evicting(t, [
    user,
    claim('c', { users: [user], tolerations: [tolerating('bad', 9)] }),
    bad,
  ])
  missed.informers.remove(resources.resourceslices, new DeletedFinalStateUnknown('s', bad))
  missed.informers.remove(resources.pods, new DeletedFinalStateUnknown<Pod>('ns/p', undefined))
  missed.informers.remove(resources.resourceclaims, new DeletedFinalStateUnknown('ns/c', used))
  await missed.clock.advance(20_000)
  assert.deepEqual([missed.deleted(), missed.events()], [[], ['Cancelling deletion']])
})

test('Given rules created and modified, then conditions appear through the API.', async (t) => {
  const world = await evicting(t, [
    user,
    claim('c', { users: [user], tolerations: [tolerating('bad', 600)] }),
    good,
  ])
  await world.setRule(rule('r', {}, { effect: 'None' }))
  assert.match(world.told('r')!, /^False NoEffect 1 published device selected\./)
  await world.setRule(rule('r', {}, { generation: 2 }))
  assert.match(world.told('r')!, /^True PodsPendingEviction 1 pod needs/)
  const count = world.client.requested('apply', 'patch').length
  await world.setRule({ ...rule('r', {}, { generation: 2 }), status: { conditions: [] } })
  assert.equal(world.client.requested('apply', 'patch').length, count)
  await world.setRule(rule('r', { driver: 'other' }, { generation: 3 }))
  assert.equal(world.told('r'), 'False NotStarted')
})

test('Given many pods, then deletions run in parallel.', async (t) => {
  const users = Array.from({ length: 20 }, (_, index) => pod(`p${index}`))
  const world = await evicting(t, [...users, claim('c', { users })])
  const release = Promise.withResolvers<void>()
  let waiting = 0
  world.client.onRequest = ({ verb }) => {
    if (verb !== 'delete') return undefined
    waiting++
    return release.promise
  }
  await world.setSlice(bad)
  await world.clock.advance(100)
  assert.equal(waiting, 8)
  release.resolve()
  await world.clock.advance(100)
  assert.equal(new Set(world.deleted()).size, 20)
})

test('Given a failing delete, then it is retried until success.', async (t) => {
  const world = await evicting(t, [user, used])
  let failures = 0
  world.client.onRequest = ({ verb }) => {
    if (verb === 'delete' && failures++ < 3) throw statusError(500, 'InternalError', 'no')
    return undefined
  }
  await world.setSlice(bad)
  await world.clock.advance(1_000)
  assert.deepEqual([failures, world.events().length], [4, 4])
  assert.equal(world.metrics.value(`${PREFIX}s_total`), 1)
})

test('a pod that cannot be marked is not deleted until it is', async (t) => {
  const world = await evicting(t, [user, used])
  let refusals = 0
  world.client.onRequest = ({ verb }) => {
    if (verb === 'patch' && refusals++ < 2) throw statusError(500, 'InternalError', 'no')
    if (verb === 'delete') assert.equal(refusals, 3)
    return undefined
  }
  await world.setSlice(bad)
  await world.clock.advance(1_000)
  assert.deepEqual([refusals, world.deleted()], [3, ['p']])
})

test('a pod that is gone, replaced or going already is done with', async (t) => {
  const gone = await evicting(t, [user, used])
  gone.client.remove(resources.pods, user)
  await gone.setSlice(bad)
  const replaced = await evicting(t, [user, used])
  replaced.client.put(resources.pods, pod('p', { uid: 'later' }))
  await replaced.setSlice(bad)
  const vanishing = await evicting(t, [user, used])
  vanishing.client.onRequest = ({ verb }) => {
    if (verb === 'delete') throw statusError(404, 'NotFound', 'gone')
    return undefined
  }
  await vanishing.setSlice(bad)
  for (const world of [gone, replaced, vanishing]) {
    await world.clock.advance(60_000)
    assert.equal(world.metrics.value(`${PREFIX}s_total`), undefined)
    assert.equal(world.client.requested('get').length, 1)
  }
  assert.deepEqual([gone.events(), replaced.events()], [[], []])
  const going = await evicting(t, [user, used])
  going.client.put(resources.pods, pod('p', { deleting: true }))
  await going.setSlice(bad)
  assert.deepEqual([going.events(), going.deleted()], [[], []])
  assert.equal(going.metrics.value(`${PREFIX}s_total`), 1)
})

test('an evicted pod is left alone while it ends', async (t) => {
  const world = await evicting(t, [user, used, bad])
  await world.setPod({
    ...user,
    metadata: { ...user.metadata, deletionTimestamp: '2026-01-01T00:00:30Z' },
  })
  await world.setClaim(claim('c', { users: [user, pod('q')] }))
  await world.setSlice(good)
  await world.setSlice(bad)
  assert.deepEqual([world.deleted(), world.events()], [['p'], ['Marking for deletion']])
  // The condition that is there is not written again.
  const condition = world.client.requested('patch').length
  assert.equal(condition, 1)
})

test('a condition that is there is not written again', async (t) => {
  const conditions = [
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByDeviceTaintManager',
      message: 'Device Taint manager: deleting due to NoExecute taint',
    },
  ] as const
  const marked = { ...user, status: { conditions } }
  const world = await evicting(t, [marked, used, bad])
  assert.deepEqual([world.client.requested('patch'), world.deleted()], [[], ['p']])
})

test('Given 1000 pods on tainted devices, then all are evicted.', async (t) => {
  const users = Array.from({ length: 1_000 }, (_, index) =>
    pod(`p${index}`, { claims: [`c${index}`] }),
  )
  const claims = users.map((each, index) =>
    claim(`c${index}`, { users: [each], devices: [`gpu-${index}`] }),
  )
  const world = await evicting(t, [...users, ...claims])
  const devices = users.map((_, index) => [`gpu-${index}`, [taint('bad')]] as const)
  await world.setSlice(slice('s', Object.fromEntries(devices)))
  await world.clock.advance(1_000)
  assert.equal(new Set(world.deleted()).size, 1_000)
})

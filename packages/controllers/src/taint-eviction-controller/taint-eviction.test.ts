import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as Test } from 'node:test'
import { keyOf, resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { WorkClock, startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { node, noExecute, pod, tolerating } from './fixtures.ts'
import { taintEvictionController } from './index.ts'

/** A controller at work on these objects. */
async function evicting(
  t: Test,
  nodes: readonly Node[],
  pods: readonly Pod[],
  featureGates: Readonly<Record<string, boolean>> = {},
) {
  const context = testContext({
    name: 'taint-eviction-controller',
    configuration: { ...defaultControllersConfiguration, featureGates },
    cached: [...nodes, ...pods],
  })
  const { client, informers, clock, metrics, events } = context
  const controller = await taintEvictionController.build(context)
  for (const each of pods) client.put(resources.pods, each)
  const { stop } = startLoop(controller, clock)
  t.after(stop)
  await clock.advance(0)
  return {
    client,
    clock,
    metrics,
    stop,
    informers,
    errors: () => context.logger.lines.filter(({ severity }) => severity === 'error').length,
    events: () => events.map(({ message }) => message),
    recorded: events,
    /** Names of pods whose deletion was sent. */
    deleted: () => client.requested('delete').map(({ path }) => path.split('/').at(-1)),
    async setNode(changed: Node) {
      informers.apply(resources.nodes, changed)
      await clock.advance(0)
    },
    async setPod(changed: Pod) {
      client.put(resources.pods, changed)
      informers.apply(resources.pods, changed)
      await clock.advance(0)
    },
    async removePod(gone: Pod) {
      client.remove(resources.pods, gone)
      informers.remove(resources.pods, gone)
      await clock.advance(0)
    },
  }
}

/** More than a turn of the event loop may take: each look at the time is the end of one. */
const WHOLE_TURN_MS = 20

test('Given nodes that all change while a pod does, then the pod is judged after them, and they are judged in as many turns as it takes', async (t) => {
  const names = Array.from({ length: 50 }, (_, number) => `n${number}`)
  const nodes = names.map((name) => node(name, noExecute('a')))
  const pods = names.map((name) => pod(`p-${name}`, { node: name }))
  const context = testContext({
    name: 'taint-eviction-controller',
    configuration: defaultControllersConfiguration,
    cached: [...nodes, ...pods],
  })
  const clock = new WorkClock(context.clock, WHOLE_TURN_MS)
  for (const each of pods) context.client.put(resources.pods, each)
  const controller = await taintEvictionController.build({ ...context, clock })
  t.after(startLoop(controller, context.clock).stop)
  const deletions = (): number => context.client.requested('delete').length
  const atTurns = new Set<number>()
  const look = (): void => {
    atTurns.add(deletions())
    if (deletions() < 50) context.clock.after(0, look)
  }
  look()
  await context.clock.advance(0)
  assert.equal(deletions(), 50)
  assert.ok(atTurns.size > 40, `others had ${atTurns.size} turns meanwhile`)
})

const tainted = node('n', noExecute('a'))

test('Given a pod without node, then nothing happens', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { node: '' })])
  await world.clock.advance(600_000)
  assert.deepEqual(world.client.requests, [])
})

test('Given a pod bound to a tainted node without toleration, then condition is patched and pod deleted', async (t) => {
  const world = await evicting(t, [tainted], [pod('p')])
  const [patched, ...more] = world.client.requested('patch')
  assert.deepEqual(more, [])
  assert.match(patched!.path, /\/p(\/status)?$/)
  const { metadata, status } = JSON.parse(JSON.stringify(patched!.body)).value ?? patched!.body
  assert.deepEqual(metadata, { uid: 'p-uid' })
  assert.deepEqual(status.conditions, [
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: 2,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ])
  assert.deepEqual(
    world.client.requested('get', 'patch', 'delete').map(({ verb }) => verb),
    ['get', 'patch', 'delete'],
  )
  const [deletion] = world.client.requested('delete')
  assert.deepEqual(JSON.parse(JSON.stringify(deletion!.options)), {})
})

test('Given finite toleration, then it is deleted after that time; with infinite toleration never', async (t) => {
  const pods = [
    pod('finite', { tolerations: [tolerating('a', 100)] }),
    pod('infinite', { tolerations: [tolerating('a')] }),
  ]
  const world = await evicting(t, [tainted], pods)
  await world.clock.advance(99_999)
  assert.deepEqual(world.deleted(), [])
  await world.clock.advance(1)
  assert.deepEqual(world.deleted(), ['finite'])
  await world.clock.advance(86_400_000)
  assert.deepEqual(world.deleted(), ['finite'])
})

test('Given a toleration for another value, then it is deleted', async (t) => {
  const tolerations = [{ key: 'a', operator: 'Equal', value: 'y', effect: 'NoExecute' }] as const
  const world = await evicting(t, [node('n', noExecute('a', 'x'))], [pod('p', { tolerations })])
  assert.deepEqual(world.deleted(), ['p'])
})

test('Given a pending timer and the pod is deleted, then the timer is cancelled and no delete is sent', async (t) => {
  const patient = pod('p', { tolerations: [tolerating('a', 10)] })
  const world = await evicting(t, [tainted], [patient])
  await world.removePod(patient)
  assert.deepEqual(world.events(), ['Cancelling deletion of Pod test/p'])
  await world.clock.advance(20_000)
  assert.deepEqual(world.client.requests, [])
})

test('Given toleration 100 s removed by update, then the pod is deleted at once', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a', 100)] })])
  await world.setPod(pod('p'))
  assert.deepEqual(world.deleted(), ['p'])
  assert.deepEqual(world.events(), [
    'Cancelling deletion of Pod test/p',
    'Marking for deletion Pod test/p',
  ])
})

test('Given toleration raised from 1 s to 100 s after scheduling, then it is still deleted after 1 s', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a', 1)] })])
  await world.clock.advance(500)
  await world.setPod(pod('p', { tolerations: [tolerating('a', 100)] }))
  await world.clock.advance(499)
  assert.deepEqual(world.deleted(), [])
  await world.clock.advance(1)
  assert.deepEqual(world.deleted(), ['p'])
  assert.deepEqual(world.events(), ['Marking for deletion Pod test/p'])
})

test('a timer is not moved by a shorter toleration, nor by the time of the taint', async (t) => {
  const patient = pod('p', { tolerations: [tolerating('a', 100)] })
  const old = { ...noExecute('a'), timeAdded: '2025-12-31T00:00:00Z' }
  const world = await evicting(t, [node('n', old)], [patient])
  await world.setPod(pod('p', { tolerations: [tolerating('a', 1)] }))
  await world.clock.advance(99_999)
  assert.deepEqual(world.deleted(), [])
  await world.clock.advance(1)
  assert.deepEqual(world.deleted(), ['p'])
})

test('Given a node created with a taint and an existing pod, then the pod is deleted', async (t) => {
  const world = await evicting(t, [], [pod('p')])
  assert.deepEqual(world.deleted(), [])
  await world.setNode(tainted)
  assert.deepEqual(world.deleted(), ['p'])
})

test('Given a node deletion, then its stored taints vanish', async (t) => {
  const patient = pod('patient', { tolerations: [tolerating('a', 10)] })
  const world = await evicting(t, [tainted], [patient])
  world.informers.remove(resources.nodes, new DeletedFinalStateUnknown<Node>('n', undefined))
  await world.clock.advance(0)
  await world.setPod(pod('p'))
  assert.deepEqual(world.deleted(), [])
  // Timers of its pods are left.
  await world.clock.advance(10_000)
  assert.deepEqual(world.deleted(), ['patient'])
})

test('Given only one of two added taints tolerated, then the pod is deleted', async (t) => {
  const world = await evicting(t, [node('n')], [pod('p', { tolerations: [tolerating('a')] })])
  await world.setNode(node('n', noExecute('a'), noExecute('b')))
  assert.deepEqual(world.deleted(), ['p'])
})

test('Given tolerations of 1 s and 100 s for two taints, then eviction happens after 1 s', async (t) => {
  const tolerations = [tolerating('a', 1), tolerating('b', 100)]
  const world = await evicting(t, [node('n')], [pod('p', { tolerations })])
  await world.setNode(node('n', noExecute('a'), noExecute('b')))
  await world.clock.advance(999)
  assert.deepEqual(world.deleted(), [])
  await world.clock.advance(1)
  assert.deepEqual(world.deleted(), ['p'])
})

test('Given taint1 tolerated forever and taint2 for 60 s, when taint2 is removed, then the timer is cancelled', async (t) => {
  const tolerations = [tolerating('a'), tolerating('b', 60)]
  const both = node('n', noExecute('a'), noExecute('b'))
  const world = await evicting(t, [both], [pod('p', { tolerations })])
  await world.clock.advance(30_000)
  await world.setNode(tainted)
  assert.deepEqual(world.events(), ['Cancelling deletion of Pod test/p'])
  await world.clock.advance(100_000)
  assert.deepEqual(world.deleted(), [])
})

test('Given three pods with none/1 s/infinite tolerations, then deletions happen at 0 s, 1 s, never', async (t) => {
  const pods = [
    pod('none'),
    pod('second', { tolerations: [tolerating('a', 1)] }),
    pod('infinite', { tolerations: [tolerating('a')] }),
  ]
  const world = await evicting(t, [node('n')], pods)
  await world.setNode(tainted)
  assert.deepEqual(world.deleted(), ['none'])
  await world.clock.advance(1_000)
  assert.deepEqual(world.deleted(), ['none', 'second'])
  await world.clock.advance(600_000)
  assert.deepEqual(world.deleted(), ['none', 'second'])
})

test('Given pod test/test, then the event texts are exactly `Marking for deletion Pod test/test` and `Cancelling deletion of Pod test/test`', async (t) => {
  const world = await evicting(t, [tainted], [pod('test', { tolerations: [tolerating('a', 9)] })])
  await world.setNode(node('n'))
  await world.setNode(node('n', noExecute('b')))
  assert.deepEqual(
    world.recorded.map(({ regarding, ...rest }) => ({ ...rest, regarding })),
    ['Cancelling deletion of Pod test/test', 'Marking for deletion Pod test/test'].map(
      (message) => ({
        type: 'Normal',
        reason: 'TaintManagerEviction',
        message,
        component: 'taint-eviction-controller',
        regarding: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { namespace: 'test', name: 'test' },
        },
      }),
    ),
  )
})

test('without taints no event is recorded for pods that had no timer', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a')] })])
  await world.setNode(node('n'))
  assert.deepEqual(world.events(), [])
})

test('a finished pod goes as well, and a time of 0 or less is none', async (t) => {
  const pods = [
    pod('failed', { status: { phase: 'Failed' } }),
    pod('zero', { tolerations: [tolerating('a', 0)] }),
    pod('negative', { tolerations: [tolerating('a', -5)] }),
  ]
  const world = await evicting(t, [tainted], pods)
  assert.deepEqual(world.deleted().toSorted(), ['failed', 'negative', 'zero'])
})

test('a pod that has the condition is deleted without another patch; an older one is brought up to date and keeps its time', async (t) => {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    observedGeneration: 2,
    lastTransitionTime: '2025-12-31T00:00:00Z',
  } as const
  const known = pod('known', { status: { conditions: [condition] } })
  const first = await evicting(t, [tainted], [known])
  assert.deepEqual(first.client.requested('patch'), [])
  assert.deepEqual(first.deleted(), ['known'])
  // Its deletion raised the generation: a later taint finds the same condition.
  const earlier = pod('earlier', {
    status: { conditions: [{ ...condition, observedGeneration: 1 }] },
  })
  const second = await evicting(t, [tainted], [earlier])
  assert.deepEqual([second.client.requested('patch'), second.deleted()], [[], ['earlier']])
  for (const change of [{ reason: 'PreemptionByScheduler' }, { message: 'else' }]) {
    const stale = pod('p', { status: { conditions: [{ ...condition, ...change }] } })
    const world = await evicting(t, [tainted], [stale])
    const [patched] = world.client.requested('patch')
    assert.match(JSON.stringify(patched), /2025-12-31T00:00:00Z/)
  }
})

test('five attempts are made, 10 ms apart, then the work is dropped; the event comes first and once', async (t) => {
  const world = await evicting(t, [node('n')], [pod('p')])
  const tries: number[] = []
  const startMs = world.clock.monotonicMs()
  world.client.onRequest = ({ verb }) => {
    if (verb !== 'get') return undefined
    assert.deepEqual(world.events(), ['Marking for deletion Pod test/p'])
    tries.push(world.clock.monotonicMs() - startMs)
    throw statusError(500, 'InternalError', 'no')
  }
  await world.setNode(tainted)
  await world.clock.advance(60_000)
  assert.deepEqual(tries, [0, 10, 20, 30, 40])
  assert.deepEqual(world.deleted(), [])
  assert.equal(world.errors(), 1)
  assert.equal(world.metrics.value('taint_eviction_controller_pod_deletions_total'), undefined)
  // The pod can be judged anew.
  world.client.onRequest = undefined
  await world.setNode(node('n', noExecute('b')))
  assert.deepEqual(world.deleted(), ['p'])
})

test('a refused patch or deletion is tried again from the live pod', async (t) => {
  const world = await evicting(t, [node('n')], [pod('p')])
  const refuse = new Set(['patch', 'delete'])
  world.client.onRequest = ({ verb }) => {
    if (refuse.delete(verb)) throw statusError(409, 'Conflict', 'no')
    return undefined
  }
  await world.setNode(tainted)
  await world.clock.advance(1_000)
  assert.deepEqual(
    world.client.requests.map(({ verb }) => verb),
    ['get', 'patch', 'get', 'patch', 'delete', 'get', 'delete'],
  )
  assert.equal(world.client.get(resources.pods, 'test', 'p'), undefined)
})

test('a pod made anew under its name on another node is not judged by the old node', async (t) => {
  const world = await evicting(t, [tainted, node('other')], [])
  const old = pod('p', { node: 'n', uid: '1', tolerations: [tolerating('a', 5)] })
  await world.setPod(old)
  await world.removePod(old)
  assert.deepEqual(world.events(), ['Cancelling deletion of Pod test/p'])
  world.informers.apply(resources.pods, old)
  world.informers.apply(resources.pods, pod('p', { node: 'other', uid: '2' }))
  await world.clock.advance(60_000)
  assert.deepEqual(world.deleted(), [])
})

test('a pod that is made anew before its deletion is looked at does not inherit its end', async (t) => {
  const old = pod('p', { node: 'n', uid: '1', tolerations: [tolerating('a', 300)] })
  const world = await evicting(t, [tainted, node('other')], [old])
  const successor = pod('p', { node: '', uid: '2', tolerations: [tolerating('a', 300)] })
  // In one turn, as after a gap of the watch, or when the worker is late.
  world.client.put(resources.pods, successor)
  world.informers.remove(resources.pods, old)
  world.informers.apply(resources.pods, successor)
  await world.clock.advance(0)
  assert.deepEqual(world.events(), ['Cancelling deletion of Pod test/p'])
  await world.setPod(pod('p', { node: 'other', uid: '2', tolerations: [tolerating('a', 300)] }))
  await world.clock.advance(600_000)
  assert.deepEqual(world.deleted(), [])
})

test('a pod that was replaced in a gap of the watch has the time of its own, on the same node too', async (t) => {
  const old = pod('p', { uid: '1', tolerations: [tolerating('a', 300)] })
  const world = await evicting(t, [tainted], [old])
  await world.clock.advance(200_000)
  await world.setPod(pod('p', { uid: '2', tolerations: [tolerating('a', 300)] }))
  await world.clock.advance(299_000)
  assert.deepEqual(world.deleted(), [])
  await world.clock.advance(1_000)
  assert.deepEqual(world.deleted(), ['p'])
})

test('when it is time and the live pod is another one of the name, that one stays', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a', 5)] })])
  world.client.put(resources.pods, pod('p', { node: 'other', uid: 'not-seen-yet' }))
  await world.clock.advance(60_000)
  assert.deepEqual(world.deleted(), [])
  assert.equal(world.client.requested('get').length, 1, 'one look, no further attempts')
})

test('an update that changes neither tolerations nor node, or no NoExecute taint, is not looked at', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a')] })])
  const { name } = { name: keyOf(pod('p')) }
  // As if the first look had been wrong: only a look would evict.
  world.informers.fill(pod('p'))
  world.informers.apply(resources.pods, pod('p'))
  const labelled = { ...tainted, metadata: { ...tainted.metadata, labels: { a: 'b' } } }
  await world.setNode(labelled)
  assert.deepEqual(world.deleted(), [], name)
  await world.setNode(node('n', { ...noExecute('a'), timeAdded: '2026-01-01T00:00:00Z' }))
  assert.deepEqual(world.deleted(), ['p'])
})

test('only pods that a taint may concern are items: of nodes that have one, and those that wait', async (t) => {
  const patient = [tolerating('a', 60)]
  const untouched = pod('p', { node: 'm' })
  const world = await evicting(
    t,
    [node('m'), tainted],
    [untouched, pod('q', { tolerations: patient })],
  )
  const items = (): number | undefined =>
    world.metrics.value('workqueue_adds_total', { name: 'noexec_taint_pod' })
  assert.equal(items(), 1, 'the pod on the tainted node')
  await world.setPod(pod('p', { node: 'm', tolerations: patient }))
  await world.removePod(untouched)
  assert.equal(items(), 1)
  await world.setNode(node('n'))
  await world.removePod(pod('q', { tolerations: patient }))
  assert.equal(items(), 1, 'its timer went with the taint')
})

test('nodes that wait are judged before a pod, also where it was told of first', async (t) => {
  const world = await evicting(t, [tainted], [])
  world.client.put(resources.pods, pod('p'))
  world.informers.apply(resources.pods, pod('p'))
  for (const name of ['m', 'n']) world.informers.apply(resources.nodes, node(name))
  await world.clock.advance(1_000)
  assert.deepEqual(world.deleted(), [])
  await world.setNode(tainted)
  assert.deepEqual(world.deleted(), ['p'])
})

test('what is left of a pod at its former node does not judge the one that has its name now', async (t) => {
  const former = pod('p', { tolerations: [tolerating('a', 100)] })
  const world = await evicting(t, [tainted, node('m')], [former])
  const present = pod('p', { node: 'm', uid: 'other' })
  world.client.put(resources.pods, present)
  world.informers.remove(resources.pods, former)
  world.informers.apply(resources.pods, present)
  await world.clock.advance(1_000)
  assert.deepEqual(world.deleted(), [])
})

test('with the gate TaintTolerationComparisonOperators numbers are compared', async (t) => {
  const sla = node('n', noExecute('sla', '90'))
  const above = { key: 'sla', operator: 'Gt', value: '50', effect: 'NoExecute' } as const
  for (const [isOn, deleted] of [
    [true, []],
    [false, ['p']],
  ] as const) {
    const gates = { TaintTolerationComparisonOperators: isOn }
    const world = await evicting(t, [sla], [pod('p', { tolerations: [above] })], gates)
    assert.deepEqual(world.deleted(), deleted)
  }
})

test('deletions are counted, and timed from when they were due', async (t) => {
  const world = await evicting(t, [tainted], [pod('p', { tolerations: [tolerating('a', 3)] })])
  let slow = true
  world.client.onRequest = ({ verb }) => {
    if (verb !== 'get' || !slow) return undefined
    slow = false
    throw statusError(500, 'InternalError', 'no')
  }
  await world.clock.advance(4_000)
  const name = 'taint_eviction_controller_pod_deletion'
  assert.equal(world.metrics.value(`${name}s_total`), 1)
  assert.deepEqual(world.metrics.observed(`${name}_duration_seconds`), [0.01])
  const family = world.metrics.families.get(`${name}_duration_seconds`)
  assert.ok(family !== undefined && 'buckets' in family)
  assert.deepEqual(family.buckets, [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = taintEvictionController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['taint-eviction-controller', [], 'node-controller', true],
  )
})

test('stopping cancels what waits and waits for what runs', async (t) => {
  const pods = [pod('now'), pod('later', { tolerations: [tolerating('a', 3)] })]
  const world = await evicting(t, [node('n')], pods)
  const slow = Promise.withResolvers<void>()
  world.client.onRequest = ({ verb }) => (verb === 'delete' ? slow.promise : undefined)
  await world.setNode(tainted)
  let hasStopped = false
  const stopping = world.stop().then(() => (hasStopped = true))
  await world.clock.advance(10_000)
  assert.equal(hasStopped, false)
  slow.resolve()
  await world.clock.advance(10_000)
  await stopping
  assert.deepEqual(world.deleted(), ['now'])
})

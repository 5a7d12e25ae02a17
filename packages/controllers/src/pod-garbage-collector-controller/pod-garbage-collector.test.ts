import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { startLoop, testContext } from '@gyropilot/runtime/testing'
import type { FakeRequest } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refusal } from '../workload-support/fixtures.ts'
import { OUT_OF_SERVICE_TAINT } from './candidates.ts'
import { node, pod } from './fixtures.ts'
import { podGarbageCollectorController } from './index.ts'

interface Given {
  readonly pods: readonly Pod[]
  /** In the cache and live. */
  readonly nodes?: readonly Node[]
  readonly liveOnly?: readonly Node[]
  readonly threshold?: number
  readonly onRequest?: (request: FakeRequest) => unknown
}

/** A collector at work on these pods. */
async function collecting(given: Given) {
  const { pods, nodes = [], liveOnly = [], threshold = 0 } = given
  const podGarbageCollector = { terminatedPodThreshold: threshold }
  const context = testContext({
    name: 'pod-garbage-collector-controller',
    configuration: { ...defaultControllersConfiguration, podGarbageCollector },
    cached: [...pods, ...nodes],
  })
  const { client, informers, clock, metrics } = context
  for (const each of pods) client.put(resources.pods, each)
  for (const each of [...nodes, ...liveOnly]) client.put(resources.nodes, each)
  client.onRequest = async (request) => {
    const answer = await given.onRequest?.(request)
    const gone = pods.find(({ metadata }) => request.path.endsWith(`/${metadata?.name}`))
    if (request.verb === 'delete') informers.remove(resources.pods, gone!)
    return answer
  }
  const controller = await podGarbageCollectorController.build(context)
  const { stop } = startLoop(controller, clock)
  await clock.advance(0)
  return {
    client,
    informers,
    clock,
    metrics,
    logged: () => context.logger.lines.filter(({ severity }) => severity === 'error').length,
    requests: (verb: string) => client.requested(verb).map(({ path }) => path.split('/').at(-1)),
    patched: () => client.requested('patch').map(({ path }) => path.split('/').at(-1)),
    saysDisrupted: () => JSON.stringify(client.requested('patch')).includes('DisruptionTarget'),
    attempts: (reason: string) =>
      metrics.value('pod_gc_collector_force_delete_pods_total', { namespace: 'ns', reason }),
    errors: (reason: string) =>
      metrics.value('pod_gc_collector_force_delete_pod_errors_total', { namespace: 'ns', reason }),
    stop,
  }
}

const a = pod('a', { phase: 'Failed', ageSeconds: 30, node: 'n' })
const b = pod('b', { phase: 'Succeeded', ageSeconds: 20, node: 'n' })
const c = pod('c', { phase: 'Failed', ageSeconds: 10, node: 'n' })
const terminated: readonly (readonly [string, readonly Pod[], number, readonly string[]])[] = [
  [
    'Given threshold 1 and Pods a Failed, b Succeeded, c Failed (oldest first), then a and b are deleted',
    [c, b, a],
    1,
    ['a', 'b'],
  ],
  [
    'Given threshold 0, then nothing is deleted in step 1; threshold 5 with 2 Pods: nothing',
    [a, b],
    0,
    [],
  ],
  ['threshold 5 with 2 Pods: nothing', [a, b], 5, []],
  [
    'Given threshold 1 and an Evicted Pod c newest, then c is deleted first',
    [a, pod('c', { phase: 'Failed', ageSeconds: 1, node: 'n', status: { reason: 'Evicted' } })],
    1,
    ['c'],
  ],
  [
    'Given Running Pod a and finished b, c with threshold 1, then only b (older) is deleted',
    [pod('a', { ageSeconds: 30, node: 'n' }), b, c],
    1,
    ['b'],
  ],
]
for (const [title, pods, threshold, deleted] of terminated) {
  test(title, async () => {
    const world = await collecting({ pods, threshold, nodes: [node('n')] })
    assert.deepEqual(world.requests('delete'), deleted)
    assert.equal(world.attempts('terminated') ?? 0, deleted.length)
    await world.stop()
  })
}

test('the threshold is cluster-wide, not per namespace', async () => {
  const pods = [a, pod('b', { namespace: 'other', phase: 'Failed', node: 'n' })]
  const world = await collecting({ pods, threshold: 1, nodes: [node('n')] })
  assert.deepEqual(world.requests('delete'), ['b'])
  await world.stop()
})

const onMissing = [
  pod('failed', { phase: 'Failed', node: 'gone' }),
  pod('running', { node: 'gone' }),
  pod('succeeded', { phase: 'Succeeded', node: 'gone' }),
]

test('Given node missing and 80s passed, then its Failed, Succeeded and Running Pods are deleted; only the Running one is patched to Failed', async () => {
  const world = await collecting({ pods: onMissing })
  await world.clock.advance(80_000)
  assert.deepEqual(world.requests('delete').toSorted(), ['failed', 'running', 'succeeded'])
  assert.deepEqual(world.patched(), ['running'])
  assert.equal(world.attempts('orphaned'), 3)
  assert.ok(world.saysDisrupted())
  // The scan that deleted them named the node once more.
  assert.equal(world.metrics.value('workqueue_adds_total', { name: 'orphaned_pods_nodes' }), 2)
  await world.stop()
})

test('Given 20s passed, then nothing yet', async () => {
  const world = await collecting({ pods: onMissing })
  await world.clock.advance(20_000)
  assert.deepEqual([world.requests('get'), world.requests('delete')], [[], []])
  // Each scan names the node again: its time must not start anew.
  await world.clock.advance(19_999)
  assert.deepEqual(world.requests('get'), [])
  await world.clock.advance(20_001)
  assert.deepEqual(world.requests('get'), ['gone'])
  await world.stop()
})

test('Given all nodes present in cache, or only by live GET, then no delete', async () => {
  const cached = await collecting({ pods: onMissing, nodes: [node('gone')] })
  await cached.clock.advance(200_000)
  assert.deepEqual([cached.requests('get'), cached.requests('delete')], [[], []])
  await cached.stop()
  const live = await collecting({ pods: onMissing, liveOnly: [node('gone')] })
  await live.clock.advance(130_000)
  assert.deepEqual([live.requests('get'), live.requests('delete')], [['gone', 'gone', 'gone'], []])
  await live.stop()
})

test('Given the node reappears live or in cache after quarantine, then no delete', async () => {
  const live = await collecting({ pods: onMissing })
  await live.clock.advance(39_000)
  live.client.put(resources.nodes, node('gone'))
  await live.clock.advance(2_000)
  assert.deepEqual([live.requests('get'), live.requests('delete')], [['gone'], []])
  await live.stop()
})

test('A node that returns to the cache during quarantine must save its Pods, also when the live GET would fail.', async () => {
  const onRequest = (): never => {
    throw refusal(500, 'InternalError')
  }
  const world = await collecting({ pods: onMissing, onRequest })
  await world.clock.advance(30_000)
  world.informers.fill(node('gone'))
  await world.clock.advance(60_000)
  assert.deepEqual([world.requests('get'), world.requests('delete')], [[], []])
  await world.stop()
})

test('Given the node vanishes from cache only in the scan after, then nothing in this scan', async () => {
  const world = await collecting({ pods: onMissing })
  await world.clock.advance(30_000)
  world.informers.fill(node('gone'))
  await world.clock.advance(15_000)
  world.informers.remove(resources.nodes, node('gone'))
  await world.clock.advance(45_000)
  assert.deepEqual(world.requests('delete'), [])
  await world.clock.advance(20_000)
  assert.equal(world.requests('delete').length, 3)
  await world.stop()
})

test('A failing API server in step 3 must not delete anything.', async () => {
  let isDown = true
  const onRequest = ({ verb }: FakeRequest): undefined => {
    if (isDown && verb === 'get') throw refusal(503, 'ServiceUnavailable')
    return undefined
  }
  const world = await collecting({ pods: onMissing, onRequest })
  await world.clock.advance(70_000)
  assert.deepEqual([world.requests('get'), world.requests('delete')], [['gone'], []])
  isDown = false
  await world.clock.advance(40_000)
  assert.equal(world.requests('delete').length, 3)
  await world.stop()
})

test('Given terminating Pods without node in any phase, then all deleted, Running one patched', async () => {
  const pods = ['Failed', 'Succeeded', 'Running'].map((phase) =>
    pod(phase, { phase, terminating: true }),
  )
  const world = await collecting({ pods: [...pods, pod('waiting', { phase: 'Pending' })] })
  assert.deepEqual(world.requests('delete').toSorted(), ['Failed', 'Running', 'Succeeded'])
  assert.deepEqual(world.patched(), ['Running'])
  assert.ok(!world.saysDisrupted())
  assert.equal(world.attempts('unscheduled'), 3)
  await world.stop()
})

test('Given terminating Pods on not-ready nodes without taint, then none; with the taint, then only the terminating ones', async () => {
  const pods = [pod('goes', { node: 'n', terminating: true }), pod('stays', { node: 'n' })]
  const plain = await collecting({ pods, nodes: [node('n', { ready: 'False' })] })
  assert.deepEqual(plain.requests('delete'), [])
  await plain.stop()
  const taints = [OUT_OF_SERVICE_TAINT]
  const tainted = await collecting({ pods, nodes: [node('n', { ready: 'False', taints })] })
  assert.deepEqual(tainted.requests('delete'), ['goes'])
  assert.deepEqual(tainted.patched(), ['goes'])
  assert.equal(tainted.attempts('out-of-service'), 1)
  await tainted.stop()
})

test('an error on one pod never stops the scan, is counted, and waits for the next scan', async () => {
  let isDown = true
  const onRequest = ({ path }: FakeRequest): undefined => {
    if (isDown && path.includes('first')) throw refusal(500, 'InternalError')
    return undefined
  }
  const pods = ['first', 'second', 'third'].map((name) => pod(name, { terminating: true }))
  const world = await collecting({ pods, onRequest })
  assert.deepEqual(world.requests('delete'), ['second', 'third'])
  assert.deepEqual([world.attempts('unscheduled'), world.errors('unscheduled')], [3, 1])
  assert.equal(world.logged(), 1)
  isDown = false
  await world.clock.advance(20_000)
  assert.deepEqual(world.requests('delete'), ['second', 'third', 'first'])
  await world.stop()
})

test('the 20 s run from the end of a scan', async () => {
  const pods = [pod('p', { phase: 'Failed', terminating: true })]
  let answer = (): void => {}
  const onRequest = (): Promise<undefined> =>
    new Promise((resolve) => (answer = () => resolve(undefined)))
  const world = await collecting({ pods, onRequest })
  await world.clock.advance(15_000)
  answer()
  await world.clock.advance(19_999)
  assert.equal(world.requests('delete').length, 1)
  world.informers.fill(...pods)
  await world.clock.advance(1)
  assert.equal(world.requests('delete').length, 2)
  answer()
  await world.stop()
})

test('what was started when it stops is waited for, nothing more is begun, and that is no error', async () => {
  const pods = [pod('p', { terminating: true }), pod('q', { terminating: true })]
  let answer = (): void => {}
  const onRequest = (): Promise<undefined> =>
    new Promise((resolve) => (answer = () => resolve(undefined)))
  const world = await collecting({ pods, onRequest })
  const stopped = world.stop()
  answer()
  await stopped
  assert.equal(world.client.requests.length, 1)
  assert.equal(world.errors('unscheduled') ?? 0, 0)
})

test('names and defaults are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = podGarbageCollectorController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['pod-garbage-collector-controller', ['podgc'], 'pod-garbage-collector', true],
  )
  assert.deepEqual(defaultControllersConfiguration.podGarbageCollector, {
    terminatedPodThreshold: 12_500,
  })
})

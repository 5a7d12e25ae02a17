/** PodGroups at work: a whole scheduler, its caches and what it asks of the server in the hands of the test. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod, PodGroup } from '@gyropilot/api'
import { POD_GROUPS, resources } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import type { Client } from '@gyropilot/client'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { InformerFactory } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { Scheduler } from '../scheduler.ts'

const GATES = { GenericWorkload: true, GangScheduling: true }

type Cached = Node | Pod | PodGroup

interface Handler {
  onAdd(object: Cached): void
  onUpdate(before: Cached, object: Cached): void
  onDelete(object: Cached): void
}

/** A pod of one cpu. */
function member(name: string, group: string | undefined, spec: Partial<Pod['spec']> = {}): Pod {
  const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' } } }]
  const schedulingGroup = group === undefined ? {} : { schedulingGroup: { podGroupName: group } }
  return pod({ name, spec: { containers, ...schedulingGroup, ...spec } })
}

function gang(name: string, minCount: number): PodGroup {
  const metadata = { name, namespace: 'default', uid: `uid-${name}` }
  const schedulingPolicy = minCount === 0 ? { basic: {} } : { gang: { minCount } }
  return { metadata, spec: { schedulingPolicy } }
}

/** Bindings that `refuses` are refused; all others are answered, and shown by the cache at once unless it `isLate`. */
function world({
  gates = GATES,
  refuses = () => false,
  isLate = false,
}: {
  readonly gates?: Readonly<Record<string, boolean>>
  readonly refuses?: (name: string) => boolean
  readonly isLate?: boolean
} = {}) {
  const clock = testClock()
  const handlers = new Map<string, Handler>()
  const caches = new Map<string, Map<string, Cached>>()
  const cacheOf = (resource: string): Map<string, Cached> => {
    const known = caches.get(resource) ?? new Map<string, Cached>()
    caches.set(resource, known)
    return known
  }
  const informers = {
    informer: ({ resource }: { resource: string }) => ({
      lister: {
        list: () => [...cacheOf(resource).values()],
        get: (_: string, name: string) => cacheOf(resource).get(name),
        byIndex: () => [],
      },
      addHandler: (handler: Handler) => handlers.set(resource, handler),
      addIndex: () => {},
    }),
  } as unknown as InformerFactory
  const show = ({ resource }: { resource: string }, object: Cached): void => {
    const name = object.metadata?.name ?? ''
    const before = cacheOf(resource).get(name)
    cacheOf(resource).set(name, object)
    if (before === undefined) handlers.get(resource)?.onAdd(object)
    else handlers.get(resource)?.onUpdate(before, object)
  }
  const remove = ({ resource }: { resource: string }, name: string): void => {
    const gone = cacheOf(resource).get(name)
    cacheOf(resource).delete(name)
    if (gone !== undefined) handlers.get(resource)?.onDelete(gone)
  }
  const bound: string[] = []
  const deleted: string[] = []
  const said: string[] = []
  const groupsSaid: string[] = []
  const client = {
    resource: ({ resource }: { resource: string }) => ({
      createSubresource: async (
        name: string,
        _: string,
        { target }: { target: { name: string } },
      ) => {
        if (refuses(name)) throw new Error('refused')
        bound.push(name)
        const known = cacheOf('pods').get(name) as Pod
        const spec = { ...known.spec!, nodeName: target.name }
        if (!isLate) show(resources.pods, { ...known, spec } as Pod)
      },
      patch: async (name: string, { value }: { value: Pod }) => {
        const list = resource === 'pods' ? said : groupsSaid
        for (const one of value.status?.conditions ?? [])
          list.push(`${name} ${one.type} ${one.status}`)
        const known = cacheOf(resource).get(name) as Pod | undefined
        if (known !== undefined && !isLate)
          show({ resource }, { ...known, status: { ...known.status, ...value.status } } as Pod)
        return {}
      },
      delete: async (name: string) => void deleted.push(name),
    }),
  } as unknown as Client
  const scheduler = new Scheduler({
    client,
    informers,
    clock,
    random: new SeededRandom('gangs'),
    logger: silentLogger,
    recorder: { record: () => {} } as never,
    featureGates: gates,
  })
  const stopped = new AbortController()
  scheduler.start(stopped.signal)
  const addNode = (name: string, cpu: string): void =>
    show(resources.nodes, node({ name, allocatable: { cpu, pods: '110' } }))
  return {
    clock,
    show,
    remove,
    addNode,
    bound,
    deleted,
    said,
    groupsSaid,
    stop: () => stopped.abort(),
  }
}

const SECOND = 1_000

test('pods of a gang wait for their group, and for enough of them; nothing is said of them until then', async () => {
  const { clock, show, addNode, bound, said, groupsSaid, stop } = world()
  addNode('n', '4')
  show(resources.pods, member('a', 'g'))
  await clock.advance(30 * SECOND)
  show(POD_GROUPS, gang('g', 2))
  await clock.advance(30 * SECOND)
  assert.deepEqual([bound, said, groupsSaid], [[], [], []])
  show(resources.pods, member('b', 'g'))
  await clock.advance(10)
  assert.deepEqual(bound, ['a', 'b'])
  assert.deepEqual(groupsSaid, ['g PodGroupScheduled True'])
  stop()
})

test('a group that is made after its pods has them tried at once, one of any policy', async () => {
  for (const minCount of [0, 2]) {
    const { clock, show, addNode, bound, stop } = world()
    addNode('n', '4')
    for (const name of ['a', 'b']) show(resources.pods, member(name, 'g'))
    await clock.advance(30 * SECOND)
    assert.deepEqual(bound, [])
    show(POD_GROUPS, gang('g', minCount))
    await clock.advance(10)
    assert.deepEqual(bound, ['a', 'b'])
    stop()
  }
})

test('a gang without room has no pod bound and holds no room; with a node more it is bound', async () => {
  const { clock, show, addNode, bound, said, groupsSaid, stop } = world()
  addNode('n', '2')
  show(POD_GROUPS, gang('g', 3))
  for (const name of ['a', 'b', 'c']) show(resources.pods, member(name, 'g'))
  await clock.advance(60 * SECOND)
  assert.deepEqual(bound, [])
  assert.deepEqual(said, ['a PodScheduled False', 'b PodScheduled False', 'c PodScheduled False'])
  assert.deepEqual(groupsSaid, ['g PodGroupScheduled False'])
  for (const name of ['x', 'y']) show(resources.pods, member(name, undefined))
  await clock.advance(SECOND)
  assert.deepEqual(bound, ['x', 'y'])
  addNode('m', '3')
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['a', 'b', 'c', 'x', 'y'])
  assert.deepEqual(groupsSaid, ['g PodGroupScheduled False', 'g PodGroupScheduled True'])
  stop()
})

test('a gang that finds no room is tried again by its back-off alone, and not without pause', async () => {
  const { clock, show, addNode, said, stop } = world({ isLate: true })
  addNode('n', '1')
  show(POD_GROUPS, gang('g', 2))
  for (const name of ['a', 'b']) show(resources.pods, member(name, 'g'))
  for (let seconds = 0; seconds < 60; seconds++) {
    addNode('other', seconds % 2 === 0 ? '0' : '0.5')
    await clock.advance(SECOND)
  }
  // The cache never shows what is said: each try says it again.
  assert.ok(said.length >= 8 && said.length <= 24, `${said.length} conditions in a minute`)
  stop()
})

test('two gangs for the room of one: one is bound as a whole, the other when that is gone', async () => {
  const { clock, show, remove, addNode, bound, stop } = world()
  addNode('n', '4')
  for (const name of ['g', 'h']) show(POD_GROUPS, gang(name, 3))
  for (const at of [0, 1, 2])
    for (const name of ['g', 'h']) show(resources.pods, member(`${name}${at}`, name))
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['g0', 'g1', 'g2'])
  for (const at of [0, 1, 2]) remove(resources.pods, `g${at}`)
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.slice(3).toSorted(), ['h0', 'h1', 'h2'])
  stop()
})

test('more pods of a gang that is scheduled are bound one by one, as there is room', async () => {
  const { clock, show, remove, addNode, bound, groupsSaid, stop } = world()
  addNode('n', '3')
  show(POD_GROUPS, gang('g', 2))
  for (const name of ['a', 'b', 'c', 'd']) show(resources.pods, member(name, 'g'))
  await clock.advance(SECOND)
  assert.equal(bound.length, 3)
  remove(resources.pods, bound[0]!)
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['a', 'b', 'c', 'd'])
  assert.deepEqual(groupsSaid, ['g PodGroupScheduled True'])
  stop()
})

test('a gang that lost pods waits again until enough of them are there', async () => {
  const { clock, show, remove, addNode, bound, stop } = world()
  addNode('n', '9')
  show(POD_GROUPS, gang('g', 3))
  for (const name of ['a', 'b', 'c']) show(resources.pods, member(name, 'g'))
  await clock.advance(SECOND)
  for (const name of ['a', 'b']) remove(resources.pods, name)
  show(resources.pods, member('d', 'g'))
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['a', 'b', 'c'])
  show(resources.pods, member('e', 'g'))
  await clock.advance(SECOND)
  assert.deepEqual(bound.slice(3).toSorted(), ['d', 'e'])
  stop()
})

test('of a gang count pods with a node, whoever bound them, those that have succeeded, and gated ones; not those that have failed, are leaving without a node, or are for another scheduler', async () => {
  const leaving = member('x', 'g')
  const rows: readonly (readonly [Pod, boolean])[] = [
    [member('x', 'g', { nodeName: 'n', schedulerName: 'other' }), true],
    [member('x', 'g', { schedulingGates: [{ name: 'x.io/y' }] }), false],
    [{ ...member('x', 'g', { nodeName: 'n' }), status: { phase: 'Succeeded' } }, true],
    [{ ...member('x', 'g', { nodeName: 'n' }), status: { phase: 'Failed' } }, false],
    [
      { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      false,
    ],
    [member('x', 'g', { schedulerName: 'other' }), false],
  ]
  for (const [other, isEnough] of rows) {
    const { clock, show, addNode, bound, said, stop } = world()
    addNode('n', '9')
    show(POD_GROUPS, gang('g', 2))
    show(resources.pods, member('a', 'g'))
    show(resources.pods, other)
    await clock.advance(30 * SECOND)
    assert.deepEqual(bound, isEnough ? ['a'] : [], JSON.stringify(other))
    // With a gated pod there are enough, and one of them cannot be placed.
    const isGated = other.spec?.schedulingGates !== undefined
    assert.deepEqual(said, isGated ? ['a PodScheduled False'] : [])
    stop()
  }
})

test('a gate that opens, and a pod bound by somebody else, let the gang be tried at once', async () => {
  const { clock, show, addNode, bound, stop } = world()
  addNode('n', '9')
  show(POD_GROUPS, gang('g', 3))
  for (const name of ['a', 'b']) show(resources.pods, member(name, 'g'))
  show(resources.pods, member('c', 'g', { schedulingGates: [{ name: 'x.io/y' }] }))
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound, [])
  show(resources.pods, member('c', 'g'))
  await clock.advance(10)
  assert.deepEqual(bound, ['a', 'b', 'c'])
  stop()
  const other = world()
  other.addNode('n', '9')
  other.show(POD_GROUPS, gang('g', 2))
  other.show(resources.pods, member('a', 'g'))
  await other.clock.advance(30 * SECOND)
  other.show(resources.pods, member('b', 'g', { nodeName: 'n' }))
  await other.clock.advance(10)
  assert.deepEqual(other.bound, ['a'])
  other.stop()
})

test('a scheduler that starts goes on with a gang that is bound by half: all of the rest, or none', async () => {
  const { clock, show, addNode, bound, groupsSaid, stop } = world()
  addNode('n', '2')
  show(POD_GROUPS, gang('g', 3))
  show(resources.pods, member('a', 'g', { nodeName: 'n' }))
  for (const name of ['b', 'c']) show(resources.pods, member(name, 'g'))
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound, [])
  addNode('m', '1')
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['b', 'c'])
  assert.deepEqual(groupsSaid, ['g PodGroupScheduled False', 'g PodGroupScheduled True'])
  stop()
})

test('a pod whose binding fails is bound later: the others of its gang have their nodes', async () => {
  let refusals = 2
  const { clock, show, addNode, bound, stop } = world({
    refuses: (name) => name === 'b' && refusals-- > 0,
  })
  addNode('n', '9')
  show(POD_GROUPS, gang('g', 3))
  for (const name of ['a', 'b', 'c']) show(resources.pods, member(name, 'g'))
  await clock.advance(10)
  assert.deepEqual(bound, ['a', 'c'])
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound, ['a', 'c', 'b'])
  stop()
})

test('a cache that shows bindings late lets no pod be tried twice, nor one gang have the room of another', async () => {
  const { clock, show, addNode, bound, stop } = world({ isLate: true })
  addNode('n', '3')
  for (const name of ['g', 'h']) show(POD_GROUPS, gang(name, 2))
  for (const name of ['g', 'h'])
    for (const at of [0, 1]) show(resources.pods, member(`${name}${at}`, name))
  await clock.advance(60 * SECOND)
  assert.deepEqual(bound.toSorted(), ['g0', 'g1'])
  stop()
})

test('pods of a group that is gone wait for the next one of its name, and do as that says', async () => {
  const { clock, show, remove, addNode, bound, said, stop } = world()
  addNode('n', '1')
  show(POD_GROUPS, gang('g', 2))
  for (const name of ['a', 'b']) show(resources.pods, member(name, 'g'))
  await clock.advance(SECOND)
  remove(POD_GROUPS, 'g')
  said.length = 0
  addNode('m', '2')
  await clock.advance(30 * SECOND)
  assert.deepEqual([bound, said], [[], []])
  show(POD_GROUPS, { ...gang('g', 3), metadata: { ...gang('g', 3).metadata, uid: 'next' } })
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound, [])
  show(resources.pods, member('c', 'g'))
  await clock.advance(30 * SECOND)
  assert.deepEqual(bound.toSorted(), ['a', 'b', 'c'])
  stop()
})

test('a namesake that took the place of a group says what counts', async () => {
  const { clock, show, addNode, bound, stop } = world()
  addNode('n', '9')
  show(POD_GROUPS, gang('g', 3))
  for (const name of ['a', 'b']) show(resources.pods, member(name, 'g'))
  await clock.advance(30 * SECOND)
  show(POD_GROUPS, { ...gang('g', 2), metadata: { ...gang('g', 2).metadata, uid: 'next' } })
  await clock.advance(10)
  assert.deepEqual(bound, ['a', 'b'])
  stop()
})

test('less important pods make room for a gang that fits then, and for no other', async () => {
  for (const minCount of [2, 3]) {
    const { clock, show, remove, addNode, bound, deleted, stop } = world()
    addNode('n', '2')
    for (const name of ['low0', 'low1'])
      show(resources.pods, member(name, undefined, { nodeName: 'n' }))
    show(POD_GROUPS, gang('g', minCount))
    for (const name of ['a', 'b', 'c'].slice(0, minCount))
      show(resources.pods, member(name, 'g', { priority: 1_000 }))
    await clock.advance(30 * SECOND)
    assert.deepEqual(deleted.toSorted(), minCount === 2 ? ['low0', 'low1'] : [])
    assert.deepEqual(bound, [])
    for (const name of deleted) remove(resources.pods, name)
    await clock.advance(30 * SECOND)
    assert.deepEqual(bound.toSorted(), minCount === 2 ? ['a', 'b'] : [])
    stop()
  }
})

test('pods of a group that fit without the room being made are bound meanwhile, where they are enough', async () => {
  for (const [minCount, isEnough] of [
    [1, true],
    [2, false],
  ] as const) {
    const { clock, show, addNode, bound, deleted, stop } = world()
    addNode('n', '2')
    const low = member('low', undefined, { nodeName: 'n' })
    show(resources.pods, low)
    for (const name of ['a', 'b']) show(resources.pods, member(name, 'g', { priority: 1_000 }))
    show(POD_GROUPS, gang('g', minCount))
    await clock.advance(10)
    assert.deepEqual([bound, deleted], [[], ['low']])
    const conditions = [
      { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' },
    ]
    const metadata = { ...low.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    show(resources.pods, { ...low, metadata, status: { conditions } })
    await clock.advance(30 * SECOND)
    assert.equal(bound.length, isEnough ? 1 : 0)
    stop()
  }
})

test('without GangScheduling pods wait for nobody, and their group says when it is scheduled', async () => {
  const { clock, show, addNode, bound, groupsSaid, stop } = world({
    gates: { GenericWorkload: true },
  })
  addNode('n', '9')
  show(resources.pods, member('a', 'g'))
  await clock.advance(10)
  assert.deepEqual(bound, ['a'])
  show(POD_GROUPS, gang('g', 3))
  show(resources.pods, member('b', 'g'))
  await clock.advance(10)
  assert.deepEqual([bound, groupsSaid], [['a', 'b'], ['g PodGroupScheduled True']])
  stop()
})

test('with the gates off groups are of no interest', async () => {
  const { clock, show, addNode, bound, groupsSaid, stop } = world({ gates: {} })
  addNode('n', '9')
  show(POD_GROUPS, gang('g', 3))
  show(resources.pods, member('a', 'g'))
  await clock.advance(10)
  assert.deepEqual([bound, groupsSaid], [['a'], []])
  stop()
})

test('a gang that lost a pod while room was being made for it holds none of that room', async () => {
  const { clock, show, remove, addNode, bound, deleted, stop } = world()
  addNode('n', '2')
  for (const name of ['low0', 'low1'])
    show(resources.pods, member(name, undefined, { nodeName: 'n' }))
  show(POD_GROUPS, gang('g', 2))
  for (const name of ['a', 'b']) show(resources.pods, member(name, 'g', { priority: 1_000 }))
  await clock.advance(10)
  assert.equal(deleted.length, 2)
  remove(resources.pods, 'a')
  for (const name of deleted) remove(resources.pods, name)
  for (const name of ['x', 'y']) show(resources.pods, member(name, undefined))
  await clock.advance(SECOND)
  assert.deepEqual(bound, ['x', 'y'])
  stop()
})

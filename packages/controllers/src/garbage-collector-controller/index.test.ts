import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import type { TransportRequest } from '@gyropilot/client'
import { WorkClock, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { garbageCollectorController } from './index.ts'
import { liveWorld } from './testing/live-world.ts'
import type { LiveWorld } from './testing/live-world.ts'
import {
  BLOCKING,
  absentRef,
  configMap,
  existing,
  refToMap,
  start,
  started,
} from './testing/owners.ts'

test('names, identity, client rate and queues are those of the page', async (t) => {
  const { name, aliases, serviceAccount, enabledByDefault, clientRate } = garbageCollectorController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, clientRate],
    [
      'garbage-collector-controller',
      ['garbagecollector'],
      'generic-garbage-collector',
      true,
      { qpsFactor: 2, burstFactor: 1 },
    ],
  )
  const world = await started(t)
  const owner = await world.create(resources.configmaps, configMap('owner', [absentRef('gone')]))
  await world.create(resources.configmaps, configMap('stays', [refToMap(owner)]))
  await world.delete(resources.configmaps, owner, 'Orphan')
  await world.clock.advance(1_000)
  for (const queue of ['graph_changes', 'attempt_to_delete', 'attempt_to_orphan']) {
    const adds = world.metrics.value('workqueue_adds_total', { name: `garbage_collector_${queue}` })
    assert.ok(Number(adds) > 0, queue)
  }
})

/** Of deletions, and of orphanings. */
const retries = ({ metrics }: LiveWorld): readonly (number | undefined)[] =>
  ['attempt_to_delete', 'attempt_to_orphan'].map((queue) =>
    metrics.value('workqueue_retries_total', { name: `garbage_collector_${queue}` }),
  )

test('what is done is not looked at again: released, orphaned, absent, and what nobody can find', async (t) => {
  const world = await started(t)
  const { configmaps: maps, clusterroles: roles } = resources
  const role = { metadata: { name: 'r', ownerReferences: [absentRef('in some namespace')] } }
  await world.create(roles, role)
  const left = await world.create(maps, configMap('left', [absentRef('gone')]))
  const owners = []
  for (const policy of ['Foreground', 'Orphan'] as const) {
    const owner = await world.create(maps, configMap(policy.toLowerCase()))
    owners.push(owner)
    await world.create(maps, configMap(`of-${policy.toLowerCase()}`, [refToMap(owner, BLOCKING)]))
    await world.clock.advance(100)
    await world.delete(maps, owner, policy)
  }
  await world.clock.advance(60_000)
  assert.deepEqual(await existing(world, maps, [...owners, left]), [])
  assert.ok(await world.find(roles, role))
  assert.deepEqual(retries(world), [0, 0])
})

test('a finalizer that the server does not let go is taken away a little later', async (t) => {
  for (const policy of ['Foreground', 'Orphan'] as const) {
    let refusals = 1
    const before = ({ method, path }: TransportRequest): void => {
      if (method !== 'PATCH' || !path.includes('/owner') || refusals-- <= 0) return
      throw new TransportError('ECONNRESET', 'the connection is gone')
    }
    const world = await started(t, true, { before })
    const owner = await world.create(resources.configmaps, configMap('owner'))
    await world.clock.advance(100)
    await world.delete(resources.configmaps, owner, policy)
    await world.clock.advance(1_000)
    assert.equal(await world.find(resources.configmaps, owner), undefined, policy)
    assert.deepEqual(retries(world), policy === 'Orphan' ? [0, 1] : [1, 0])
  }
})

test('--enable-garbage-collector false: controller not started', () => {
  const configuration = (enableGarbageCollector: boolean) => ({
    ...defaultControllersConfiguration,
    garbageCollector: { enableGarbageCollector, concurrentGcSyncs: 1 },
  })
  const build = (on: boolean) =>
    garbageCollectorController.build(testContext({ configuration: configuration(on) }))
  assert.equal(build(false), undefined)
  assert.notEqual(build(true), undefined)
  assert.deepEqual(defaultControllersConfiguration.garbageCollector, {
    enableGarbageCollector: true,
    concurrentGcSyncs: 20,
  })
})

test('the graph is shown as Graphviz text, without nodes that nobody refers to', async (t) => {
  const world = await started(t)
  const owner = await world.create(resources.configmaps, configMap('owner'))
  const child = await world.create(resources.configmaps, configMap('child', [refToMap(owner)]))
  await world.create(resources.configmaps, configMap('alone'))
  await world.clock.advance(100)
  const [ownerUid, childUid] = [owner.metadata!.uid!, child.metadata!.uid!]
  const all = world.collector().graphviz()
  assert.match(all, /^strict digraph full \{\n/)
  assert.ok(all.includes(`"${childUid}" -> "${ownerUid}";`))
  assert.ok(!all.includes('alone'))
  assert.ok(world.collector().graphviz([ownerUid]).includes('/child\\n'))
  assert.equal(world.collector().graphviz(['nobody']), 'strict digraph full {\n}\n')
})

/** What is worked between two looks at the clock, and with it how much of that is one turn: about 35 ms here, twice that without turns. */
const LOOK_MS = 0.02

test('a thousand changes at once are taken in over many turns', async (t) => {
  let clock: WorkClock | undefined
  const world = await liveWorld({ clockOf: (inner) => (clock = new WorkClock(inner, LOOK_MS)) })
  t.after(() => world.stop())
  for (let number = 0; number < 1_000; number++) {
    const metadata = { name: `map-${number}`, namespace: 'default' }
    await world.client.resource(resources.configmaps, 'default').create({ metadata })
  }
  await start(world)
  assert.equal([...world.collector().graph.nodes()].length >= 1_000, true)
  assert.ok(clock!.longestTurnMs <= 50, `${clock!.longestTurnMs} ms`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { WorkClock, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { garbageCollectorController } from './index.ts'
import { liveWorld } from './testing/live-world.ts'
import { absentRef, configMap, refToMap, start, started } from './testing/owners.ts'

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

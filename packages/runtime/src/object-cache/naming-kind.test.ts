import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, Event } from '@gyropilot/api'
import { buildController } from '../builder/controller-builder.ts'
import { configMap, managing, website, websites } from '../builder/fixtures.ts'
import { FakeServer } from '../testing/index.ts'
import { namingKinds } from './naming-kind.ts'

/** As servers list them. */
const unnamed = (name: string): ConfigMap => ({
  metadata: { namespace: 'default', name, uid: 'u' },
})

test('items of a list, which servers send without their kind, have it; the items that came are not touched', async () => {
  const server = new FakeServer()
  const items = [unnamed('a'), configMap('b')]
  server.onRequest = ({ verb }) => (verb === 'list' ? { metadata: {}, items } : undefined)
  const configMaps = namingKinds(server).resource(resources.configmaps, 'default')
  const pages = []
  for await (const page of configMaps.pages()) pages.push(page)
  for (const list of [await configMaps.list(), ...pages]) {
    const names = list.items.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
    assert.deepEqual(names, ['v1 ConfigMap', 'v1 ConfigMap'])
    assert.equal(list.items[1], items[1])
  }
  assert.equal(items[0]!.kind, undefined)
})

test('an event about an item of a live list is about its kind', async () => {
  for (const uncached of [false, true]) {
    const world = managing(uncached ? { reads: { uncached: [resources.configmaps] } } : {})
    world.server.onRequest = ({ verb, path }) =>
      verb === 'list' && path.endsWith('configmaps')
        ? { metadata: {}, items: [unnamed('a')] }
        : undefined
    buildController(world.manager)
      .for(websites)
      .complete(async (_, { client, live, events }) => {
        const reader = uncached ? client : live
        const { items } = await reader.resource(resources.configmaps, 'default').list()
        for (const regarding of items)
          events.record({ regarding, type: 'Normal', reason: 'Seen', message: 'seen' })
      })
    world.server.put(websites, website('a'))
    await world.start()
    await world.clock.advance(1_000)
    const [event] = world.server.list(resources.events) as Event[]
    assert.equal(event?.involvedObject.kind, 'ConfigMap')
    await world.stop()
  }
})

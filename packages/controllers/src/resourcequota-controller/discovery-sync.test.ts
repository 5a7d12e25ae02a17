import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceType } from '@gyropilot/api'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { Monitors } from '../monitor-support/monitors.ts'
import { DiscoverySync } from './discovery-sync.ts'
import { PauseGate } from './pause-gate.ts'

const VERBS = ['create', 'delete', 'get', 'list', 'watch']
const serving = (resource: string, kind: string, verbs = VERBS, scope = 'Namespaced') => ({
  resource,
  responseKind: { kind },
  scope,
  verbs,
})
const PODS = serving('pods', 'Pod')
const WIDGETS = serving('widgets', 'Widget')
const groups = (...items: object[]) => ({ kind: 'APIGroupDiscoveryList', items })
const group = (name: string, ...versions: object[]) => ({ metadata: { name }, versions })
const current = (version: string, ...list: object[]) => ({ version, resources: list })
const stale = (version: string) => ({ version, freshness: 'Stale', resources: [] })
const example = (version: object) => groups(group('example.com', version))

/** The discovery loop against documents that a test may change, and monitors that may never fill. */
function syncing(documents: Record<string, unknown>) {
  const context = testContext({ configuration: undefined })
  const { client, clock, logger } = context
  const raw = async ({ path }: { path: string }): Promise<unknown> => {
    const document = documents[path]
    if (document instanceof Error) throw document
    return document
  }
  Object.assign(client, { raw })
  const asked = new Map<string, ResourceType>()
  const broken = new Set<string>()
  const unsynced = new Set<string>()
  const monitors = new Monitors({
    informer(type: ResourceType) {
      if (broken.has(type.resource)) throw new Error('no informers today')
      const informer = context.informers.informer(type)
      informer.lastSyncResourceVersion = () => '7'
      informer.addHandler = () => {
        asked.set(type.resource, type)
        const isSynced = (): boolean => !unsynced.has(type.resource)
        return {
          hasSynced: isSynced,
          whenSynced: async (signal) =>
            isSynced() ||
            new Promise((resolve) => signal.addEventListener('abort', () => resolve(false))),
          remove() {},
        }
      }
      return informer
    },
    start() {},
    handler: () => ({}),
  })
  const gate = new PauseGate()
  const sync = new DiscoverySync({ client, clock, logger, monitors, gate })
  return {
    documents,
    broken,
    unsynced,
    gate,
    clock,
    logger,
    begin: () => startLoop(sync, clock),
    monitored() {
      const known = [...asked.values()].filter((type) => monitors.seenVersion(type) !== '')
      return known
        .map(({ resource }) => resource)
        .toSorted()
        .join(' ')
    },
  }
}

const CORE = groups(group('', current('v1', PODS)))

describe('Given discovery errors, unsynced resources, partial group failures, then monitors are kept, added, removed as listed', () => {
  const begun = async () => {
    const world = syncing({ '/api': CORE, '/apis': example(current('v1', WIDGETS)) })
    const { stop: end } = world.begin()
    await world.clock.advance(0)
    assert.equal(world.monitored(), 'pods widgets')
    return { ...world, end }
  }

  test('added and removed, every 30s', async () => {
    const { documents, clock, monitored, end } = await begun()
    documents['/apis'] = example(current('v1', serving('gears', 'Gear')))
    await clock.advance(29_999)
    assert.equal(monitored(), 'pods widgets')
    await clock.advance(1)
    assert.equal(monitored(), 'gears pods')
    await end()
  })

  test('known resources of failed groups are kept, synced or not; new ones of others added', async () => {
    const { documents, unsynced, clock, monitored, end } = await begun()
    unsynced.add('widgets')
    documents['/apis'] = groups(
      group('example.com', stale('v1')),
      group('apps', current('v1', serving('deployments', 'Deployment'))),
    )
    await clock.advance(30_000)
    assert.equal(monitored(), 'deployments pods widgets')
    await end()
  })

  test('any other error, or nothing returned: nothing changes', async () => {
    const { documents, clock, monitored, end } = await begun()
    documents['/api'] = statusError(503, 'ServiceUnavailable')
    await clock.advance(30_000)
    documents['/api'] = groups()
    documents['/apis'] = groups()
    await clock.advance(30_000)
    assert.equal(monitored(), 'pods widgets')
    await end()
  })

  test('monitors that cannot be added: retried next time, the others are there', async () => {
    const { documents, broken, clock, monitored, end } = await begun()
    broken.add('gears')
    documents['/apis'] = example(
      current('v1', serving('gears', 'Gear'), serving('bolts', 'Bolt'), WIDGETS),
    )
    await clock.advance(30_000)
    assert.equal(monitored(), 'bolts pods widgets')
    broken.clear()
    await clock.advance(30_000)
    assert.equal(monitored(), 'bolts gears pods widgets')
    await end()
  })

  test('workers stand still until all monitors have synced, for 30s at most, once', async () => {
    const { documents, unsynced, gate, clock, logger, end } = await begun()
    unsynced.add('gears')
    documents['/apis'] = example(current('v1', serving('gears', 'Gear'), WIDGETS))
    await clock.advance(30_000)
    let passed = false
    void gate.pass(async () => void (passed = true))
    await clock.advance(29_999)
    assert.equal(passed, false)
    await clock.advance(1)
    assert.equal(passed, true)
    assert.match(JSON.stringify(logger), /Some monitors have not synced/)
    passed = false
    await clock.advance(30_000)
    await gate.pass(async () => void (passed = true))
    assert.equal(passed, true, 'accepted: not waited for again')
    await end()
  })
})

test('Quotable = namespaced preferred resources with verbs create, list, watch, delete, except those that nobody counts', async () => {
  const { begin, clock, monitored } = syncing({
    '/api': groups(
      group(
        '',
        current(
          'v1',
          PODS,
          serving('events', 'Event'),
          serving('bindings', 'Binding'),
          serving('nodes', 'Node', VERBS, 'Cluster'),
          serving('reports', 'Report', ['delete', 'list', 'watch']),
          serving('notices', 'Notice', ['create', 'delete', 'list']),
          serving('records', 'Record', ['create', 'list', 'watch']),
          serving('marks', 'Mark', ['create', 'delete', 'watch']),
        ),
      ),
    ),
    '/apis': groups(group('events.k8s.io', current('v1', serving('events', 'Event')))),
  })
  const { stop } = begin()
  await clock.advance(0)
  assert.equal(monitored(), 'pods')
  await stop()
})

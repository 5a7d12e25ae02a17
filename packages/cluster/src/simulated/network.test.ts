/** Each fault of the network, at a place of our choice, as a client sees it. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { ConfigMap, WatchEvent } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError, TransportError } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { noFaults } from '../faults/injector.ts'
import type { EventFault, RequestFault } from '../faults/injector.ts'
import type { Incarnation } from './process.ts'
import { createCluster } from './simulated-cluster.ts'

const map = (name: string): ConfigMap => ({ metadata: { name, namespace: 'default' } })

/** A cluster without controllers and one process whose requests and events are disturbed. */
async function disturbed(fault: { request?: RequestFault; event?: EventFault }) {
  const cluster = await createCluster({ seed: 'network', nodes: 0, managers: 0 })
  let life: Incarnation | undefined
  cluster.run('probe', (own) => {
    life = own
    return new Promise(() => {})
  })
  const client = cluster.clientOf(life!, 'probe')
  const maps = client.resource(resources.configmaps, 'default')
  const arm = (): void => {
    let shots = 1
    cluster.injector = {
      ...noFaults,
      onRequest: ({ verb }) =>
        fault.request && verb !== 'watch' && shots-- > 0 ? fault.request : undefined,
      onEvent: ({ key }) =>
        fault.event && key === 'default/b' && shots-- > 0 ? fault.event : undefined,
    }
  }
  const stored = (name: string) => cluster.objects.find(resources.configmaps, 'default', name)
  return { cluster, client, maps, arm, stored }
}

async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof StatusError) return String(error.code)
    return error instanceof TransportError ? error.code : String(error)
  }
}

const CASES: readonly (readonly [string, RequestFault, string, boolean])[] = [
  ['a reset before', { kind: 'reset', applied: false }, 'ECONNRESET', false],
  ['a reset after', { kind: 'reset', applied: true }, 'ECONNRESET', true],
  ['a timeout before', { kind: 'timeout', applied: false, afterMs: 500 }, 'ETIMEDOUT', false],
  ['a timeout after', { kind: 'timeout', applied: true, afterMs: 500 }, 'ETIMEDOUT', true],
  ['500', { kind: 'refusal', code: 500 }, '500', false],
  ['503', { kind: 'refusal', code: 503 }, '503', false],
  ['a delay', { kind: 'delay', byMs: 500 }, 'ok', true],
  ['429 is sent again by the client', { kind: 'refusal', code: 429 }, 'ok', true],
]

for (const [title, request, wanted, isStored] of CASES) {
  test(`a write meets ${title}`, async () => {
    const { cluster, maps, arm, stored } = await disturbed({ request })
    arm()
    const result = await cluster.during(() => outcome(maps.create(map('a'))))
    assert.equal(result, wanted)
    assert.equal(stored('a') !== undefined, isStored)
  })
}

for (const when of ['before', 'after'] as const) {
  test(`a crash ${when} a write: the write is ${when === 'before' ? 'not ' : ''}done, and no answer ever comes`, async () => {
    const { cluster, maps, arm, stored } = await disturbed({ request: { kind: 'crash', when } })
    arm()
    let answered = false
    void outcome(maps.create(map('a'))).then(() => (answered = true))
    await cluster.advance(60_000)
    assert.equal(answered, false)
    assert.equal(stored('a') !== undefined, when === 'after')
    assert.equal(cluster.process('probe').lives, 2)
  })
}

test('a stale read answers what was, an unarmed one what is', async () => {
  const { cluster, maps, arm } = await disturbed({ request: { kind: 'stale', behind: 1 } })
  await cluster.client.resource(resources.configmaps, 'default').create(map('a'))
  const list = () => cluster.during(async () => (await maps.list()).items.length)
  const get = () => cluster.during(() => outcome(maps.get('a')))
  assert.deepEqual([await list(), await get()], [1, 'ok'])
  arm()
  assert.deepEqual([await list(), await list()], [0, 1])
  arm()
  assert.deepEqual([await get(), await get()], ['404', 'ok'])
})

test('a stale answer is never older than what the caller has seen', async () => {
  const { cluster, maps, arm } = await disturbed({ request: { kind: 'stale', behind: 2 } })
  const own = cluster.client.resource(resources.configmaps, 'default')
  await own.create(map('a'))
  const seen = (await own.create(map('b'))).metadata?.resourceVersion ?? ''
  arm()
  const listed = await cluster.during(() =>
    maps.list({ resourceVersion: seen, resourceVersionMatch: 'NotOlderThan' }),
  )
  assert.equal(listed.items.length, 2)
})

async function watched(client: Client): Promise<string[]> {
  const seen: string[] = []
  const events = await client.resource(resources.configmaps, 'default').watch()
  const follow = async (): Promise<void> => {
    for await (const event of events as AsyncIterable<WatchEvent<ConfigMap>>) {
      seen.push(
        event.type === 'ERROR'
          ? `ERROR ${event.object.code}`
          : `${event.type} ${event.object.metadata?.name}`,
      )
    }
    seen.push('end')
  }
  void follow().catch((error: unknown) =>
    seen.push(error instanceof TransportError ? error.code : String(error)),
  )
  return seen
}

const EVENT_CASES: readonly (readonly [string, EventFault | undefined, readonly string[]])[] = [
  ['nothing', undefined, ['ADDED a', 'ADDED b', 'ADDED c']],
  ['a gap', { kind: 'gap', forMs: 1_000 }, ['ADDED a', 'ERROR 410', 'end']],
  ['a repetition', { kind: 'repeat' }, ['ADDED a', 'ERROR 410', 'end']],
  ['a break', { kind: 'break' }, ['ADDED a', 'end']],
  ['a delay', { kind: 'delay', byMs: 60_000 }, ['ADDED a']],
]

for (const [title, event, wanted] of EVENT_CASES) {
  test(`a watch meets ${title}`, async () => {
    const { cluster, client, arm } = await disturbed(event === undefined ? {} : { event })
    const seen = await cluster.during(() => watched(client))
    arm()
    for (const name of ['a', 'b', 'c'])
      await cluster.client.resource(resources.configmaps, 'default').create(map(name))
    await cluster.advance(1_000)
    assert.deepEqual(seen, wanted)
    await cluster.advance(60_000)
    if (event?.kind === 'delay') assert.deepEqual(seen, ['ADDED a', 'ADDED b', 'ADDED c'])
  })
}

test('a partition silences a watch and then breaks it, and requests wait', async () => {
  const { cluster, client, maps } = await disturbed({})
  const seen = await cluster.during(() => watched(client))
  cluster.network.partition('probe', undefined, 5_000)
  await cluster.client.resource(resources.configmaps, 'default').create(map('a'))
  const result = outcome(maps.get('a'))
  await cluster.advance(4_000)
  assert.deepEqual(seen, [])
  await cluster.advance(2_000)
  assert.deepEqual(seen, ['ECONNRESET'])
  assert.equal(await cluster.during(() => result), 'ok')
})

test('while the server is down no connection is made, and every watch breaks', async () => {
  const { cluster, client, maps } = await disturbed({})
  const seen = await cluster.during(() => watched(client))
  await cluster.restartServer(3_000)
  assert.equal(await cluster.during(() => outcome(maps.create(map('a')))), 'ECONNREFUSED')
  await cluster.advance(3_000)
  assert.deepEqual(seen, ['ECONNRESET'])
  assert.equal(await cluster.during(() => outcome(maps.create(map('a')))), 'ok')
})

test('a life and a signal outlive many requests and watches, and keep nothing of them', async () => {
  const { cluster, client } = await disturbed({})
  const life = cluster.process('probe').life!
  const onGone = life.onGone.bind(life)
  const kept = new Set<() => void>()
  life.onGone = (callback) => {
    kept.add(callback)
    const takeBack = onGone(callback)
    return () => {
      kept.delete(callback)
      takeBack()
    }
  }
  const giveUp = new AbortController()
  const { signal } = giveUp
  const requests = client.resource(resources.configmaps, 'default')
  await cluster.during(async () => {
    await requests.list({ signal })
    const events = await requests.watch({ signal, timeoutSeconds: 5 })
    for await (const { type } of events) assert.equal(type, 'ADDED')
    await requests.create(map('a'), { signal })
  })
  assert.equal(kept.size, 0)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  assert.equal(cluster.network.linksOf('probe').size, 0)
})

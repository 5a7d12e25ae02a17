import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, Pod } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import {
  SharedInformerFactory,
  createExpectations,
  remove,
  runKeyedController,
  write,
  writeAll,
  create,
} from './index.ts'
import type { KeyedController, Reconcile } from './index.ts'
import { DeletedFinalStateUnknown, keyOfDeleted } from './informer.ts'
import { keysOf, testContext } from './testing/index.ts'

const NAMESPACE = 'default'
interface Observed {
  readonly key: string
  readonly wanted: number
  readonly pods: readonly Pod[]
  readonly waiting: boolean
}

/** Keeps as many pods as a config map says, the way a replica set does: with expectations and a slow start. */
function podKeeper() {
  const base = testContext({ configuration: undefined })
  const { client, clock, random, logger } = base
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const context = { ...base, informers, metadataInformers: informers }
  const expectations = createExpectations(clock)
  const maps = informers.informer(resources.configmaps)
  const pods = informers.informer(resources.pods)
  pods.addIndex('owner', (pod) => [pod.metadata?.labels?.owner ?? ''])
  const ownerOf = (pod: Pod): string => `${NAMESPACE}/${pod.metadata!.labels!.owner}`
  const logic: KeyedController<Observed> = {
    queueName: 'podkeeper',
    workers: 3,
    expectations,
    watches: [
      {
        type: resources.configmaps,
        onAdd: (map: ConfigMap) => [keyOf(map)],
        onUpdate: (_: ConfigMap, map: ConfigMap) => [keyOf(map)],
        onDelete: (map) => [keyOfDeleted(map)],
      },
      {
        type: resources.pods,
        onAdd(pod: Pod) {
          expectations.creationObserved(ownerOf(pod))
          return [ownerOf(pod)]
        },
        onDelete(pod) {
          if (pod instanceof DeletedFinalStateUnknown) return []
          expectations.deletionObserved(ownerOf(pod), keyOf(pod))
          return [ownerOf(pod)]
        },
      },
    ],
    observe(key) {
      const map = maps.lister.getByKey(key)
      if (map === undefined) return undefined
      const owned = pods.lister.byIndex('owner', map.metadata!.name!)
      return {
        key,
        wanted: Number(map.data!.count),
        pods: owned,
        waiting: !expectations.satisfied(key),
      }
    },
    *reconcile({ key, wanted, pods: owned, waiting }): Reconcile {
      if (waiting) return
      const owner = key.split('/')[1]!
      if (owned.length < wanted) {
        const missing = Array.from({ length: wanted - owned.length }, () =>
          create(resources.pods, {
            metadata: { namespace: NAMESPACE, generateName: `${owner}-`, labels: { owner } },
          }),
        )
        const outcomes = yield* writeAll(missing, 'slow-start', { kind: 'creations', key })
        const failed = outcomes.find((outcome) => !outcome.ok)
        return failed && !failed.ok ? { error: failed.error } : {}
      }
      for (const pod of owned.slice(wanted)) {
        expectations.expectDeletions(key, [keyOf(pod)])
        const outcome = yield* write(remove(resources.pods, pod))
        if (!outcome.ok) return { error: outcome.error }
      }
    },
  }
  const controller = runKeyedController(logic, context)
  const stop = new AbortController()
  const set = (name: string, count: number) =>
    client.put(resources.configmaps, {
      metadata: { namespace: NAMESPACE, name },
      data: { count: String(count) },
    })
  return {
    ...context,
    set,
    pods: () => client.list(resources.pods).length,
    start: async () => {
      informers.start(stop.signal)
      const running = controller.run(stop.signal)
      await clock.advance(0)
      return {
        stopped: async () => (stop.abort(), await Promise.all([running, informers.shutdown()])),
      }
    },
  }
}

test('from the server through caches, queue and rules back to the server: the world becomes as it should be, and stays', async () => {
  const { clock, set, start, pods, client } = podKeeper()
  set('a', 3)
  set('b', 40)
  const { stopped } = await start()
  await clock.advance(1_000)
  assert.equal(pods(), 43)
  set('b', 10)
  await clock.advance(1_000)
  assert.equal(pods(), 13)
  client.remove(resources.pods, client.list(resources.pods)[0]!)
  await clock.advance(1_000)
  assert.equal(pods(), 13)
  const before = client.requests.length
  await clock.advance(600_000)
  assert.deepEqual(
    client.requests.slice(before).filter(({ verb }) => verb !== 'watch' && verb !== 'list'),
    [],
  )
  await stopped()
})

test('failing writes and watches that break change nothing about where it ends', async () => {
  const { clock, set, start, pods, client, random } = podKeeper()
  set('a', 25)
  const chaos = random.fork('chaos')
  const { stopped } = await start()
  client.onRequest = ({ verb }) => {
    if (verb === 'create' && chaos.next() < 0.3) throw new Error('lost')
  }
  for (let i = 0; i < 20; i++) {
    await clock.advance(500)
    for (const watch of client.watches) if (chaos.next() < 0.5) watch.end()
    set('a', 5 + Math.floor(chaos.next() * 20))
  }
  client.onRequest = undefined
  set('a', 12)
  await clock.advance(10 * 60_000)
  assert.equal(pods(), 12)
  assert.equal(keysOf(client.list(resources.pods)).length, 12)
  await stopped()
})

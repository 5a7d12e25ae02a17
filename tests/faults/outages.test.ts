// A server that is away, managers that are cut off, clocks that jump: virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Lease, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { Client, ResourceClient } from '@gyropilot/client'
import { TransportError } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import type { VirtualClock } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import {
  EventBroadcaster,
  LeaderElector,
  LeaseLock,
  RateLimitingQueue,
  SeriesBroadcaster,
  SharedInformerFactory,
} from '@gyropilot/runtime'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { pod } from './informer-on-server.ts'

const HOUR_MS = 3_600_000
const refused = (): TransportError => new TransportError('ECONNREFUSED', 'dial tcp: refused')

function informerOf(server: FakeServer, clock: VirtualClock) {
  const stop = new AbortController()
  const factory = new SharedInformerFactory({
    client: server,
    clock,
    random: new SeededRandom('outage'),
    logger: new RecordingLogger(),
  })
  return { factory, stop, pods: factory.informer(resources.pods) }
}

test('a server that restarts for 60 s: the cache is kept meanwhile, and right again within one backoff', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const { factory, stop, pods } = informerOf(server, clock)
  const seen: string[] = []
  pods.addHandler({
    onAdd: (object) => void seen.push(`add ${object.metadata!.name}`),
    onDelete: () => void seen.push('delete'),
  })
  for (const name of ['a', 'b']) server.put(resources.pods, pod(name, 0))
  factory.start(stop.signal)
  await clock.advance(0)
  assert.deepEqual(seen, ['add a', 'add b'])

  server.onRequest = () => {
    throw refused()
  }
  for (const watch of server.watches) watch.end(new TransportError('ECONNRESET', 'reset'))
  const before = server.requests.length
  await clock.advance(60_000)
  const tries = server.requests.length - before
  assert.ok(tries >= 4 && tries <= 12, `${tries} requests in 60 s: neither silent nor a storm`)
  assert.equal(pods.lister.list().length, 2, 'the cache is kept')
  server.remove(resources.pods, pod('a', 0))
  server.put(resources.pods, pod('c', 0))
  // What happened meanwhile is not in the watch cache of a server that has just started.
  server.onRequest = ({ verb, options }) => {
    if (verb === 'watch' && options.sendInitialEvents !== true && server.watches.length === 0)
      throw new TransportError('ECONNRESET', 'starting')
    return undefined
  }
  await clock.advance(62_000)
  assert.deepEqual(
    pods.lister
      .list()
      .map(({ metadata }) => metadata!.name)
      .sort(),
    ['b', 'c'],
  )
  assert.deepEqual(seen.slice(2), ['delete', 'add c'])
  stop.abort()
  await clock.advance(0)
  await factory.shutdown()
})

/** A client whose requests hang, as through a broken network, while `cut` holds. */
function cuttable(server: FakeServer): { readonly client: Client; cut: boolean } {
  const state = {
    cut: false,
    client: {
      raw: () => Promise.reject(new Error('not used')),
      resource: (type, namespace) => {
        const inner = server.resource(type, namespace)
        const passing =
          (verb: 'get' | 'create' | 'update') =>
          async (...args: [never, never]) => {
            if (state.cut) await new Promise(() => {})
            return (inner[verb] as (...args: unknown[]) => unknown)(...args)
          }
        return {
          get: passing('get'),
          create: passing('create'),
          update: passing('update'),
        } as unknown as ResourceClient<never>
      },
    } as Client,
  }
  return state
}

function contender(server: FakeServer, clock: VirtualClock, identity: string) {
  const line = cuttable(server)
  const state = { acting: false, ended: false }
  const elector = new LeaderElector({
    lock: new LeaseLock({ client: line.client, namespace: 'kube-system', name: 'kcm', identity }),
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    clock,
    random: new SeededRandom(identity),
    logger: new RecordingLogger(),
    name: 'kcm',
    callbacks: {
      onStartedLeading(signal) {
        state.acting = true
        signal.addEventListener('abort', () => (state.acting = false))
      },
      onStoppedLeading: () => void (state.ended = true),
    },
  })
  const stop = new AbortController()
  return { line, state, elector, stop, run: () => elector.run(stop.signal) }
}

test('two managers cut off from the server at once: the leader stops before its lease ends, the other never starts', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const managers = ['one', 'two'].map((identity) => contender(server, clock, identity))
  const [one, two] = managers as [(typeof managers)[0], (typeof managers)[0]]
  void one.run()
  await clock.advance(0)
  void two.run()
  await clock.advance(20_000)
  assert.deepEqual([one.state.acting, two.state.acting], [true, false])

  for (const { line } of managers) line.cut = true
  const cutMs = clock.monotonicMs()
  assert.ok(await clock.advanceUntil(() => !one.state.acting, 60_000))
  const stoppedAfterMs = clock.monotonicMs() - cutMs
  // The last renewal is up to a retry period old; then the renew deadline.
  assert.ok(stoppedAfterMs <= 12_000, `acted for ${stoppedAfterMs} ms without a server`)
  assert.equal(one.state.ended, true)
  await clock.advance(HOUR_MS)
  assert.deepEqual([one.state.acting, two.state.acting], [false, false], 'nobody acts')

  // The network heals for a third one: it takes the lease over, and the second stays out while it holds it.
  const three = contender(server, clock, 'three')
  void three.run()
  assert.ok(await clock.advanceUntil(() => three.state.acting, 60_000))
  two.line.cut = false
  await clock.advance(60_000)
  assert.deepEqual([one.state.acting, two.state.acting, three.state.acting], [false, false, true])
  for (const { stop } of [...managers, three]) stop.abort()
  await clock.advance(0)
})

test('a wall clock that goes back an hour: one leader throughout, and the lease is not given away', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const one = contender(server, clock, 'one')
  const two = contender(server, clock, 'two')
  void one.run()
  await clock.advance(0)
  void two.run()
  for (const jumpMs of [-HOUR_MS, HOUR_MS * 2]) {
    clock.jumpWallTime(jumpMs)
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000)
      assert.deepEqual([one.state.acting, two.state.acting], [true, false])
    }
  }
  const holder = server.get(resources.leases, 'kube-system', 'kcm') as Lease
  assert.equal(holder.spec!.leaseTransitions, 0)
  // The leader dies after the jump: the other takes over in the usual time, however odd the renew time looks.
  one.line.cut = true
  clock.jumpWallTime(-HOUR_MS)
  assert.ok(await clock.advanceUntil(() => two.state.acting, 30_000))
  assert.equal(one.state.acting, false)
  for (const { stop } of [one, two]) stop.abort()
  await clock.advance(0)
})

test('a wall clock that goes back an hour: queues keep their delays, informers their backoff and resync', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const queue = new RateLimitingQueue({ clock })
  queue.addAfter('later', 10_000)
  const { factory, stop, pods } = informerOf(server, clock)
  server.put(resources.pods, pod('a', 0))
  let resyncs = 0
  pods.addHandler({ onUpdate: () => void resyncs++ })
  let periodic = 0
  const resynced = factory.informer(resources.configmaps)
  server.put(resources.configmaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'shop', name: 'm' },
  })
  resynced.addHandler({ onUpdate: () => void periodic++ }, { resyncPeriodMs: 5_000 })
  factory.start(stop.signal)
  await clock.advance(0)

  clock.jumpWallTime(-HOUR_MS)
  await clock.advance(9_999)
  assert.equal(queue.length, 0)
  await clock.advance(1)
  assert.equal(queue.length, 1, 'due after ten seconds, not after an hour and ten seconds')
  for (const watch of server.watches) watch.end(new TransportError('ECONNRESET', 'reset'))
  await clock.advance(0)
  server.put(resources.pods, pod('b', 0))
  await clock.advance(0)
  assert.equal(pods.lister.list().length, 2)
  assert.equal(resyncs, 0)
  stop.abort()
  await clock.advance(0)
  await factory.shutdown()
})

const subject = (): Pod => ({ ...pod('web', 5), apiVersion: 'v1', kind: 'Pod' })

test('a wall clock that goes back an hour: events keep distinct names, aggregate and finish their series in time', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const options = {
    client: server,
    clock,
    random: new SeededRandom('e'),
    logger: new RecordingLogger(),
  }
  const broadcaster = new EventBroadcaster(options)
  const recorder = broadcaster.recorder('test')
  const record = (message: string): void =>
    recorder.record({ regarding: subject(), type: 'Normal', reason: 'Pulled', message })
  for (let i = 0; i < 9; i++) record(`message ${i}`)
  await clock.advance(0)
  clock.jumpWallTime(-HOUR_MS)
  // Ten minutes later the earlier nine are no longer similar: a clock that went back must not keep them.
  await clock.advance(11 * 60_000)
  record('message 9')
  await clock.advance(0)
  const stored = server.list(resources.events) as Event[]
  assert.equal(stored.length, 10)
  assert.equal(new Set(stored.map(({ metadata }) => metadata!.name)).size, 10)
  assert.equal(
    stored.some(({ message }) => message!.startsWith('(combined')),
    false,
  )
  await broadcaster.shutdown()

  const other = new FakeServer()
  const series = new SeriesBroadcaster({
    ...options,
    client: other,
    controller: 'test',
    hostname: 'host',
  })
  const happen = (): void =>
    series.record({ regarding: subject(), type: 'Normal', reason: 'R', action: 'A', note: 'n' })
  happen()
  await clock.advance(1_000)
  clock.jumpWallTime(-HOUR_MS)
  await clock.advance(31 * 60_000)
  happen()
  await clock.advance(1_000)
  const events = other.list(resources.eventsV1)
  assert.equal(events.length, 2, 'the first series ended while it was idle')
  await series.shutdown()
})

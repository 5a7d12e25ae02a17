import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { buildController } from '../builder/controller-builder.ts'
import { configMap, managing, website, websites } from '../builder/fixtures.ts'
import { LEASE, diary, holder } from './fixtures.ts'

test('a manager that is stopped while its caches fill does not contend', async () => {
  const { manager, server, clock } = managing({ leaderElection: LEASE })
  manager.cache.informer(websites)
  const stop = new AbortController()
  const running = manager.start(stop.signal)
  stop.abort()
  await clock.advance(0)
  await running
  assert.deepEqual(
    server.requests.filter(({ path }) => path.includes('leases')),
    [],
  )
})

test('leader election is off by default: no lease, and elected at once', async () => {
  const { manager, server, start, stop } = managing()
  await start()
  await manager.elected
  assert.equal(holder(server), undefined)
  await stop()
})

test('leader election takes over after the 15 s lease of another, and controllers wait for it', async () => {
  const { manager, server, clock, start, stop } = managing({ leaderElection: LEASE })
  const other = { leaseDurationSeconds: 15, holderIdentity: 'other', leaseTransitions: 0 }
  server.put(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'default', name: 'website-operator' },
    spec: {
      ...other,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
    },
  })
  server.put(websites, website('a'))
  const keys: string[] = []
  const reconcile = ({ name }: { name: string }): void => void keys.push(name)
  buildController(manager).for(websites).complete(reconcile)
  const warm = buildController(manager).for(websites).named('warm')
  warm.withOptions({ enableWarmup: true }).complete(reconcile)
  const always = buildController(manager).for(websites).named('always')
  always.withOptions({ needLeaderElection: false }).complete(reconcile)
  await start()
  await clock.advance(14_000)
  assert.deepEqual(keys, ['a'], 'the one without leader election')
  assert.equal(server.requested('watch').filter(({ path }) => path.includes('websites')).length, 1)
  await clock.advance(10_000)
  assert.deepEqual(keys, ['a', 'a', 'a'])
  assert.equal(holder(server), 'me')
  const lease = server.get(resources.leases, 'default', 'website-operator') as Lease
  assert.equal(lease.spec?.leaseDurationSeconds, 15)
  await stop()
  assert.equal(holder(server), 'me', 'not released unless asked for')
})

test('with enableWarmup the queue is full before leadership', async () => {
  const { manager, server, metrics, clock, start, stop } = managing({ leaderElection: LEASE })
  server.onRequest = ({ path }) => {
    if (path.includes('leases')) throw new Error('no lease yet')
  }
  server.put(websites, website('a'))
  for (const [name, enableWarmup] of [
    ['warm', true],
    ['cold', false],
  ] as const)
    buildController(manager)
      .for(websites)
      .named(name)
      .withOptions({ enableWarmup })
      .complete(() => {})
  await start()
  await clock.advance(1_000)
  const depth = (name: string): number | undefined =>
    metrics.value('workqueue_depth', { name, controller: name, priority: '-100' })
  assert.deepEqual([depth('warm'), depth('cold')], [1, undefined])
  await stop()
})

test('a lost lease ends the manager at once with leader election lost, however long a stop may take', async () => {
  for (const gracefulShutdownTimeoutMs of [undefined, -1]) {
    const { entries, runnable } = diary()
    const options = { leaderElection: LEASE, gracefulShutdownTimeoutMs }
    const { manager, server, clock, start, ended } = managing(options)
    manager.add(runnable('elected'))
    manager.add({ start: () => new Promise(() => {}) })
    await start()
    await manager.elected
    server.onRequest = ({ path }) => {
      if (path.includes('leases')) throw new Error('unreachable')
    }
    let outcome: unknown
    ended()?.catch(({ code, message }) => (outcome = { code, message }))
    await clock.advance(13_000)
    assert.deepEqual(outcome, { code: 'LEADER_ELECTION_LOST', message: 'leader election lost' })
    assert.deepEqual(entries, ['elected starts', 'elected ends'])
  }
})

test('a renewal whose answer is lost does not cost the lease, nor a read that is lost a standby its turn', async () => {
  for (const [verb, leadsFromMs] of [
    ['update', 0],
    ['get', 9_400],
  ] as const) {
    const { manager, server, clock, start, stop } = managing({ leaderElection: LEASE })
    let lost = 0
    server.onRequest = (request) =>
      request.path.includes('leases') && request.verb === verb && lost++ === 0
        ? new Promise(() => {})
        : undefined
    await start()
    let isLeading = false
    void manager.elected.then(() => (isLeading = true))
    await clock.advance(leadsFromMs)
    assert.equal(isLeading, true)
    await clock.advance(60_000)
    assert.equal(lost > 1, true)
    await stop()
  }
})

test('Given a leader that was stopped for longer than its lease, when it goes on, then its reconcilers write nothing before it has renewed it', async () => {
  const { manager, server, clock, start, stop } = managing({ leaderElection: LEASE })
  const writes: string[] = []
  const going = Promise.withResolvers<void>()
  for (const needLeaderElection of [true, false])
    buildController(manager)
      .for(websites)
      .named(`leader-${needLeaderElection}`)
      .withOptions({ needLeaderElection })
      .complete(async (_, { client, live }) => {
        await going.promise
        for (const api of [client, live]) {
          const { items } = await api.resource(websites, 'default').list()
          await api.resource(resources.configmaps, 'default').create(configMap(`${writes.length}`))
          writes.push(`${needLeaderElection} ${items.length}`)
        }
      })
  server.put(websites, website('a'))
  await start()
  // Its timers stood still, and the world went on.
  clock.jumpWallTime(15_000)
  going.resolve()
  await clock.advance(0)
  assert.deepEqual(writes, ['false 1', 'false 1'])
  await clock.advance(3_000)
  assert.deepEqual(writes.slice(2, 4), ['true 1', 'true 1'])
  await stop()
})

test('releaseOnCancel gives the lease back when the work has ended', async () => {
  const { manager, server, clock, start, abort, ended } = managing({
    leaderElection: { ...LEASE, releaseOnCancel: true },
  })
  manager.add({
    async start(signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      await sleep(clock, 1_000)
    },
  })
  await start()
  await manager.elected
  abort()
  await clock.advance(999)
  assert.equal(holder(server), 'me')
  await clock.advance(1)
  await ended()
  assert.ok(!holder(server))
})

test('leader election needs an id and a namespace', async () => {
  for (const [missing, message] of [
    ['id', 'LeaderElectionID must be configured'],
    [
      'namespace',
      'unable to find leader election namespace: not running in-cluster, please specify LeaderElectionNamespace',
    ],
  ] as const) {
    for (const nothing of ['', undefined]) {
      const { start, ended } = managing({ leaderElection: { ...LEASE, [missing]: nothing } })
      await start()
      await assert.rejects(async () => ended(), { code: 'LEADER_ELECTION_INVALID', message })
    }
  }
})

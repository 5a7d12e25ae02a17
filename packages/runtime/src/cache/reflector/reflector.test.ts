import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { pod, event, expired, refused, reflecting, page } from './fixtures.ts'

test('Given a watch ERROR 429, then no list follows and the delay grows.', async () => {
  const r = reflecting()
  await r.start()
  const delays: number[] = []
  for (let i = 0; i < 4; i++) {
    const before = r.server.requested('watch').length
    const fromMs = r.clock.monotonicMs()
    r.server.watches[0]!.error({ code: 429, reason: 'TooManyRequests' })
    await r.clock.advanceUntil(() => r.server.requested('watch').length > before, 60_000)
    delays.push(r.clock.monotonicMs() - fromMs)
  }
  assert.equal(r.server.requested('list').length, 1)
  for (const [i, baseMs] of [800, 1_600, 3_200, 6_400].entries()) {
    assert.ok(
      delays[i]! >= baseMs && delays[i]! < 2 * baseMs,
      `${delays[i]} is in [${baseMs}, ${2 * baseMs})`,
    )
  }
  await r.end()
})

test('Given connection refused on watch, then exponential delays and no list.', async () => {
  const r = reflecting()
  const atMs: number[] = []
  r.server.onRequest = ({ verb }) => {
    if (verb !== 'watch') return
    atMs.push(r.clock.monotonicMs())
    throw refused()
  }
  await r.start()
  await r.clock.advance(110_000)
  const delays = atMs.slice(1).map((ms, i) => ms - atMs[i]!)
  for (const [i, baseMs] of [800, 1_600, 3_200, 6_400, 12_800].entries()) {
    assert.ok(
      delays[i]! >= baseMs && delays[i]! < 2 * baseMs,
      `${delays[i]} is in [${baseMs}, ${2 * baseMs})`,
    )
  }
  assert.equal(r.server.requested('list').length, 1)
  assert.deepEqual(r.watchErrors, [])
  await r.end()
})

test('the delays start over when two minutes have passed since they started', async () => {
  const r = reflecting()
  const atMs: number[] = []
  r.server.onRequest = ({ verb }) => {
    if (verb !== 'watch') return
    atMs.push(r.clock.monotonicMs())
    throw refused()
  }
  await r.start()
  await r.clock.advance(600_000)
  const delays = atMs.slice(1).map((ms, i) => ms - atMs[i]!)
  const restarts = delays.filter((ms, i) => i > 0 && ms < 1_600 && delays[i - 1]! > 12_800)
  assert.ok(
    restarts.length >= 2 && restarts.length <= 4,
    `${restarts.length} restarts in ten minutes: ${delays}`,
  )
  assert.ok(delays.every((ms) => ms < 60_000))
  await r.end()
})

test('a watch request that fails otherwise ends the round: error handler, backoff, fetch', async () => {
  const r = reflecting()
  let failures = 0
  r.server.onRequest = ({ verb }) => {
    if (verb === 'watch' && failures++ === 0) throw expired()
  }
  await r.start()
  assert.equal(r.watchErrors.length, 1)
  assert.equal(r.server.requested('list').length, 1)
  await r.clock.advance(1_600)
  assert.equal(r.server.requested('list').length, 2)
  await r.end()
})

test('Given 500 ERROR events with a budget set, then the watch is retried until the budget ends.', async () => {
  for (const [budgetMs, watches] of [
    [0, 1],
    [30_000, 4],
  ] as const) {
    const r = reflecting({ internalErrorBudgetMs: budgetMs })
    await r.start()
    while (r.server.requested('list').length === 1 && r.server.watches.length > 0) {
      r.server.watches[0]!.error({ code: 500, reason: 'InternalError' })
      await r.clock.advance(0)
      if (r.server.watches.length > 0) await r.clock.advance(10_000)
    }
    assert.equal(r.server.requested('watch').length, budgetMs === 0 ? watches : watches + 1)
    await r.end()
  }
})

test("Given a normal watch close, then the next watch starts at the last event's RV.", async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('x'))
  await r.start()
  r.server.watches[0]!.send(event('ADDED', pod('a', '17')))
  await r.clock.advance(0)
  r.server.watches[0]!.end()
  await r.clock.advance(0)
  assert.deepEqual(
    r.server.requested('watch').map(({ options }) => options.resourceVersion),
    ['1', '17'],
  )
  assert.equal(r.server.requested('list').length, 1)
  await r.end()
})

test('an event that comes with the stop changes nothing', async () => {
  const r = reflecting()
  await r.start()
  r.server.watches[0]!.send(event('ADDED', pod('a', '17')))
  await r.end()
  assert.deepEqual(r.seen, ['list@0'])
  assert.equal(r.server.requests.length, 2, 'and nothing more is asked for')
})

test('bookmarks are asked for, unless they are not wanted', async () => {
  for (const watchBookmarks of [undefined, true, false]) {
    const r = reflecting({ watchBookmarks })
    await r.start()
    const [watch] = r.server.requested('watch')
    assert.equal(watch!.options.allowWatchBookmarks, watchBookmarks ?? true)
    await r.end()
  }
})

test('a resync ticks once a period, however many watches there have been', async () => {
  let ticks = 0
  const r = reflecting({ resync: { periodMs: 60_000, tick: () => ticks++ } })
  await r.start()
  for (let round = 0; round < 3; round++) {
    r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
    await r.clock.advance(10_000)
  }
  assert.equal(r.server.requested('list').length, 4)
  ticks = 0
  await r.clock.advance(60_000)
  assert.equal(ticks, 1)
  await r.end()
})

test('a connection that breaks inside the stream is a normal close', async () => {
  const r = reflecting()
  await r.start()
  r.server.watches[0]!.send(event('MODIFIED', pod('a', '17')))
  await r.clock.advance(0)
  r.server.watches[0]!.end(new TransportError('ECONNRESET', 'reset'))
  await r.clock.advance(0)
  assert.deepEqual(
    r.server.requested('watch').map(({ options }) => options.resourceVersion),
    ['0', '17'],
  )
  assert.deepEqual(r.watchErrors, [])
  await r.end()
})

test('a watch closed within a second without an event ends the round', async () => {
  const r = reflecting()
  await r.start()
  r.server.watches[0]!.end()
  await r.clock.advance(0)
  assert.equal(r.server.requested('watch').length, 1)
  await r.clock.advance(1_600)
  assert.equal(r.server.requested('list').length, 2)
  await r.end()
})

test('a quiet watch that ends after more than a second is followed by another at once', async () => {
  const r = reflecting()
  await r.start()
  await r.clock.advance(1_000)
  r.server.watches[0]!.end()
  await r.clock.advance(0)
  assert.equal(r.server.requested('watch').length, 2)
  assert.equal(r.server.requested('list').length, 1)
  await r.end()
})

test('Given events at RV 10, 20, 30 (bookmark), 40, then lastRV follows each.', async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('x'))
  await r.start()
  const [watch] = r.server.watches
  const versions: string[] = []
  for (const send of [
    () => watch!.send(event('ADDED', pod('a', '10'))),
    () => watch!.send(event('MODIFIED', pod('a', '20'))),
    () => watch!.bookmark('30'),
    () => watch!.send(event('DELETED', pod('a', '40'))),
  ]) {
    send()
    await r.clock.advance(0)
    versions.push(r.reflector.lastSyncResourceVersion)
  }
  assert.deepEqual(versions, ['10', '20', '30', '40'])
  assert.deepEqual(r.seen, ['list@1', 'Added a', 'Updated a', 'bookmark@30', 'Deleted a'])
  await r.end()
})

test('Given a watch started at RV 0 or "", when only ADDED arrive, then lastRV is unchanged.', async () => {
  for (const start of ['0', '']) {
    const r = reflecting()
    r.server.onRequest = ({ verb }) => (verb === 'list' ? page(start) : undefined)
    await r.start()
    const [watch] = r.server.watches
    assert.equal(watch!.options.resourceVersion, start || undefined)
    watch!.send(event('ADDED', pod('b', '8')), event('ADDED', pod('a', '5')))
    await r.clock.advance(0)
    assert.equal(r.reflector.lastSyncResourceVersion, start)
    watch!.send(event('MODIFIED', pod('a', '9')), event('ADDED', pod('c', '10')))
    await r.clock.advance(0)
    assert.equal(r.reflector.lastSyncResourceVersion, '10')
    await r.end()
  }
})

test('Given every watch request, then timeoutSeconds is within 300..600.', async () => {
  const r = reflecting()
  await r.start()
  for (let i = 0; i < 50; i++) {
    await r.clock.advance(1_000)
    r.server.watches[0]!.end()
  }
  await r.clock.advance(0)
  const timeouts = r.server
    .requested('watch')
    .map(({ options }) => options.timeoutSeconds as number)
  assert.ok(timeouts.length > 40)
  assert.ok(
    timeouts.every((seconds) => seconds >= 300 && seconds < 600),
    String(timeouts),
  )
  assert.ok(new Set(timeouts).size > 20, 'drawn for each request')
  await r.end()
})

for (const [minWatchTimeoutMs, least] of [
  [600_000, 600],
  [1_000, 300],
] as const) {
  test(`a least watch timeout of ${minWatchTimeoutMs} ms gives at least ${least} s`, async () => {
    const r = reflecting({ minWatchTimeoutMs })
    await r.start()
    const seconds = r.server.requested('watch')[0]!.options.timeoutSeconds as number
    assert.ok(seconds >= least && seconds < 2 * least)
    await r.end()
  })
}

test('selectors are on every request', async () => {
  const r = reflecting({
    labelSelector: 'a=b',
    fieldSelector: 'metadata.name=x',
    metadataOnly: true,
  })
  await r.start()
  for (const { options } of r.server.requests) {
    assert.equal(options.labelSelector, 'a=b')
    assert.equal(options.fieldSelector, 'metadata.name=x')
    assert.equal(options.metadataOnly, true)
  }
  assert.equal(r.server.requests.length, 2)
  await r.end()
})

test('events of another kind, without metadata, or of an unknown type are skipped and do not move lastRV', async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('x'))
  await r.start()
  r.server.watches[0]!.send(
    {
      type: 'ADDED',
      object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '50' } },
    },
    {
      type: 'ADDED',
      object: { kind: 'Pod', apiVersion: 'v2', metadata: { resourceVersion: '51' } },
    },
    { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1' } },
    { type: 'RENAMED', object: pod('a', '52') } as never,
  )
  await r.clock.advance(0)
  assert.equal(r.reflector.lastSyncResourceVersion, '1')
  assert.deepEqual(r.seen, ['list@1'])
  await r.end()
})

test('a stop during the wait, a list or a watch ends the run', async () => {
  const r = reflecting()
  r.server.onRequest = () => {
    throw refused()
  }
  await r.start()
  await r.end()
  const quiet = reflecting()
  await quiet.start()
  await quiet.end()
  assert.deepEqual(quiet.watchErrors, [])
})

test('a bookmark moves lastRV of a watch started anywhere: what it follows has all been sent', async () => {
  const r = reflecting()
  r.server.onRequest = ({ verb }) => (verb === 'list' ? page('0') : undefined)
  await r.start()
  const [watch] = r.server.watches
  watch!.send(event('ADDED', pod('b', '8')))
  watch!.bookmark('9')
  await r.clock.advance(0)
  assert.equal(r.reflector.lastSyncResourceVersion, '9')
  watch!.send(event('ADDED', pod('c', '10')))
  await r.clock.advance(0)
  assert.equal(r.reflector.lastSyncResourceVersion, '10')
  await r.end()
})

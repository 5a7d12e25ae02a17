import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { statusError } from '../../testing/index.ts'
import { pod, tooLarge, expired, reflecting, pages, page } from './fixtures.ts'

test('Given no list yet, when the fallback list runs, then RV is 0 and limit 500; when relisting, RV is last seen and no limit.', async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('a'))
  await r.start()
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(2_000)
  assert.deepEqual(pages(r.server), [
    { resourceVersion: '0', limit: 500, continue: undefined },
    { resourceVersion: '1', limit: undefined, continue: undefined },
  ])
  await r.end()
})

test('who wants the latest lists without a version first, and from then on as everybody', async () => {
  const r = reflecting({ firstList: 'latest' })
  r.server.put(resources.pods, pod('a'))
  await r.start()
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(2_000)
  assert.deepEqual(pages(r.server), [
    { resourceVersion: undefined, limit: 500, continue: undefined },
    { resourceVersion: '1', limit: undefined, continue: undefined },
  ])
  await r.end()
})

test('a configured page size is used for every list', async () => {
  const r = reflecting({ pageSize: 4 })
  await r.start()
  r.server.put(resources.pods, pod('a'))
  await r.clock.advance(0)
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(2_000)
  assert.deepEqual(
    pages(r.server).map(({ limit }) => limit),
    [4, 4],
  )
  await r.end()
})

test('Given an RV-0 list in several pages, when relisting, then pages are used again.', async () => {
  const r = reflecting()
  r.server.onRequest = ({ verb, options }) => {
    if (verb !== 'list') return undefined
    return options.continue ? page('99', undefined, [pod('b')]) : page('10', 'next', [pod('a')])
  }
  await r.start()
  assert.deepEqual(r.keys(), ['default/a', 'default/b'])
  assert.equal(r.reflector.lastSyncResourceVersion, '10', 'the version of the first page')
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(2_000)
  assert.deepEqual(pages(r.server), [
    { resourceVersion: '0', limit: 500, continue: undefined },
    { resourceVersion: undefined, limit: 500, continue: 'next' },
    { resourceVersion: '10', limit: 500, continue: undefined },
    { resourceVersion: undefined, limit: 500, continue: 'next' },
  ])
  await r.end()
})

test('a continuation that has expired is answered by one full list at the original RV', async () => {
  const r = reflecting()
  r.server.onRequest = ({ verb, options }) => {
    if (verb !== 'list') return undefined
    if (options.continue) throw expired()
    return options.limit
      ? page('10', 'next', [pod('a')])
      : page('12', undefined, [pod('a'), pod('b')])
  }
  await r.start()
  assert.deepEqual(pages(r.server).at(-1), {
    resourceVersion: '0',
    limit: undefined,
    continue: undefined,
  })
  assert.deepEqual(r.keys(), ['default/a', 'default/b'])
  assert.equal(r.reflector.lastSyncResourceVersion, '12')
  await r.end()
})

for (const [title, failure] of [
  ['Given a relist answered Expired, when retried, then at once without RV.', expired],
  ['Given "too large resource version", when retried, then at once without RV.', tooLarge],
  [
    'a Timeout with the text of a too large resource version is one too',
    () => statusError(504, 'Timeout', 'Timeout: Too large resource version: 10, current: 5'),
  ],
] as const) {
  test(title, async () => {
    const r = reflecting()
    r.server.put(resources.pods, pod('a'))
    await r.start()
    r.server.onRequest = ({ verb, options }) => {
      if (verb === 'list' && options.resourceVersion !== undefined) throw failure()
    }
    r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
    await r.clock.advance(2_000)
    assert.deepEqual(pages(r.server).slice(1), [
      { resourceVersion: '1', limit: undefined, continue: undefined },
      { resourceVersion: undefined, limit: undefined, continue: undefined },
    ])
    assert.deepEqual(r.watchErrors, [])
    await r.end()
  })
}

test('pages of a list without a version say nothing of lists from the cache', async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('a'))
  await r.start()
  r.server.onRequest = ({ verb, options }) => {
    if (verb !== 'list') return undefined
    if (options.resourceVersion === '1') throw expired()
    return options.continue ? page('7') : page('7', 'next', [pod('a')])
  }
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(2_000)
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(4_000)
  assert.deepEqual(pages(r.server).at(-2), {
    resourceVersion: '7',
    limit: undefined,
    continue: undefined,
  })
  await r.end()
})

test('a list that fails for another reason than its version is told of, and tried again after a wait', async () => {
  const r = reflecting()
  let failures = 0
  r.server.onRequest = () => {
    if (failures++ === 0) throw statusError(500, 'InternalError')
  }
  await r.start()
  assert.equal(r.server.requests.length, 1)
  assert.equal(r.watchErrors.length, 1)
  await r.clock.advance(1_600)
  assert.equal(pages(r.server)[1]!.resourceVersion, '0')
  await r.end()
})

test('a list that is a Table is refused', async () => {
  const r = reflecting()
  r.server.onRequest = ({ verb }) =>
    verb === 'list' ? { kind: 'Table', metadata: {}, items: [] } : undefined
  await r.start()
  assert.match(String(r.watchErrors[0]), /Table/)
  await r.end()
})

test('a version that was not available is left out until a list succeeds, and only until then', async () => {
  const r = reflecting()
  r.server.put(resources.pods, pod('a'))
  await r.start()
  let failures = 0
  r.server.onRequest = ({ verb, options }) => {
    if (verb !== 'list') return
    if (options.resourceVersion === '1') throw expired()
    if (failures++ === 0) throw statusError(500, 'InternalError')
  }
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(1_600)
  const versions = () => pages(r.server).map(({ resourceVersion }) => resourceVersion)
  assert.deepEqual(versions(), ['0', '1', undefined], 'the second try fails for another reason')
  await r.clock.advance(3_200)
  assert.deepEqual(versions().slice(3), [undefined], 'the next round begins without it')
  assert.equal(pages(r.server).at(-1)!.limit, 500, 'in pages, as it does not come from the cache')
  r.server.put(resources.pods, pod('b'))
  await r.clock.advance(0)
  r.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await r.clock.advance(6_400)
  assert.deepEqual(versions().slice(4), ['2'], 'after a success with the one last seen')
  await r.end()
})

test('a list that is answered after the stop changes nothing', async () => {
  const answer = Promise.withResolvers<object>()
  const r = reflecting()
  r.server.onRequest = ({ verb }) => (verb === 'list' ? answer.promise : undefined)
  await r.start()
  const ended = r.end()
  answer.resolve(page('7', undefined, [pod('a')]))
  await ended
  assert.deepEqual(r.seen, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from './api-client.ts'
import { RestMapper } from './rest-mapper.ts'
import type { RestMapperOptions } from './rest-mapper.ts'
import { fakeTransport, jsonAnswer } from './testing/index.ts'

const version = (name: string, kinds: readonly string[], freshness = 'Current'): object => ({
  version: name,
  freshness,
  resources: kinds.map((kind) => ({
    resource: `${kind.toLowerCase()}s`,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    verbs: ['get', 'list', 'watch'],
  })),
})

/** A server whose groups may be changed at any time. */
function setup(options: Partial<RestMapperOptions> = {}) {
  const groups: Record<string, object[]> = {
    '': [version('v1', ['Pod'])],
    'acme.test': [version('v2', ['Foo']), version('v1', ['Foo', 'Bar'])],
  }
  const documents = { '/api': [''], '/apis': ['acme.test'] } as const
  const transport = fakeTransport(
    [
      (request) =>
        jsonAnswer({
          kind: 'APIGroupDiscoveryList',
          items: documents[request.path as '/api'].map((name) => ({
            metadata: { name },
            versions: groups[name],
          })),
        }),
    ],
    { repeatLast: true },
  )
  const clock = virtualClock()
  const client = new ApiClient({ transport, clock, qps: -1 })
  const mapper = new RestMapper({ client, clock, ...options })
  return { mapper, clock, groups, readings: () => transport.requests.length / 2 }
}

test('discovery is read once for all who ask, and kept', async () => {
  const { mapper, clock, readings } = setup()
  const [foo, bar, pod] = await Promise.all([
    mapper.forKind('acme.test', 'Foo'),
    mapper.forKind('acme.test', 'Bar'),
    mapper.forResource('', 'pods'),
  ])
  assert.deepEqual([foo?.version, bar?.version, pod?.kind], ['v2', 'v1', 'Pod'])
  assert.equal((await mapper.forKind('acme.test', 'Foo', 'v1'))?.version, 'v1')
  await clock.advance(3_600_000)
  assert.equal((await mapper.requireKind('', 'Pod')).resource, 'pods')
  assert.equal(readings(), 1)
})

test('Discovery-based mappers must refresh when a kind is missing; not more than once a second.', async () => {
  const { mapper, clock, groups, readings } = setup()
  assert.equal(await mapper.forKind('acme.test', 'New'), undefined)
  assert.equal(readings(), 1, 'just read')
  groups['acme.test']!.push(version('v3', ['New']))
  await clock.advance(999)
  assert.equal(await mapper.forKind('acme.test', 'New'), undefined)
  await clock.advance(1)
  const all = await Promise.all([1, 2, 3].map(() => mapper.forKind('acme.test', 'New')))
  assert.deepEqual(
    all.map((type) => type?.version),
    ['v3', 'v3', 'v3'],
  )
  assert.equal(readings(), 2)
  await clock.advance(60_000)
  await assert.rejects(mapper.requireKind('acme.test', 'Gone', 'v1'), {
    code: 'DISCOVERY_FAILED',
    message: /no matches for kind "Gone" in version "acme.test\/v1"/,
  })
  assert.equal(readings(), 3)
})

test('a kind of a group that could not be read is not taken for missing', async () => {
  const { mapper, groups, clock } = setup()
  groups['acme.test'] = [version('v2', [], 'Stale')]
  await assert.rejects(mapper.forKind('acme.test', 'Foo'), {
    code: 'DISCOVERY_FAILED',
    message: /acme\.test\/v2: stale/,
  })
  assert.equal(await mapper.forKind('', 'Nothing'), undefined)
  groups['acme.test'] = [version('v2', ['Foo'])]
  await clock.advance(1_000)
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v2')
})

test('what was read is used for mostAgeMs, and not after a reset', async () => {
  const { mapper, clock, groups, readings } = setup({ mostAgeMs: 30_000 })
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v2')
  groups['acme.test'] = [version('v9', ['Foo'])]
  await clock.advance(29_999)
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v2')
  await clock.advance(1)
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v9')
  groups['acme.test'] = [version('v10', ['Foo'])]
  mapper.reset()
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v10')
  assert.equal(readings(), 3)
})

test('a reset while discovery is being read: who asks then gets what was there after it', async () => {
  const { mapper, groups, readings } = setup()
  const before = mapper.forKind('acme.test', 'Foo')
  mapper.reset()
  const after = mapper.forKind('acme.test', 'Foo')
  assert.equal((await before)?.version, 'v2')
  assert.equal((await after)?.version, 'v2')
  assert.equal(readings(), 2)
  groups['acme.test'] = [version('v3', ['Foo'])]
  const early = mapper.forKind('acme.test', 'Foo')
  mapper.reset()
  assert.equal((await early)?.version, 'v2', 'known at that moment')
  const late = mapper.requireKind('acme.test', 'Foo')
  mapper.reset()
  assert.equal((await late).version, 'v3')
  assert.equal(readings(), 3)
  assert.equal((await mapper.forKind('acme.test', 'Foo'))?.version, 'v3')
  assert.equal(readings(), 4, 'what was read before the reset is not kept')
})

test('a reading that fails is tried again by the next question', async () => {
  const answers = [() => ({ ...jsonAnswer({}), status: 500 }), () => jsonAnswer({})]
  let failing = true
  const transport = fakeTransport([() => (failing ? answers[0]!() : answers[1]!())], {
    repeatLast: true,
  })
  const clock = virtualClock()
  const mapper = new RestMapper({ client: new ApiClient({ transport, clock, qps: -1 }), clock })
  await assert.rejects(mapper.forKind('', 'Pod'))
  failing = false
  assert.equal(await mapper.forKind('', 'Pod'), undefined)
})

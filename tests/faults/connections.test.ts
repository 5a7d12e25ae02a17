// What breaks between an informer and a server, over real sockets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable, resources } from '@gyropilot/api'
import { virtualClock } from '@gyropilot/foundation/testing'
import type { Pod, ResourceType } from '@gyropilot/api'
import type { Informer } from '@gyropilot/runtime'
import { endOfList, informersOnServer, line, pod } from './informer-on-server.ts'

/** Resolves when the cache has taken in the resourceVersion. */
function cached(informer: Informer<Pod>, name: string): Promise<Pod> {
  return new Promise((resolve) => {
    const seen = (object: Pod): void => {
      if (object.metadata?.name === name) resolve(object)
    }
    informer.addHandler({ onAdd: seen, onUpdate: (_, object) => seen(object) })
  })
}

test('a connection reset in the middle of an event loses no event and costs no list', async (context) => {
  const { server, informer, start, nextWatch } = await informersOnServer(context)
  const pods = informer(resources.pods)
  start()
  const first = await nextWatch()
  assert.equal(first.query.get('sendInitialEvents'), 'true')
  first.response.write(line('ADDED', pod('a', 5)) + endOfList(7))
  await pods.whenSynced(new AbortController().signal)

  const b = cached(pods, 'b')
  const half = line('ADDED', pod('c', 9))
  first.response.write(line('ADDED', pod('b', 8)) + half.slice(0, half.length / 2))
  await b
  server.resetConnections()

  const second = await nextWatch()
  assert.equal(second.query.get('resourceVersion'), '8', 'goes on behind the last whole event')
  assert.equal(second.query.get('sendInitialEvents'), null, 'no list')
  const c = cached(pods, 'c')
  second.response.write(half)
  await c
  assert.deepEqual(
    pods.lister
      .list()
      .map(({ metadata }) => metadata!.name)
      .sort(),
    ['a', 'b', 'c'],
  )
  assert.equal(server.accepted, 2)
})

test('half a line at a clean end of the watch is no event and costs no list', async (context) => {
  const { informer, start, nextWatch } = await informersOnServer(context)
  const pods = informer(resources.pods)
  start()
  const first = await nextWatch()
  const half = line('ADDED', pod('b', 9)).slice(0, 40)
  const a = cached(pods, 'a')
  first.response.write(endOfList(7) + line('ADDED', pod('a', 8)))
  await a
  first.response.end(half)
  const second = await nextWatch()
  assert.equal(second.query.get('resourceVersion'), '8')
  assert.equal(second.query.get('sendInitialEvents'), null)
  assert.equal(pods.lister.list().length, 1)
})

test('a line that is no event ends the watch, is reported, and everything is fetched again', async (context) => {
  const clock = virtualClock()
  const { informer, start, nextWatch, logger } = await informersOnServer(context, clock)
  const pods = informer(resources.pods)
  start()
  const first = await nextWatch()
  const before = cached(pods, 'a')
  first.response.write(endOfList(7) + line('ADDED', pod('a', 8)))
  await before
  const closed = new Promise((resolve) => first.response.stream.once('close', resolve))
  first.response.write('{"type":"ADDED","object":{"kind":}}\n')
  await closed
  await clock.advance(2_000)
  const second = await nextWatch()
  assert.equal(second.query.get('sendInitialEvents'), 'true', 'fetches everything')
  const b = cached(pods, 'b')
  second.response.write(line('ADDED', pod('b', 20)) + endOfList(21))
  await b
  assert.deepEqual(
    pods.lister.list().map(({ metadata }) => metadata!.name),
    ['b'],
  )
  assert.match(JSON.stringify(logger.lines), /unable to decode an event from the watch stream/)
})

test('all watches of a client share one connection', async (context) => {
  const { server, factory, start, nextWatch, transport } = await informersOnServer(context)
  const watchable = Object.values(resources).filter(({ group, resource }) => {
    const known = resourceTable.find(
      (entry) => entry.group === group && entry.resource === resource,
    )
    return known?.verbs.includes('watch')
  })
  assert.ok(watchable.length >= 50, `${watchable.length} kinds`)
  const informers = watchable.map((type) => factory.informer(type as ResourceType))
  start()
  for (let i = 0; i < informers.length; i++) {
    const { response, path } = await nextWatch()
    const type = watchable.find(
      ({ group, version, resource }) =>
        path === `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`,
    )
    assert.ok(type !== undefined, path)
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
    response.write(endOfList(7, type.kind, apiVersion))
  }
  assert.equal(await factory.waitForCacheSync(new AbortController().signal), true)
  assert.equal(server.accepted, 1, 'TCP connections')
  assert.equal(server.sessions.size, 1)
  assert.equal(transport.connectionCount, 1)
})

test('a connection that died in silence is noticed within 45 s, and idle watches go on over a new one', async (context) => {
  const clock = virtualClock()
  const { server, informer, start, nextWatch } = await informersOnServer(context, clock)
  const pods = informer(resources.pods)
  start()
  const first = await nextWatch()
  first.response.write(endOfList(7))
  await pods.whenSynced(new AbortController().signal)
  // The look that falls into the time before: bytes had come then.
  await clock.advance(30_000)
  const silent = [...server.sockets]
  for (const socket of silent) socket.pause()
  const startedMs = clock.monotonicMs()
  await clock.advance(45_000)
  // The new connection needs turns of the event loop, no time.
  const again = await nextWatch()
  assert.equal(clock.monotonicMs() - startedMs, 45_000)
  assert.equal(again.query.get('resourceVersion'), '7', 'no list')
  assert.equal(server.accepted, 2)
  const a = cached(pods, 'a')
  again.response.write(line('ADDED', pod('a', 8)))
  await a
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { SeededRandom, settle } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, FakeWatch, keysOf, statusError, testClock } from '../testing/index.ts'
import type { FakeRequest } from '../testing/index.ts'
import { SharedInformer } from './shared-informer.ts'
import type { SharedInformerOptions } from './shared-informer-options.ts'

const pod = (name: string, resourceVersion?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, ...(resourceVersion ? { resourceVersion } : {}) },
})

/** A server whose streams are driven by hand: no initial events of its own. */
function streaming(options: Partial<SharedInformerOptions<Pod>> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  const informer = new SharedInformer<Pod>({
    client: server,
    type: resources.pods,
    clock,
    logger,
    random: new SeededRandom('stream'),
    ...options,
  })
  const streams: FakeWatch[] = []
  /** By either side. */
  const closed: FakeWatch[] = []
  const answer = (request: FakeRequest): unknown => {
    if (request.verb !== 'watch' || !request.options.sendInitialEvents) return undefined
    const end = (): void => void closed.push(stream)
    const stream: FakeWatch = new FakeWatch(resources.pods, undefined, request.options, end)
    streams.push(stream)
    return stream
  }
  server.onRequest = answer
  const run = async () => {
    void informer.run(stop.signal)
    await clock.advance(0)
  }
  return {
    server,
    clock,
    logger,
    stop,
    informer,
    streams,
    closed,
    run,
    answer,
    keys: () => keysOf(informer.lister.list()),
  }
}

const END = { 'k8s.io/initial-events-end': 'true' }

test('the request of a streaming list', async () => {
  const { server, run, stop } = streaming()
  await run()
  const [request] = server.requests
  const { timeoutSeconds, ...options } = request!.options
  assert.deepEqual(options, {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
  })
  assert.equal(request!.decode, 'lean')
  assert.ok((timeoutSeconds as number) >= 300)
  stop.abort()
})

test('Given a stream without the annotated bookmark, then not synced; with it, synced at its RV and the same stream goes on.', async () => {
  const { clock, informer, streams, run, keys, server, stop } = streaming()
  await run()
  const [stream] = streams
  stream!.send({ type: 'ADDED', object: pod('a', '1') }, { type: 'ADDED', object: pod('b', '2') })
  stream!.send(
    { type: 'MODIFIED', object: pod('a', '3') },
    { type: 'DELETED', object: pod('b', '4') },
  )
  stream!.bookmark('5')
  stream!.bookmark('6', { 'k8s.io/initial-events-end': 'True' })
  await clock.advance(0)
  assert.equal(informer.hasSynced(), false)
  assert.deepEqual(keys(), [])
  stream!.bookmark('7', END)
  await clock.advance(0)
  assert.equal(informer.hasSynced(), true)
  assert.equal(informer.lastSyncResourceVersion(), '7')
  assert.deepEqual(keys(), ['default/a'])
  stream!.send({ type: 'ADDED', object: pod('c', '8') })
  await clock.advance(0)
  assert.deepEqual(keys(), ['default/a', 'default/c'])
  assert.equal(server.requests.length, 1)
  await clock.advance(1_000)
  stream!.end()
  await clock.advance(0)
  assert.equal(server.requests[1]!.options.resourceVersion, '8')
  assert.equal(server.requests[1]!.options.sendInitialEvents, undefined)
  stop.abort()
})

test('Given a server that rejects sendInitialEvents, then list+watch is used.', async () => {
  const { clock, informer, server, run, keys, stop } = streaming()
  server.put(resources.pods, pod('a'))
  server.onRequest = ({ options }) => {
    if (options.sendInitialEvents)
      throw statusError(422, 'Invalid', 'sendInitialEvents is forbidden')
  }
  await run()
  assert.equal(informer.hasSynced(), true)
  assert.deepEqual(keys(), ['default/a'])
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['watch', 'list', 'watch'],
  )
  server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await clock.advance(2_000)
  assert.deepEqual(
    server.requests.map(({ verb }) => verb).slice(3),
    ['watch', 'list', 'watch'],
    'the next round streams again',
  )
  assert.equal(server.requests[3]!.options.sendInitialEvents, true)
  assert.equal(server.requests[3]!.options.resourceVersion, '1')
  stop.abort()
})

test('a stream that closes before the bookmark without error is discarded and opened again at once', async () => {
  const { clock, streams, server, run, keys, stop } = streaming()
  await run()
  streams[0]!.send({ type: 'ADDED', object: pod('gone', '1') })
  streams[0]!.end()
  await clock.advance(0)
  assert.equal(streams.length, 2)
  streams[1]!.send({ type: 'ADDED', object: pod('a', '2') })
  streams[1]!.bookmark('2', END)
  await clock.advance(0)
  assert.deepEqual(keys(), ['default/a'])
  assert.equal(server.requested('list').length, 0)
  stop.abort()
})

test('a stream that closes within a second without events falls back to list', async () => {
  const { clock, streams, server, run, informer, stop } = streaming()
  await run()
  streams[0]!.end()
  await clock.advance(0)
  assert.equal(server.requested('list').length, 1)
  assert.equal(informer.hasSynced(), true)
  stop.abort()
})

for (const [title, failure] of [
  ['connection refused', new TransportError('ECONNREFUSED', 'refused')],
  ['429', statusError(429, 'TooManyRequests')],
] as const) {
  test(`${title} before the bookmark: backoff, then a new stream`, async () => {
    const { clock, server, answer, run, stop } = streaming()
    let refusals = 0
    server.onRequest = (request) => {
      if (refusals++ < 2) throw failure
      return answer(request)
    }
    await run()
    assert.equal(server.requests.length, 1)
    await clock.advance(799)
    assert.equal(server.requests.length, 1)
    await clock.advance(5_000)
    assert.equal(server.requests.length, 3)
    assert.equal(server.requested('list').length, 0)
    stop.abort()
  })
}

test('a 429 event before the bookmark: backoff, then a new stream', async () => {
  const { clock, streams, run, stop } = streaming()
  await run()
  streams[0]!.error({ code: 429, reason: 'TooManyRequests' })
  await clock.advance(799)
  assert.equal(streams.length, 1)
  await clock.advance(1_000)
  assert.equal(streams.length, 2)
  stop.abort()
})

test('an expired or too large version before the bookmark: at once a new stream without RV', async () => {
  const { clock, streams, server, answer, run, stop, informer } = streaming()
  await run()
  streams[0]!.bookmark('7', END)
  await clock.advance(0)
  streams[0]!.error({ code: 410, reason: 'Expired' })
  let failing = true
  server.onRequest = (request) => {
    if (failing && request.options.resourceVersion !== undefined) throw statusError(410, 'Expired')
    return answer(request)
  }
  await clock.advance(2_000)
  assert.deepEqual(
    server.requests.slice(1).map(({ options }) => options.resourceVersion),
    ['7', undefined],
  )
  streams.at(-1)!.bookmark('9', END)
  await clock.advance(0)
  assert.equal(informer.lastSyncResourceVersion(), '9')
  failing = false
  streams.at(-1)!.error({ code: 410, reason: 'Expired' })
  await clock.advance(5_000)
  assert.equal(server.requests.at(-1)!.options.resourceVersion, '9', 'a success clears the flag')
  stop.abort()
})

for (const [title, refuse] of [
  ['refused', true],
  ['ended by an event', false],
] as const) {
  test(`410 again and again, without a version too: from the second stream on after the backoff delay, ${title}`, async () => {
    const { clock, streams, server, answer, run, stop } = streaming()
    const opened: unknown[] = []
    server.onRequest = (request) => {
      if (!request.options.sendInitialEvents) return undefined
      opened.push(request.options.resourceVersion)
      if (refuse) throw statusError(410, 'Expired')
      return answer(request)
    }
    const refuseAll = (): void => {
      for (const stream of streams.splice(0)) stream.error({ code: 410, reason: 'Expired' })
    }
    await run()
    refuseAll()
    await clock.advance(799)
    assert.deepEqual(opened, [undefined])
    for (let second = 0; second < 60; second++) {
      refuseAll()
      await clock.advance(1_000)
    }
    assert.ok(opened.length >= 5 && opened.length <= 8, `${opened.length} streams in a minute`)
    stop.abort()
  })
}

test('after the stop no stream is opened any more', async () => {
  const { clock, streams, run, server, stop } = streaming()
  await run()
  streams[0]!.send({ type: 'ADDED', object: pod('a', '1') })
  stop.abort()
  await clock.advance(60_000)
  assert.equal(server.requests.length, 1)
})

test('a stream that closes before the bookmark again: backoff, then a new stream', async () => {
  const { clock, streams, run, stop } = streaming()
  await run()
  const close = async (): Promise<void> => {
    const stream = streams.at(-1)!
    stream.send({ type: 'ADDED', object: pod('a', '1') })
    stream.end()
    await clock.advance(0)
  }
  await close()
  assert.equal(streams.length, 2)
  await close()
  await clock.advance(799)
  assert.equal(streams.length, 2)
  await clock.advance(801)
  assert.equal(streams.length, 3)
  stop.abort()
})

const failures: readonly [string, (stream: FakeWatch) => void][] = [
  ['an error event', (stream) => stream.error({ code: 500, reason: 'InternalError' })],
  ['410', (stream) => stream.error({ code: 410, reason: 'Expired' })],
  ['429', (stream) => stream.error({ code: 429, reason: 'TooManyRequests' })],
]
for (const [title, fail] of failures) {
  test(`a streaming list that failed lets go of its stream: ${title}`, async () => {
    const { clock, streams, closed, run, stop } = streaming()
    await run()
    fail(streams[0]!)
    await clock.advance(0)
    assert.deepEqual(closed, [streams[0]])
    stop.abort()
  })
}

test('an informer of a client that cannot stream lists', async () => {
  const server = new FakeServer()
  const clock = testClock()
  const stop = new AbortController()
  const informer = new SharedInformer<Pod>({
    client: server,
    type: resources.pods,
    clock,
    logger: new RecordingLogger(),
    random: new SeededRandom('x'),
    watchList: false,
  })
  void informer.run(stop.signal)
  await clock.advance(0)
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['list', 'watch'],
  )
  stop.abort()
})

test('a warning every 10 s without events before the bookmark', async () => {
  const { clock, logger, run, streams, stop } = streaming()
  await run()
  await clock.advance(25_000)
  assert.equal(
    logger.messages().filter((message) => message.startsWith('No event of the streaming list'))
      .length,
    2,
  )
  streams[0]!.bookmark('1', END)
  await clock.advance(60_000)
  assert.equal(
    logger.messages().filter((message) => message.startsWith('No event of the streaming list'))
      .length,
    2,
  )
  stop.abort()
})

test('an event puts the warning off by 10 s, and no longer', async () => {
  const { clock, logger, run, streams, stop } = streaming()
  const warnings = (): number =>
    logger.messages().filter((message) => message.startsWith('No event of the streaming list'))
      .length
  await run()
  streams[0]!.send({ type: 'ADDED', object: pod('a', '1') })
  await clock.advance(10_000)
  assert.equal(warnings(), 0)
  await clock.advance(10_000)
  assert.equal(warnings(), 1)
  stop.abort()
})

const DIFFERENCES: readonly [title: string, listed: Pod[], message: string | undefined][] = [
  ['the same objects', [pod('a', '1'), pod('b', '2')], undefined],
  ['an object less', [pod('a', '1')], 'default/b is not in the list'],
  ['an object more', [pod('a', '1'), pod('b', '2'), pod('c', '3')], 'default/c was not streamed'],
  ['another state', [pod('a', '1'), pod('b', '4')], 'default/b was streamed in another state'],
]
for (const [title, listed, message] of DIFFERENCES) {
  test(`the inconsistency detector lists what was streamed once more at its version: ${title}`, async () => {
    const found: string[] = []
    const { server, clock, run, stop, streams, answer, keys } = streaming({
      onInconsistentList: ({ message: text }) => found.push(text),
    })
    let refusals = 1
    server.onRequest = (request) => {
      if (request.verb !== 'list') return answer(request)
      if (refusals-- > 0) throw statusError(503, 'ServiceUnavailable')
      return {
        metadata: { resourceVersion: '9' },
        items: listed.map(({ metadata }) => ({ metadata })),
      }
    }
    await run()
    streams[0]!.send({ type: 'ADDED', object: pod('a', '1') })
    streams[0]!.send({ type: 'ADDED', object: pod('b', '2') })
    streams[0]!.bookmark('9', END)
    await clock.advance(999)
    assert.deepEqual(keys(), [], 'not before the answer')
    await clock.advance(1)
    const lists = server.requests.filter(({ verb }) => verb === 'list')
    assert.deepEqual(
      lists.map(({ options }) => [options.resourceVersion, options.resourceVersionMatch]),
      [
        ['9', 'Exact'],
        ['9', 'Exact'],
      ],
    )
    const expected =
      message === undefined ? [] : [`data inconsistency detected for pods: ${message}`]
    assert.deepEqual(found, expected)
    assert.deepEqual(keys(), ['default/a', 'default/b'])
    stop.abort()
  })
}

test('a streamed list that cannot be taken in lets go of its stream', async () => {
  const { server, clock, run, stop, streams, closed, answer } = streaming({
    onInconsistentList() {
      throw new Error('not the same')
    },
  })
  server.onRequest = (request) =>
    request.verb === 'list'
      ? { metadata: { resourceVersion: '9' }, items: [pod('a', '1')] }
      : answer(request)
  await run()
  streams[0]!.bookmark('9', END)
  await clock.advance(0)
  assert.deepEqual(closed, [streams[0]])
  stop.abort()
})

test('a streamed list that is being compared when the stop comes is not taken in', async () => {
  const { server, clock, run, stop, streams, answer, keys, informer } = streaming({
    onInconsistentList: (error) => assert.fail(error),
  })
  const listed = Promise.withResolvers<never>()
  server.onRequest = (request) => (request.verb === 'list' ? listed.promise : answer(request))
  await run()
  streams[0]!.send({ type: 'ADDED', object: pod('a', '1') })
  streams[0]!.bookmark('9', END)
  await clock.advance(0)
  stop.abort()
  listed.reject(new Error('aborted'))
  await clock.advance(0)
  assert.deepEqual(keys(), [])
  assert.equal(informer.lastSyncResourceVersion(), '')
})

test('the inconsistency detector gives way when the server has forgotten the version', async () => {
  const { server, run, stop, streams, answer, keys } = streaming({
    onInconsistentList: (error) => assert.fail(error),
  })
  server.onRequest = (request) => {
    if (request.verb === 'list') throw statusError(410, 'Expired')
    return answer(request)
  }
  await run()
  streams[0]!.send({ type: 'ADDED', object: pod('a', '1') })
  streams[0]!.bookmark('9', END)
  await settle()
  assert.deepEqual(keys(), ['default/a'])
  stop.abort()
})

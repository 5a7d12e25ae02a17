/** An informer and the client below it, against the bytes that a kube-apiserver sends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta, Pod } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import { ApiClient } from '@gyropilot/client'
import type { TransportRequest, TransportResponse } from '@gyropilot/client'
import { fakeTransport, jsonAnswer, statusAnswer } from '@gyropilot/client/testing'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { refusalOf } from '../testing/list-option-rules.ts'
import { keysOf, testClock } from '../testing/index.ts'
import { SharedInformer } from './shared-informer.ts'
import type { SpecText } from './known-specs.ts'
import type { SharedInformerOptions } from './shared-informer-options.ts'

// Beyond 2^53, where numbers would round: versions are texts.
const version = (number: number): string => `90071992547409930${number}`

const pod = (name: string, resourceVersion: string, note = ''): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, resourceVersion, annotations: { note } },
})
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const added = (...args: Parameters<typeof pod>): string => line('ADDED', pod(...args))
const initialEventsEnd = (resourceVersion: string): string =>
  line('BOOKMARK', {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
  })
const failure = (code: number, reason: string, details?: object): string =>
  line('ERROR', {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    details,
  })

/** A body of these bytes in frames as HTTP/2 cuts them, which then stays open until the returned function ends it. */
function stream(text: string, frameBytes = 16_384): { response: TransportResponse; end(): void } {
  const ended = Promise.withResolvers<void>()
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += frameBytes)
      yield Buffer.from(bytes.subarray(at, at + frameBytes))
    await ended.promise
  }
  const headers = { 'content-type': 'application/json' }
  return {
    response: { status: 200, headers, body: { kind: 'bytes', chunks: chunks() } },
    end: () => ended.resolve(),
  }
}

/** Answers in turn; a request that no API server would take fails the test. */
function setup(
  answers: readonly (() => TransportResponse)[],
  more: Partial<SharedInformerOptions<Pod>> = {},
) {
  const asked: string[] = []
  const refused: string[] = []
  const transport = fakeTransport(
    answers.map((answer) => (request: TransportRequest) => {
      const query = new URLSearchParams(request.path.split('?')[1])
      const verb = query.has('watch') ? 'watch' : 'list'
      const { timeoutSeconds: _, ...options } = Object.fromEntries(query)
      const refusal = refusalOf(verb, options)
      if (refusal !== undefined) refused.push(refusal)
      const seconds = Number(query.get('timeoutSeconds'))
      if (verb === 'watch' && !(seconds >= 300 && seconds < 600)) refused.push(`${seconds} s`)
      asked.push(
        `${verb}${options['sendInitialEvents'] ? ' stream' : ''} ${options['resourceVersion'] ?? '-'}`,
      )
      return answer()
    }),
  )
  const clock = testClock()
  const informer = new SharedInformer<Pod>({
    client: new ApiClient({ transport, clock, qps: -1 }),
    type: resources.pods,
    clock,
    random: new SeededRandom('bytes'),
    logger: new RecordingLogger(),
    ...more,
  })
  const told: string[] = []
  const nameOf = (object: Pod): string =>
    `${object.metadata?.name}@${object.metadata?.resourceVersion}`
  informer.addHandler({
    onAdd: (object) => void told.push(`add ${nameOf(object)}`),
    onUpdate: (before, after) => void told.push(`update ${nameOf(before)} ${nameOf(after)}`),
    onDelete: (object) => void told.push(`delete ${'key' in object ? object.key : nameOf(object)}`),
  })
  const stop = new AbortController()
  return { informer, clock, told, asked, refused, run: () => void informer.run(stop.signal), stop }
}

test('timeouts, 410 inside a watch, versions that the server does not have yet, and a lost object', async () => {
  const watch = stream(
    added('a', version(1)) + added('b', version(2)) + initialEventsEnd(version(3)),
  )
  const second = stream(failure(410, 'Expired'))
  const third = stream(
    failure(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge', message: 'x' }] }),
  )
  const fourth = stream(added('b', version(8)) + initialEventsEnd(version(9)))
  const { informer, clock, told, asked, refused, run, stop } = setup([
    () => watch.response,
    () => second.response,
    () => third.response,
    () => fourth.response,
  ])
  run()
  await clock.advance(0)
  assert.deepEqual(keysOf(informer.lister.list()), ['default/a', 'default/b'])
  await clock.advance(300_000)
  watch.end()
  await clock.advance(0)
  assert.deepEqual(asked, ['watch stream -', `watch ${version(3)}`], 'watched on at once')
  await clock.advance(1_600)
  assert.deepEqual(asked.slice(2), [`watch stream ${version(3)}`, 'watch stream -'])
  assert.deepEqual(told, [
    `add a@${version(1)}`,
    `add b@${version(2)}`,
    'delete default/a',
    `update b@${version(2)} b@${version(8)}`,
  ])
  assert.equal(informer.lastSyncResourceVersion(), version(9))
  assert.deepEqual(refused, [])
  stop.abort()
})

test('an event of more than a MiB in many frames, texts of several bytes cut anywhere', async () => {
  const note = '日本語\u{1f600}ü'.repeat(120_000)
  const text = added('large', version(1), note) + initialEventsEnd(version(2))
  for (const frameBytes of [16_384, 4_099]) {
    const { informer, clock, run, stop } = setup([() => stream(text, frameBytes).response])
    run()
    await clock.advance(0)
    assert.equal(informer.lister.get('default', 'large')?.metadata?.annotations?.['note'], note)
    stop.abort()
  }
})

test('a server without streaming lists: 100,000 objects in pages of 500, then a watch from the version of the first page', async () => {
  const page = (first: number): TransportResponse =>
    jsonAnswer({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: version(first === 0 ? 1 : 2),
        ...(first + 500 < 100_000 ? { continue: String(first + 500) } : {}),
      },
      items: Array.from({ length: 500 }, (_, i) => ({
        metadata: { namespace: `n${(first + i) % 7}`, name: `p${first + i}` },
      })),
    })
  const { informer, clock, asked, refused, told, run, stop } = setup([
    () => statusAnswer(422, 'Invalid', 'sendInitialEvents is forbidden'),
    ...Array.from({ length: 200 }, (_, i) => () => page(i * 500)),
    () => stream('').response,
  ])
  run()
  await clock.advance(0)
  assert.equal(informer.lister.list().length, 100_000)
  assert.equal(told.length, 100_000)
  assert.deepEqual(refused, [])
  assert.deepEqual(
    [asked[0], asked[1], asked[2], asked.at(-1)],
    ['watch stream -', 'list 0', 'list -', `watch ${version(1)}`],
  )
  stop.abort()
})

test('429 with Retry-After to a watch is waited for by the client, 429 without it by the reflector', async () => {
  const first = stream(added('a', version(1)) + initialEventsEnd(version(2)))
  const { clock, asked, run, stop } = setup([
    () => statusAnswer(429, 'TooManyRequests', 'busy', { 'retry-after': '7' }),
    () => first.response,
    () => statusAnswer(429, 'TooManyRequests'),
    () => stream('').response,
  ])
  run()
  await clock.advance(6_999)
  assert.equal(asked.length, 1)
  await clock.advance(1)
  assert.deepEqual(asked, ['watch stream -', 'watch stream -'])
  await clock.advance(1_000)
  first.end()
  await clock.advance(0)
  assert.equal(asked.length, 3)
  await clock.advance(1_600)
  assert.deepEqual(asked.slice(2), [`watch ${version(2)}`, `watch ${version(2)}`])
  stop.abort()
})

const noted = (name: string, resourceVersion: string): Pod =>
  pod(name, resourceVersion, 'read by nobody')
const withoutNotes = (object: Pod): Pod => ({
  ...object,
  metadata: { ...object.metadata, annotations: {} },
})
const notesIn = (informer: SharedInformer<Pod>): unknown[] =>
  informer.lister.list().map(({ metadata }) => [metadata?.resourceVersion, metadata?.annotations])

test('what was streamed and watched is kept as the trim leaves it, and the check of the list knows of it', async () => {
  const watch = stream(
    line('ADDED', noted('a', version(1))) +
      initialEventsEnd(version(1)) +
      line('MODIFIED', noted('a', version(3))),
  )
  const listed = { metadata: { resourceVersion: version(1) }, items: [noted('a', version(1))] }
  const differences: Error[] = []
  const { informer, clock, run, stop, asked } = setup(
    [() => watch.response, () => jsonAnswer(listed)],
    { trim: withoutNotes, onInconsistentList: (error) => void differences.push(error) },
  )
  run()
  await clock.advance(0)
  assert.deepEqual(notesIn(informer), [[version(3), {}]])
  assert.deepEqual(differences, [])
  assert.deepEqual(asked, ['watch stream -', `list ${version(1)}`])
  stop.abort()
  watch.end()
})

test('what was listed is kept as the trim leaves it', async () => {
  const watch = stream('')
  const listed = { metadata: { resourceVersion: version(1) }, items: [noted('a', version(1))] }
  const { informer, clock, run, stop } = setup([() => jsonAnswer(listed), () => watch.response], {
    trim: withoutNotes,
    watchList: false,
  })
  run()
  await clock.advance(0)
  assert.deepEqual(notesIn(informer), [[version(1), {}]])
  stop.abort()
  watch.end()
})

test('what another list has of an object that did not change is not trimmed again', async () => {
  const [first, second] = [stream(failure(410, 'Expired')), stream('')]
  const list = (): TransportResponse =>
    jsonAnswer({
      metadata: { resourceVersion: version(1) },
      items: ['a', 'b'].map((name) => {
        const { metadata } = noted(name, version(1))
        return { metadata: { ...metadata, ...(name === 'a' && { uid: 'known' }) } }
      }),
    })
  const trimmed: unknown[] = []
  const { clock, run, stop } = setup([list, () => first.response, list, () => second.response], {
    trim(object) {
      trimmed.push(object.metadata?.name)
      return withoutNotes(object)
    },
    watchList: false,
  })
  run()
  await clock.advance(5_000)
  assert.deepEqual(trimmed, ['a', 'b', 'b'])
  stop.abort()
  second.end()
})

const managedFields = [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:nodeName': {} } } }]

/** A pod of a template, with a scheduler name of its own that nobody reads, as it stands in the bytes of a watch. */
function templated(name: string, resourceVersion: string, template: string, more: object = {}) {
  const { metadata, ...type } = pod(name, resourceVersion)
  return {
    ...type,
    metadata: { ...metadata, managedFields },
    spec: {
      schedulerName: `own-${name}`,
      ...(name.endsWith('1') ? {} : { nodeName: `node-${name.at(-1)}` }),
      containers: [{ name: 'c', image: template, env: [{ name: 'LONG_ENOUGH', value: template }] }],
    },
    status: { phase: 'Pending' },
    ...more,
  }
}
const withoutScheduler = (object: Pod): Pod => {
  if (object.spec?.schedulerName === undefined) return object
  const { schedulerName: _, ...spec } = object.spec
  return { ...object, spec: spec as Pod['spec'] }
}
const textWithoutOwn = (metadata: ObjectMeta, written: string): SpecText | undefined => {
  if (metadata.name?.startsWith('odd')) return undefined
  const nodeName = /"nodeName":"(.*?)"/.exec(written)?.[1]
  return {
    text: written.replace(/"own-[a-z0-9]+"/, '""').replace(/"nodeName":".*?"/, '"nodeName":""'),
    ...(nodeName === undefined ? {} : { own: { nodeName } }),
  }
}

test('specs of one text are one, and everything is kept as if each had been decoded', async () => {
  const random = new SeededRandom('specs')
  const lines = Array.from({ length: 120 }, (_, i) => {
    const name = `${i % 10 === 9 ? 'odd' : 'p'}${i % 80}`
    const more =
      i % 7 === 6
        ? { status: { phase: 'Running', podIP: `10.0.0.${i}` } }
        : i % 13 === 12
          ? { status: undefined }
          : {}
    return line(i < 80 ? 'ADDED' : 'MODIFIED', templated(name, version(i), `t${i % 3}`, more))
  })
  const text = `${lines.slice(0, 80).join('')}${initialEventsEnd(version(80))}${lines.slice(80).join('')}`
  const stores: Pod[][] = []
  for (const specTextOf of [undefined, textWithoutOwn]) {
    const { informer, clock, run, stop } = setup(
      [() => stream(text, integerBetween(random, 200, 3_000)).response],
      { trim: withoutScheduler, specTextOf },
    )
    run()
    await clock.advance(0)
    stores.push(informer.lister.list().toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    stop.abort()
  }
  assert.equal(stores[0]!.length, 80)
  assert.deepEqual(stores[1], stores[0])
  assert.equal(JSON.stringify(stores[1]), JSON.stringify(stores[0]), 'in the same order')
  const known = stores[1]!.filter(({ metadata }) => metadata?.name?.startsWith('p'))
  const parts = new Set(known.map(({ spec }) => spec?.containers))
  assert.equal(parts.size, 6, 'three templates, with a node and without one')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, testClock } from '../testing/index.ts'
import { SharedInformerFactory } from './informer-factory.ts'
import { MutationDetector } from './mutation-detector.ts'

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name },
  data: { a: '1' },
})

test('an edit of a cached object is found within a second, for as long as it is remembered', async () => {
  const client = new FakeServer()
  const clock = testClock()
  const altered: string[] = []
  const factory = new SharedInformerFactory({
    client,
    clock,
    random: new SeededRandom('detector'),
    logger: new RecordingLogger(),
    onAltered: (error) => void altered.push(error.message),
  })
  const { lister } = factory.informer(resources.configmaps)
  client.put(resources.configmaps, configMap('a'))
  const stop = new AbortController()
  factory.start(stop.signal)
  await clock.advance(60_000)
  client.put(resources.configmaps, { ...configMap('b'), data: { b: '1' } })
  await clock.advance(1_000)
  assert.deepEqual(altered, [])
  const edit = (name: string): void => {
    const cached = lister.get('default', name)! as { data: Record<string, string> }
    cached.data['edited'] = 'yes'
  }
  edit('b')
  await clock.advance(1_000)
  assert.deepEqual(altered, ['CACHE configmaps[1] ALTERED!'])
  await clock.advance(5 * 60_000)
  altered.length = 0
  edit('a')
  await clock.advance(1_000)
  assert.deepEqual(altered, [], 'copies are dropped after two to four minutes')
  client.put(resources.configmaps, configMap('c'))
  stop.abort()
  await factory.shutdown()
  await clock.advance(60_000)
})

test('an edit after the copies have been put aside once, two minutes later, is found too', async () => {
  const clock = testClock()
  const found: string[] = []
  const detector = new MutationDetector({
    clock,
    name: 'configmaps',
    onAltered: ({ message }) => void found.push(message),
  })
  const object = configMap('a')
  detector.capture(object)
  await clock.advance(2 * 60_000)
  detector.check()
  ;(object as { data: Record<string, string> }).data['a'] = '2'
  await clock.advance(60_000)
  detector.check()
  assert.deepEqual(found, ['CACHE configmaps[0] ALTERED!'])
})

test('without the option nothing is copied', async () => {
  const client = new FakeServer()
  const clock = testClock()
  const factory = new SharedInformerFactory({
    client,
    clock,
    random: new SeededRandom('detector'),
    logger: new RecordingLogger(),
  })
  const { lister } = factory.informer(resources.configmaps)
  client.put(resources.configmaps, configMap('a'))
  const stop = new AbortController()
  factory.start(stop.signal)
  await clock.advance(0)
  const cached = lister.get('default', 'a')! as { data: Record<string, string> }
  cached.data['a'] = '2'
  await clock.advance(10_000)
  assert.equal(lister.get('default', 'a')?.data?.['a'], '2')
  stop.abort()
  await factory.shutdown()
})

test('caches are compared every second, and copies go with the second time that they are put aside', async () => {
  const clock = testClock()
  let found = 0
  const detector = new MutationDetector({
    clock,
    name: 'configmaps',
    onAltered: () => void found++,
  })
  const object = configMap('a')
  detector.capture(object)
  const stopping = new AbortController()
  detector.start(stopping.signal)
  ;(object as { data: Record<string, string> }).data['a'] = '2'
  await clock.advance(60_000)
  assert.equal(found, 60)
  await clock.advance(10 * 60_000)
  assert.equal(found, 4 * 60)
  stopping.abort()
})

test('copies stay for two minutes after the first have gone too, and nobody looks after the stop', async () => {
  const clock = testClock()
  const found: string[] = []
  const detector = new MutationDetector({
    clock,
    name: 'configmaps',
    onAltered: ({ message }) => void found.push(message),
  })
  const edit = (object: ConfigMap): void =>
    void ((object as { data: Record<string, string> }).data['a'] = '2')
  const stopped = new AbortController()
  stopped.abort()
  detector.start(stopped.signal)
  const [first, second] = [configMap('a'), configMap('b')]
  detector.capture(first)
  edit(first)
  await clock.advance(10_000)
  assert.deepEqual(found, [])
  await clock.advance(110_000)
  const running = new AbortController()
  detector.start(running.signal)
  await clock.advance(10_000)
  detector.capture(second)
  await clock.advance(5_000)
  found.length = 0
  edit(second)
  await clock.advance(1_000)
  assert.deepEqual(found, ['CACHE configmaps[0] ALTERED!', 'CACHE configmaps[1] ALTERED!'])
  running.abort()
})

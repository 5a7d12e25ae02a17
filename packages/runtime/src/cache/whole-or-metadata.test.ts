import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import { FakeServer, testClock } from '../testing/index.ts'
import { SharedInformerFactory } from './informer-factory.ts'
import { WholeOrMetadataInformers } from './whole-or-metadata.ts'

function producing() {
  const client = new FakeServer()
  const clock = testClock()
  const random = new SeededRandom('factories')
  const common = { client, clock, random, logger: silentLogger }
  const whole = new SharedInformerFactory(common)
  const metadata = new SharedInformerFactory({ ...common, metadataOnly: true })
  const both = new WholeOrMetadataInformers(whole, metadata)
  const stop = new AbortController()
  return { client, clock, whole, metadata, both, stop }
}

test('what is watched whole is not watched a second time for its metadata', async () => {
  const { client, clock, whole, both, stop } = producing()
  const pods = whole.informer(resources.pods)
  assert.equal(both.informer(resources.pods), pods)
  both.informer(resources.services)
  both.start(stop.signal)
  assert.equal(await both.waitForCacheSync(stop.signal), true)
  await clock.advance(0)
  const asked = client.requests.map(
    ({ path, options }) => `${path} ${options.metadataOnly ? 'metadata' : 'whole'}`,
  )
  assert.deepEqual(asked.toSorted(), ['/api/v1/pods whole', '/api/v1/services metadata'])
  stop.abort()
  await both.shutdown()
})

test('what is watched by its metadata stays so: whoever has its informer goes on with it', () => {
  const { whole, metadata, both } = producing()
  const first = both.informer(resources.pods)
  assert.equal(first, metadata.informer(resources.pods))
  const pods = whole.informer(resources.pods)
  assert.notEqual(both.informer(resources.pods), pods)
  assert.equal(both.informer(resources.pods), first)
})

test('they are filled when both are', async () => {
  const { client, clock, whole, both, stop } = producing()
  whole.informer(resources.pods)
  both.informer(resources.services)
  client.onRequest = ({ path }) => (path.endsWith('/pods') ? new Promise(() => {}) : undefined)
  both.start(stop.signal)
  const synced = both.waitForCacheSync(stop.signal)
  await clock.advance(0)
  stop.abort()
  assert.equal(await synced, false)
})

test('shutdown waits for both', async () => {
  const { clock, whole, both, stop } = producing()
  whole.informer(resources.pods)
  both.start(stop.signal)
  await clock.advance(0)
  let ended = false
  const ending = both.shutdown().then(() => (ended = true))
  await clock.advance(0)
  assert.equal(ended, false)
  stop.abort()
  await ending
})

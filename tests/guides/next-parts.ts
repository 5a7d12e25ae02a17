// @ts-nocheck -- copied beside the blocks of docs/guides/write-a-controller.md by guides.test.ts, and run there
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { createCluster } from '@gyropilot/cluster'
import { SeededRandom, sleep } from '@gyropilot/foundation'
import { ControllerManager, buildController, installDefinition } from '@gyropilot/runtime'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { addGreetingController } from './controller.ts'
import { greetingDefinition, greetings } from './greeting.ts'
import { addCleanUp, addReferences, production } from './next.ts'
import { reconciler } from './rules.ts'
import { webhooks } from './webhooks.ts'

test('the next parts', async () => {
  const cluster = await createCluster({ seed: 'next', nodes: 0 })
  const { client, clock, random } = cluster
  const stop = new AbortController()
  const { signal } = stop
  const installed = installDefinition(client, greetingDefinition, { clock, random, signal })
  await cluster.advance(1_000)
  await installed
  const manager = production({ client, clock, random }, 'default', 0)
  const cleaned: string[] = []
  addCleanUp(manager, async (name) => void cleaned.push(name))
  addReferences(manager)
  const ended = manager.start(signal)
  await cluster.advance(5_000)
  const lease = await client.resource(resources.leases, 'default').get('greetings.example.com')
  assert.ok(lease.spec?.holderIdentity)

  const all = client.resource(greetings, 'default')
  await manager.client
    .resource(greetings, 'default')
    .create({ metadata: { name: 'a' }, spec: { who: 'robot' } })
  await cluster.advance(1_000)
  assert.deepEqual((await all.get('a')).metadata?.finalizers, ['example.com/outside'])
  await all.patch('a', { type: 'merge', value: { metadata: { annotations: null } } })
  await cluster.advance(1_000)
  const accounts = client.resource(resources.serviceaccounts, 'default')
  await accounts.create({ metadata: { name: 'robot' } })
  await cluster.advance(1_000)
  assert.equal((await all.get('a')).metadata?.annotations?.['example.com/seen'], 'true')

  await all.delete('a')
  await cluster.advance(1_000)
  assert.deepEqual(cleaned, ['a'])
  await assert.rejects(all.get('a'), { reason: 'NotFound' })
  const metrics = await manager.handle('/metrics')
  assert.match(
    metrics!.body,
    /controller_runtime_reconcile_total\{controller="greeting-clean-up",result="success"\} [1-9]/,
  )

  stop.abort()
  await cluster.advance(5_000)
  await ended
  const released = await client.resource(resources.leases, 'default').get('greetings.example.com')
  assert.equal(released.spec?.holderIdentity ?? '', '')
})

test('the webhook adds a label to those that are there, and lets deletions pass', async () => {
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }
  const greeting = { metadata: { name: 'a', labels: { mine: 'yes' } }, spec: { who: 'world' } }
  const verdict = async (request: object) => {
    const body = JSON.stringify({ ...review, request: { uid: 'u', ...request } })
    const answer = await webhooks({ method: 'POST', target: '/greetings', body })
    return JSON.parse(answer!.body).response
  }
  const created = await verdict({ operation: 'CREATE', object: greeting, oldObject: null })
  assert.deepEqual(created.warnings, ['be more specific'])
  assert.deepEqual(JSON.parse(Buffer.from(created.patch, 'base64').toString()), [
    { op: 'add', path: '/metadata/labels/example.com~1checked', value: 'true' },
  ])
  const deleted = await verdict({ operation: 'DELETE', object: null, oldObject: greeting })
  assert.deepEqual(deleted, { uid: 'u', allowed: true })
  const empty = { ...greeting, spec: { who: '' } }
  assert.equal((await verdict({ operation: 'UPDATE', object: empty })).allowed, false)
})

test('the rules keep a ConfigMap, and have nothing to do when it is right', async () => {
  const cluster = await createCluster({ seed: 'rules', nodes: 0 })
  const { client, clock, random } = cluster
  const stop = new AbortController()
  const { signal } = stop
  const installed = installDefinition(client, greetingDefinition, { clock, random, signal })
  await cluster.advance(1_000)
  await installed
  const manager = new ControllerManager({ client, clock, random })
  const results: unknown[] = []
  buildController(manager)
    .for(greetings)
    .owns(resources.configmaps)
    .complete(async (request, context) => {
      const result = await reconciler(request, context)
      results.push(result?.error)
    })
  const ended = manager.start(signal)
  const all = manager.client.resource(greetings, 'default')
  await all.create({ metadata: { name: 'a' }, spec: { who: 'you' } })
  await cluster.advance(1_000)
  const configMaps = client.resource(resources.configmaps, 'default')
  const first = await configMaps.get('a')
  assert.deepEqual(first.data, { text: 'Hello, you!' })
  assert.equal(first.metadata.ownerReferences[0].kind, 'Greeting')
  await configMaps.patch('a', { type: 'merge', value: { metadata: { labels: { mine: 'yes' } } } })
  await all.patch('a', { type: 'merge', value: { spec: { who: 'all' } } })
  await cluster.advance(1_000)
  const second = await configMaps.get('a')
  assert.deepEqual(
    [second.data, second.metadata.labels],
    [{ text: 'Hello, all!' }, { mine: 'yes' }],
  )
  assert.ok(results.length > 2)
  assert.deepEqual(new Set(results), new Set([undefined]))
  stop.abort()
  await cluster.advance(1_000)
  await ended
})

test('a greeting that goes while its ConfigMap is written is not made anew', async () => {
  const server = new FakeServer()
  const stop = new AbortController()
  const clock = testClock()
  const manager = new ControllerManager({ client: server, clock, random: new SeededRandom(1) })
  addGreetingController(manager)
  const metadata = { namespace: 'default', name: 'a', uid: 'u' }
  const greeting = server.put(greetings, { metadata, spec: { who: 'you' } })
  server.onRequest = async ({ verb }) => {
    if (verb !== 'create') return
    server.remove(greetings, greeting)
    // Until the cache knows.
    await sleep(clock, 1_000)
  }
  const ended = manager.start(stop.signal)
  await clock.advance(60_000)
  assert.deepEqual(
    server.requested('create').map(({ path }) => path),
    ['/api/v1/namespaces/default/configmaps/a'],
  )
  assert.equal(server.get(greetings, 'default', 'a'), undefined)
  stop.abort()
  await clock.advance(1_000)
  await ended
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllerOf, resources } from '@gyropilot/api'
import { createClusterCertificates, createMemoryStore } from '@gyropilot/api-server'
import { isInvalid, isNotFound } from '@gyropilot/client'
import { Cluster } from '@gyropilot/cluster'
import { PrometheusRegistry, SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger, virtualClock } from '@gyropilot/foundation/testing'
import { ControllerManager, installDefinition } from '@gyropilot/runtime'
import { addWebsiteController } from './controller.ts'
import { websiteDefinition, websites } from './website.ts'
import type { Website } from './website.ts'

/** A whole cluster on virtual time, with the operator in it. */
async function running() {
  const clock = virtualClock()
  const random = new SeededRandom('website-operator')
  const logger = new RecordingLogger()
  const metrics = new PrometheusRegistry()
  const cluster = new Cluster({
    clock,
    random,
    logger,
    metrics,
    store: createMemoryStore(clock),
    certificates: createClusterCertificates({ clock, random }),
  })
  await cluster.start()
  cluster.startControllerManager()
  cluster.startScheduler()
  cluster.startNodes([{ name: 'node-1', hostIps: ['192.0.2.1'] }])
  const client = cluster.client()

  const stop = new AbortController()
  const installed = installDefinition(client, websiteDefinition, {
    clock,
    random,
    signal: stop.signal,
  })
  await clock.advance(1_000)
  await installed
  const manager = new ControllerManager({
    client,
    clock,
    random: random.fork('operator'),
    logger,
    metrics: new PrometheusRegistry(),
  })
  addWebsiteController(manager)
  const ended = manager.start(stop.signal)
  return {
    client,
    clock,
    manager,
    sites: client.resource(websites, 'default'),
    async stop() {
      stop.abort()
      await clock.advance(60_000)
      await ended
      const stopped = cluster.stop(0)
      await clock.advance(60_000)
      await stopped
    },
  }
}

const site = (html: string): Website => ({
  apiVersion: 'example.com/v1',
  kind: 'Website',
  metadata: { namespace: 'default', name: 'home' },
  spec: { html, replicas: 2 },
})

test('a website becomes a page, a server and an address, reports that it is ready, and is gone with all of them', async () => {
  const { client, clock, sites, manager, stop } = await running()
  await sites.create(site('<h1>Hello</h1>'))
  await clock.advance(30_000)

  const page = await client.resource(resources.configmaps, 'default').get('home')
  const server = await client.resource(resources.deployments, 'default').get('home')
  const address = await client.resource(resources.services, 'default').get('home')
  const home = await sites.get('home')
  assert.deepEqual(page.data, { 'index.html': '<h1>Hello</h1>' })
  assert.equal(server.status?.availableReplicas, 2)
  for (const owned of [page, server, address])
    assert.equal(controllerOf(owned)?.uid, home.metadata?.uid)
  assert.deepEqual(home.status, { ready: true, observedGeneration: 1 })

  const { metadata } = home
  await clock.advance(600_000)
  const later = await sites.get('home')
  assert.equal(later.metadata?.resourceVersion, metadata?.resourceVersion, 'it has come to rest')

  await sites.patch('home', { type: 'merge', value: { spec: { html: 'new', replicas: 3 } } })
  await clock.advance(0)
  await clock.advance(30_000)
  const changed = await sites.get('home')
  assert.deepEqual(changed.status, { ready: true, observedGeneration: 2 })
  assert.equal(
    (await client.resource(resources.configmaps, 'default').get('home')).data?.['index.html'],
    'new',
  )
  assert.match(
    manager.metrics.expose(),
    /controller_runtime_reconcile_total\{controller="website",result="success"\} [1-9]/,
  )

  await sites.delete('home')
  await clock.advance(120_000)
  for (const type of [resources.configmaps, resources.services])
    await assert.rejects(
      client.resource(type as typeof resources.services, 'default').get('home'),
      (error) => isNotFound(error),
    )
  await stop()
})

test('what somebody else changes or deletes is made right again', async () => {
  const { client, clock, sites, stop } = await running()
  await sites.create(site('1'))
  await clock.advance(30_000)
  const pages = client.resource(resources.configmaps, 'default')
  await pages.patch('home', { type: 'merge', value: { data: { 'index.html': 'defaced' } } })
  await client.resource(resources.services, 'default').delete('home')
  await clock.advance(10_000)
  assert.equal((await pages.get('home')).data?.['index.html'], '1')
  assert.ok(await client.resource(resources.services, 'default').get('home'))
  await stop()
})

test('the schema refuses what is no website', async () => {
  const { sites, stop } = await running()
  const nothing = { ...site(''), spec: { replicas: 99 } } as never
  await assert.rejects(sites.create(nothing), (error) => isInvalid(error))
  await stop()
})

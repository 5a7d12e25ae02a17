import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources, keyOf } from '@gyropilot/api'
import { ApiClient, memoryTransport } from '@gyropilot/client'
import { generateKeyPairSync } from 'node:crypto'
import { createApiServer, createMemoryStore } from '@gyropilot/api-server'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { EventBroadcaster, SharedInformerFactory, create, runKeyedController, write, recordEvent } from './index.ts'
import { RecordingMetrics, testClock } from './testing/index.ts'

test('smoke', async () => {
  const clock = testClock()
  const random = new SeededRandom('s')
  const logger = new RecordingLogger()
  const store = createMemoryStore(clock)
  const server: any = createApiServer({ clock, random, logger, store, serviceAccountKey: generateKeyPairSync('rsa', { modulusLength: 2048 }), tokens: new Map([['t', { username: 'admin', groups: ['system:masters'] }]]) } as never)
  await server.start?.()
  const client = new ApiClient({ transport: memoryTransport((r: any) => server.handle({ ...r, headers: { ...r.headers, authorization: 'Bearer t' } })), clock, qps: -1, logger })
  const stop = new AbortController()
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const metadataInformers = new SharedInformerFactory({ client, clock, random, logger, metadataOnly: true })
  const broadcaster = new EventBroadcaster({ client, clock, random, logger })
  await client.resource(resources.namespaces).create({ metadata: { name: 'x' } }).catch((e) => console.log(e))
  const maps = informers.informer(resources.configmaps)
  const seenMeta: string[] = []
  metadataInformers.informer(resources.secrets).addHandler({ onAdd: (o) => void seenMeta.push(JSON.stringify(o)) })
  const c = runKeyedController({
    queueName: 'q', workers: 2,
    watches: [{ type: resources.configmaps, onAdd: (o) => [keyOf(o)] }],
    observe: (key) => maps.lister.getByKey(key),
    *reconcile(o: any) {
      const made = yield* write(create(resources.secrets, { metadata: { namespace: o.metadata.namespace, name: o.metadata.name } }))
      yield* recordEvent(o, 'Normal', 'Made', String(made.ok || (made as any).error))
    },
  }, { name: 'c', client, informers, metadataInformers, recorder: (n: string) => broadcaster.recorder(n), clock, random, logger, metrics: new RecordingMetrics(), configuration: undefined, informersStarted: Promise.resolve() })
  informers.start(stop.signal); metadataInformers.start(stop.signal)
  const done = c.run(stop.signal)
  await clock.advance(10)
  await client.resource(resources.configmaps, 'x').create({ metadata: { name: 'a' } })
  await clock.advance(10_000)
  console.log((await client.resource(resources.secrets, 'x').list()).items.map(keyOf), seenMeta)
  console.log((await client.resource(resources.secrets).list()).items.map((o) => [o.kind, keyOf(o)]), (await client.resource(resources.secrets).list({ metadataOnly: true })).items.map(keyOf), maps.lister.list().map(keyOf))
  console.log(logger.lines.filter((l) => l.severity === 'error' || l.message.includes('falling')).map((l) => [l.message, String(l.error ?? l.fields.error)]))
  stop.abort()
  await clock.advance(0)
  await done
  await Promise.all([informers.shutdown(), metadataInformers.shutdown()])
  assert.ok(true)
})

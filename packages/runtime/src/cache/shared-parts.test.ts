import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { ApiClient } from '@gyropilot/client'
import { eventStream, fakeTransport, watchBytes } from '@gyropilot/client/testing'
import type { TransportResponse } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { testClock } from '../testing/index.ts'
import { SharedInformerFactory } from './informer-factory.ts'

const containers = '[{"name":"web","env":[{"name":"A","value":"a long value of it"}]}]'
const podText = (name: string): string =>
  `{"metadata":{"name":"${name}","labels":{"application":"shop"}},"spec":{"containers":${containers},"nodeName":"node-${name}"}}`

async function cachedPods(
  response: TransportResponse,
  transform?: (object: Pod) => Pod,
): Promise<readonly Pod[]> {
  const clock = testClock()
  const factory = new SharedInformerFactory({
    client: new ApiClient({ transport: fakeTransport([response]), clock, qps: -1 }),
    clock,
    random: new SeededRandom('shared'),
    logger: new RecordingLogger(),
  })
  const stop = new AbortController()
  const informer = factory.informer(resources.pods)
  if (transform !== undefined) informer.setTransform(transform)
  factory.start(stop.signal)
  await clock.advance(0)
  const pods = informer.lister.list()
  stop.abort()
  await clock.advance(0)
  return pods
}

const pod = (name: string): Pod => ({
  ...(JSON.parse(podText(name)) as Pod),
  apiVersion: 'v1',
  kind: 'Pod',
})
const bookmark = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
}

const streamed = (pods: readonly Pod[]): TransportResponse => {
  const events = pods.map((object) => ({ type: 'ADDED', object }))
  const lines = [...events, { type: 'BOOKMARK', object: bookmark }]
  return watchBytes(lines.map((event) => JSON.stringify(event)).join('\n'))
}

test('an informer shares parts of what it decoded', async () => {
  const pods = await cachedPods(streamed(['a', 'b', 'c'].map(pod)))
  assert.equal(pods.length, 3)
  assert.equal(pods[1]!.spec!.containers, pods[2]!.spec!.containers)
})

test('a transform is shown whole objects that share their parts', async () => {
  const managed = (name: string): Pod => {
    const { metadata, ...rest } = pod(name)
    return { ...rest, metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] } }
  }
  const shown: unknown[] = []
  const pods = await cachedPods(streamed(['a', 'b', 'c'].map(managed)), (object) => {
    shown.push(object.metadata?.managedFields)
    return object
  })
  const whole = [{ manager: 'kubectl' }]
  assert.deepEqual(shown, [whole, whole, whole])
  assert.equal(pods[1]!.spec!.containers, pods[2]!.spec!.containers)
})

test('an informer leaves objects of a server in the same process alone, frozen ones too', async () => {
  const stream = eventStream()
  const given = ['a', 'b', 'c'].map(pod)
  for (const object of given) {
    Object.freeze(object.spec!.containers)
    Object.freeze(object.spec)
    stream.push({ type: 'ADDED', object: Object.freeze(object) })
  }
  stream.push({ type: 'BOOKMARK', object: bookmark })
  const pods = await cachedPods(stream.response)
  for (const [i, object] of given.entries()) assert.equal(pods[i]!.spec, object.spec)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Service } from '@gyropilot/api'
import { NEVER, node, service, slice, talkingPods, world } from './fixtures.ts'
import type { World } from './fixtures.ts'

const NODES = [node('node-1'), node('node-2')]

async function ensure(
  { cloud }: World,
  wanted: Service = service(),
  nodes: readonly Node[] = NODES,
): Promise<string | undefined> {
  const status = await cloud.loadBalancers.ensureLoadBalancer('c', wanted, nodes, NEVER)
  return status.ingress?.[0]?.ip
}

async function seen({ network }: World, times: number, from?: string): Promise<unknown[]> {
  const answers: unknown[] = []
  for (let i = 0; i < times; i++) answers.push(await network.connect('127.80.0.1', 80, from))
  return answers
}

test('a balancer has an address of its own and leads to ready pods, one after the other', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1', '!10.0.0.2 on node-1', '10.0.0.3 on node-2']))
  assert.equal(await ensure(given), '127.80.0.1')
  assert.deepEqual(await seen(given, 3), ['10.0.0.1:8080', '10.0.0.3:8080', '10.0.0.1:8080'])
  assert.equal(await ensure(given), '127.80.0.1', 'asked again it is the same')
  const other = service({}, { metadata: { namespace: 'default', name: 'other', uid: 'u-2' } })
  assert.equal(await ensure(given, other), '127.80.0.2')
})

test('pods come and go without a word to the balancer', async () => {
  const given = world()
  await ensure(given)
  assert.deepEqual(await seen(given, 1), ['reset'], 'nobody is there')
  given.slices.push(slice(['10.0.0.1 on node-1']))
  assert.deepEqual(await seen(given, 1), ['10.0.0.1:8080'])
  given.slices[0] = slice(['~10.0.0.1 on node-1'])
  assert.deepEqual(
    await seen(given, 1),
    ['10.0.0.1:8080'],
    'what goes away serves when it is alone',
  )
  given.slices[0] = slice(['~10.0.0.1 on node-1', '10.0.0.2 on node-1'])
  assert.deepEqual(await seen(given, 2), ['10.0.0.2:8080', '10.0.0.2:8080'])
})

test('without a node to send to it refuses; nodes may change alone', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1']))
  await ensure(given, service(), [])
  assert.deepEqual(await seen(given, 1), ['reset'])
  await given.cloud.loadBalancers.updateLoadBalancer('c', service(), NODES, NEVER)
  assert.deepEqual(await seen(given, 1), ['10.0.0.1:8080'])
  const gone = service({}, { metadata: { name: 'x', uid: 'nobody' } })
  await assert.rejects(
    given.cloud.loadBalancers.updateLoadBalancer('c', gone, NODES, NEVER),
    /load balancer not found/,
  )
})

test('nodes that change while a balancer is made or its ports are changed do not undo that', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1']))
  const { loadBalancers } = given.cloud
  const update = (wanted: Service): Promise<void> =>
    loadBalancers.updateLoadBalancer('c', wanted, NODES, NEVER)
  const made = loadBalancers.ensureLoadBalancer('c', service(), [], NEVER)
  await Promise.all([made, update(service())])
  assert.deepEqual(await seen(given, 1), ['10.0.0.1:8080'])
  const other = service({ ports: [{ port: 81 }] })
  await Promise.all([ensure(given, other), update(other)])
  assert.deepEqual([...given.network.listening.keys()], ['tcp 127.80.0.1:81'])
})

test('with session affinity a client keeps its pod until it has been away too long', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1', '10.0.0.2 on node-2']))
  const clientIP = { timeoutSeconds: 60 }
  const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP } }
  await ensure(given, service(spec))
  assert.deepEqual(await seen(given, 2, '127.0.0.5'), ['10.0.0.1:8080', '10.0.0.1:8080'])
  assert.deepEqual(await seen(given, 1, '127.0.0.6'), ['10.0.0.2:8080'])
  await given.clock.advance(59_000)
  assert.deepEqual(await seen(given, 1, '127.0.0.6'), ['10.0.0.2:8080'])
  await given.clock.advance(59_000)
  assert.deepEqual(await seen(given, 1, '127.0.0.6'), ['10.0.0.2:8080'], 'every use counts')
  given.slices[0] = slice(['10.0.0.1 on node-1'])
  assert.deepEqual(await seen(given, 1, '127.0.0.6'), ['10.0.0.1:8080'], 'its pod is gone')
  given.slices[0] = slice(['10.0.0.1 on node-1', '10.0.0.2 on node-2'])
  await given.clock.advance(61_000)
  assert.deepEqual(await seen(given, 1, '127.0.0.6'), ['10.0.0.2:8080'], 'it was forgotten')
})

test('only the source ranges come in, from the field or the annotation', async () => {
  const ranges = ['127.0.0.8/29', '10.0.0.0/8']
  const annotations = {
    'service.beta.kubernetes.io/load-balancer-source-ranges': ranges.join(', '),
  }
  const byField = service({ loadBalancerSourceRanges: ranges })
  // An empty list in the field is as none.
  const byAnnotation = service({ loadBalancerSourceRanges: [] })
  const metadata = { ...byAnnotation.metadata, annotations }
  for (const wanted of [byField, { ...byAnnotation, metadata }]) {
    const given = world()
    given.slices.push(slice(['10.0.0.1 on node-1']))
    await ensure(given, wanted)
    assert.deepEqual(await seen(given, 1, '127.0.0.9'), ['10.0.0.1:8080'])
    assert.deepEqual(await seen(given, 1, '127.0.0.1'), ['reset'])
  }
})

test('Local sends only to pods on the nodes where traffic comes in, and these say so under the health check port', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1', '10.0.0.3 on node-3', '!10.0.0.2 on node-2']))
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 30_000 }
  await ensure(given, service(local))
  assert.deepEqual(await seen(given, 2), ['10.0.0.1:8080', '10.0.0.1:8080'])
  const body = (localEndpoints: number) => ({
    service: { namespace: 'default', name: 'web' },
    localEndpoints,
    serviceProxyHealthy: true,
  })
  assert.deepEqual(given.network.get('127.81.0.1', 30_000), { status: 200, value: body(1) })
  assert.deepEqual(given.network.get('127.81.0.2', 30_000), { status: 503, value: body(0) })
  assert.equal(given.network.get('127.81.0.3', 30_000), undefined, 'no traffic comes in there')
  await ensure(given, service())
  assert.equal(given.network.get('127.81.0.1', 30_000), undefined, 'no longer asked for')
  assert.equal((await seen(given, 2)).includes('10.0.0.3:8080'), true)
})

test('ports come and go; what stays is not interrupted', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1']))
  await ensure(given)
  const listener = given.network.listening.get('tcp 127.80.0.1:80')
  const two = [
    { port: 80, targetPort: 8080 },
    { port: 53, targetPort: 8080, protocol: 'UDP' },
  ]
  await ensure(given, service({ ports: two }))
  assert.equal(given.network.listening.get('tcp 127.80.0.1:80'), listener)
  assert.equal(await given.network.send('127.80.0.1', 53, 'hi'), '10.0.0.1 hi')
  await ensure(given, service({ ports: [two[1]] }))
  assert.deepEqual([...given.network.listening.keys()], ['udp 127.80.0.1:53'])
})

test('a port may get another name while it is listened on', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1'], 'web', 8080, 'page'))
  await ensure(given)
  assert.deepEqual(await seen(given, 1), ['reset'])
  await ensure(given, service({ ports: [{ name: 'page', port: 80 }] }))
  assert.deepEqual(await seen(given, 1), ['10.0.0.1:8080'])
})

test('a port that cannot be listened on is told with what to do, and what was served is served on', async () => {
  const given = world()
  given.slices.push(slice(['10.0.0.1 on node-1']))
  await ensure(given)
  given.network.taken.set('tcp 127.80.0.1:443', 'EACCES')
  const ports = [{ port: 80 }, { port: 81 }, { port: 443 }]
  await assert.rejects(
    ensure(given, service({ ports })),
    /^Error: cannot listen on 127.80.0.1:443 for web: this user may not listen on it: choose a port from 1024 on, or run as root$/,
  )
  assert.deepEqual([...given.network.listening.keys()], ['tcp 127.80.0.1:80'])
  await assert.rejects(
    ensure(given, service({ ports: [{ port: 9, protocol: 'SCTP' }] })),
    /this cloud balances TCP and UDP, not SCTP/,
  )
})

test('a new balancer goes round addresses on which another program listens; one that was asked for does not', async () => {
  const given = world()
  given.network.taken.set('tcp 127.80.0.1:80', 'EADDRINUSE')
  assert.equal(await ensure(given), '127.80.0.2')
  const asked = { loadBalancerIP: '127.80.0.1' }
  const other = service(asked, { metadata: { name: 'other', uid: 'u-2' } })
  await assert.rejects(
    ensure(given, other),
    /127.80.0.1:80 for other: another program listens there/,
  )
  given.network.taken.clear()
  assert.equal(await ensure(given, other), '127.80.0.1')
})

test('an address that is asked for is given, unless it is not of this cloud or somebody has it', async () => {
  const given = world()
  assert.equal(await ensure(given, service({ loadBalancerIP: '127.80.7.7' })), '127.80.7.7')
  for (const loadBalancerIP of ['127.80.7.7', '203.0.113.1', '127.79.0.1']) {
    const other = service({ loadBalancerIP }, { metadata: { name: 'o', uid: 'u-2' } })
    await assert.rejects(ensure(given, other), /is not of this cloud, or another balancer has it/)
  }
})

test('after a restart a Service keeps the address that it has', async () => {
  const status = { loadBalancer: { ingress: [{ ip: '127.80.0.9' }] } }
  assert.equal(await ensure(world(), service({}, { status })), '127.80.0.9')
})

test('a balancer that is deleted is gone with its listeners, and its address is free', async () => {
  const given = world()
  await ensure(given)
  const { loadBalancers } = given.cloud
  assert.notEqual(await loadBalancers.getLoadBalancer('c', service(), NEVER), undefined)
  await loadBalancers.ensureLoadBalancerDeleted('c', service(), NEVER)
  await loadBalancers.ensureLoadBalancerDeleted('c', service(), NEVER)
  assert.equal(await loadBalancers.getLoadBalancer('c', service(), NEVER), undefined)
  assert.equal(given.network.listening.size, 0)
  assert.equal(await ensure(given), '127.80.0.1')
})

test('a back end that does not answer is a reset, and a datagram to it is lost', async () => {
  const given = world({ pods: talkingPods(new Set(['10.0.0.1'])) })
  given.slices.push(slice(['10.0.0.1 on node-1']))
  await ensure(given, service({ ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] }))
  assert.deepEqual(await seen(given, 1), ['reset'])
  assert.equal(await given.network.send('127.80.0.1', 80, 'x'), undefined)
})

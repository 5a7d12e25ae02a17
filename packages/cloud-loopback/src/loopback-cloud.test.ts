import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loopbackConfig } from './config.ts'
import { NEVER, initialized, node, service, world } from './fixtures.ts'

const CONTROL = { config: 'control: 127.0.0.1:8123' }

test('every node has a machine with an address of its own, spread over zones', async () => {
  const { cloud } = world()
  const addresses = [
    { type: 'InternalIP', address: '192.168.0.12' },
    { type: 'ExternalIP', address: '1.2.3.4' },
  ]
  const given = { ...node('node-2'), status: { addresses } }
  assert.equal(await cloud.instancesV2.instanceExists(given, NEVER), true)
  assert.equal(await cloud.instancesV2.instanceShutdown(given, NEVER), false)
  assert.deepEqual(await cloud.instancesV2.instanceMetadata(given, NEVER), {
    providerId: 'loopback://node-2',
    instanceType: 'loopback.standard',
    nodeAddresses: [addresses[0], { type: 'ExternalIP', address: '127.81.0.2' }],
    zone: 'loopback-1c',
    region: 'loopback-1',
  })
})

test('the control endpoint shows the cloud, turns machines off, and ends with the process', async () => {
  const given = world(CONTROL)
  const end = await initialized(given)
  await given.cloud.loadBalancers.ensureLoadBalancer('c', service(), [node('node-1')], NEVER)
  const route = { name: '', targetNode: 'node-1', destinationCidr: '10.244.0.0/24' }
  await given.cloud.routes.createRoute('c', 'hint', route, NEVER)
  const ask = (method: string, path: string, body: unknown = undefined) =>
    given.network.ask('127.0.0.1', 8123, { method, path, body: body ? JSON.stringify(body) : '' })
  assert.deepEqual(ask('POST', '/machines/node-2', { state: 'stopped' }), {
    status: 200,
    value: {},
  })
  assert.equal(await given.cloud.instancesV2.instanceShutdown(node('node-2'), NEVER), true)
  assert.deepEqual(ask('GET', '/')?.value, {
    balancers: [
      { address: '127.80.0.1', service: 'default/web', ports: ['TCP/80'], nodes: ['node-1'] },
    ],
    routes: [
      { name: 'hint-10.244.0.0/24', targetNode: 'node-1', destinationCidr: '10.244.0.0/24' },
    ],
    machines: { 'node-2': 'stopped' },
  })
  ask('POST', '/machines/node-2', { state: 'terminated' })
  assert.equal(await given.cloud.instancesV2.instanceExists(node('node-2'), NEVER), false)
  await assert.rejects(given.cloud.instancesV2.instanceMetadata(node('node-2'), NEVER), {
    name: 'InstanceNotFound',
  })
  ask('POST', '/machines/node-2', { state: 'running' })
  assert.equal(await given.cloud.instancesV2.instanceExists(node('node-2'), NEVER), true)
  end()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(given.network.listening.size, 0)
})

test('the control endpoint slows, fails and partitions the cloud, until it is told to stop', async () => {
  const given = world(CONTROL)
  await initialized(given)
  const { clock, cloud, network } = given
  const trouble = (body: object, method = 'POST') =>
    network.ask('127.0.0.1', 8123, { method, path: '/faults', body: JSON.stringify(body) })
  const exists = () => cloud.instancesV2.instanceExists(node('node-1'), NEVER)

  assert.equal(trouble({ call: 'instanceExists', delay: '2s' })?.status, 200)
  let isDone = false
  const slow = exists().then(() => (isDone = true))
  await clock.advance(1_999)
  assert.equal(isDone, false)
  await clock.advance(1)
  await slow

  trouble({}, 'DELETE')
  trouble({ fail: 'quota exceeded', times: 1 })
  await assert.rejects(exists(), /quota exceeded/)
  assert.equal(await exists(), true)

  trouble({ partition: true })
  const lost = assert.rejects(exists(), /i\/o timeout/)
  await clock.advance(10_000)
  await lost
  trouble({}, 'DELETE')
  assert.equal(await exists(), true)
})

test('what the control endpoint does not understand is told', async () => {
  const given = world(CONTROL)
  await initialized(given)
  for (const [method, path, body, status, error] of [
    ['GET', '/nothing', '', 404, 'no such request: GET /nothing'],
    ['POST', '/faults', '[]', 400, 'the body is no JSON object'],
    ['POST', '/faults', '{}', 400, 'say what: delay, fail or partition'],
    ['POST', '/faults', '{"delay":2}', 400, 'delay is not a duration such as 500ms or 2s'],
    ['POST', '/faults', '{"delay":"soon"}', 400, 'delay is not a duration such as 500ms or 2s'],
    ['POST', '/faults', '{"fail":"x","times":0}', 400, 'times is not a whole number above 0'],
    ['POST', '/faults', '{"call":1,"fail":"x"}', 400, 'call is not the name of a call, or *'],
    [
      'POST',
      '/machines/a',
      '{"state":"lost"}',
      400,
      'state "lost" is not known: use running, stopped, terminated',
    ],
  ] as const)
    assert.deepEqual(given.network.ask('127.0.0.1', 8123, { method, path, body }), {
      status,
      value: { error },
    })
})

test('routes are kept under their names', async () => {
  const { cloud } = world()
  const route = { name: '', targetNode: 'node-1', destinationCidr: '10.244.0.0/24' }
  await cloud.routes.createRoute('c', 'a', route, NEVER)
  const [made] = await cloud.routes.listRoutes('c', NEVER)
  assert.deepEqual(made, { ...route, name: 'a-10.244.0.0/24' })
  await cloud.routes.deleteRoute('c', made!, NEVER)
  assert.deepEqual(await cloud.routes.listRoutes('c', NEVER), [])
})

test('the config: defaults, YAML, and what is wrong with it', () => {
  assert.equal(loopbackConfig().addresses, '127.80.0.0/16')
  assert.deepEqual(loopbackConfig('region: r\nzones: [a]').zones, ['a'])
  for (const [text, message] of [
    ['addresses: 10.0.0.0/8', 'addresses: 10.0.0.0/8 does not lie in 127.0.0.0/8'],
    ['addresses: 0.0.0.0/0', 'addresses: 0.0.0.0/0 does not lie in 127.0.0.0/8'],
    [
      'machineAddresses: x',
      'machineAddresses: "x" is not a network of IPv4, such as 127.80.0.0/16',
    ],
    ['adresses: x', 'unknown setting adresses: did you mean addresses?'],
    [
      'constructor: x',
      'unknown setting constructor: use addresses, machineAddresses, region, zones, control',
    ],
    ['zones: []', 'zones is not a list of names'],
    ['region: 1', 'region is not a text'],
    ['- a', 'the file is no map of settings'],
    [
      'control: 0.0.0.0:80',
      'control: "0.0.0.0:80" is not a port of this machine, such as 127.0.0.1:8123',
    ],
  ] as const)
    assert.throws(() => loopbackConfig(text), { message })
})

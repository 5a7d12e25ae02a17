import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { DeviceClass, KubernetesObject, ResourceClaim, ResourceType } from '@gyropilot/api'
import { node, pod as podOf } from '@gyropilot/api/testing'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import type { InformerFactory } from '@gyropilot/runtime'
import { FakeServer, statusError, testClock } from '@gyropilot/runtime/testing'
import { FilterError } from '../filters/filter-error.ts'
import { NodeInfo } from '../node-info.ts'
import { DeviceClaims } from './device-claims.ts'
import { claim, request, slice } from './fixtures.ts'

const GPU = 'example.com/gpu'
const NO_EXECUTE = { key: 'bad', effect: 'NoExecute' }

/** One device on node `n`, which class `c` serves as an extended resource, and a pod that asks for it. */
function world(featureGates = {}) {
  const client = new FakeServer()
  const deviceClass: DeviceClass = { metadata: { name: 'c' }, spec: { extendedResourceName: GPU } }
  const cached = new Map<string, KubernetesObject[]>([
    ['deviceclasses', [deviceClass]],
    ['resourceslices', [slice('s', [{ name: 'x' }])]],
  ])
  const handlers = new Map<string, { onAdd(): void }>()
  const informers = {
    informer: ({ resource }: ResourceType) => ({
      lister: {
        list: () => cached.get(resource) ?? [],
        get: (_: unknown, name: string) =>
          cached.get(resource)?.find(({ metadata }) => metadata?.name === name),
        getByKey: () => undefined,
      },
      addHandler: (handler: { onAdd(): void }) => handlers.set(resource, handler),
    }),
  } as unknown as InformerFactory
  const random = new SeededRandom('devices')
  const common = { clock: testClock(), random, logger: silentLogger }
  const options = { client, informers, ...common, featureGates }
  const devices = new DeviceClaims(options, () => {})
  const info = new NodeInfo('n')
  info.setNode(node({ name: 'n' }))
  const requests = { [GPU]: '1' }
  const pod = podOf({
    name: 'p',
    spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] },
  })
  client.put(resources.pods, pod)
  const reasons = (of = pod) => devices.filter.filter(of, { nodes: [] } as never)?.(info)
  return { client, cached, handlers, devices, info, pod, reasons }
}

test('a device that is promised as an extended resource is no other pods, until nothing comes of it', async () => {
  const { client, devices, info, pod, reasons } = world()
  const other = { ...pod, metadata: { ...pod.metadata, name: 'q', uid: 'q-uid' } }
  assert.deepEqual(reasons(), [])
  devices.promise(pod, info)
  assert.deepEqual(reasons(other), ['cannot allocate all claims'])
  devices.release(pod)
  assert.deepEqual(reasons(other), [])
  assert.deepEqual(client.requests, [])
})

test('devices of an invalid pool serve nobody, and the node says so', () => {
  const { cached, handlers, reasons } = world()
  const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
  cached.set('resourceslices', [
    slice('s', [{ name: 'x' }], { pool }),
    slice('t', [{ name: 'x' }], { pool }),
  ])
  handlers.get('resourceslices')?.onAdd()
  assert.deepEqual(reasons(), ['invalid resource pools were encountered'])
  const half = slice('t', [{ name: 'y' }], { pool: { ...pool, name: 'half' } })
  cached.set('resourceslices', [slice('s', [{ name: 'x' }]), half])
  handlers.get('resourceslices')?.onAdd()
  assert.deepEqual(reasons(), [])
})

test('a rule keeps pods from devices as soon as it comes, with its gate', () => {
  const rule = { metadata: { name: 'r' }, spec: { deviceSelector: {}, taint: NO_EXECUTE } }
  for (const [isOn, wanted] of [
    [true, ['cannot allocate all claims']],
    [false, []],
  ] as const) {
    const { cached, handlers, reasons } = world({ DRADeviceTaintRules: isOn })
    assert.deepEqual(reasons(), [])
    cached.set('devicetaintrules', [rule])
    handlers.get('devicetaintrules')?.onAdd()
    assert.deepEqual(reasons(), wanted)
  }
})

test('a claim that was made for a pod that is not bound then is deleted', async () => {
  const { client, devices, info, pod } = world()
  client.onRequest = ({ verb, path, body }) => {
    if (verb === 'create' && path.includes('resourceclaims')) {
      const claim = body as ResourceClaim
      const metadata = { ...claim.metadata, name: 'made' }
      return client.put(resources.resourceclaims, { ...claim, metadata })
    }
    if (verb === 'patch' && path.includes('pods')) throw statusError(500, 'InternalError')
    return undefined
  }
  devices.promise(pod, info)
  await assert.rejects(devices.bind(pod), /InternalError/)
  devices.release(pod)
  for (let turns = 0; turns < 20; turns++) await Promise.resolve()
  const verbs = client.requests.map(({ verb }) => verb)
  assert.deepEqual(verbs.slice(-3), ['get', 'update', 'delete'])
  const claims = client.resource(resources.resourceclaims, pod.metadata?.namespace)
  const { metadata, status } = await claims.get('made')
  // resourceclaim-controller takes the finalizer off.
  assert.notEqual(metadata?.deletionTimestamp, undefined)
  assert.equal(status?.allocation, undefined)
})

test('more devices than a claim can get are an error, which names the claim that is not made yet', () => {
  const { reasons, pod } = world()
  const limits = (count: string) => ({ requests: { [GPU]: count } })
  const container = (name: string, count: string) => ({
    name,
    image: 'x',
    resources: limits(count),
  })
  const asking = (...counts: readonly string[]): typeof pod => ({
    ...pod,
    spec: { containers: counts.map((count, at) => container(`c${at}`, count)) },
  })
  assert.deepEqual(reasons(asking('20', '12')), ['cannot allocate all claims'])
  assert.throws(() => reasons(asking('90', '10')), {
    constructor: FilterError,
    message:
      'running "DynamicResources" filter plugin: claim default/<extended-resources>: number of requested devices 100 exceeds the claim limit of 32',
  })
})

test('a node that counts the resource is not asked for devices', async () => {
  const { devices, info, pod, client, reasons } = world()
  assert.equal(devices.isServed(info, GPU), true)
  assert.equal(devices.isServed(info, 'none.com/x'), false)
  info.setNode(node({ name: 'n', allocatable: { [GPU]: '1' } }))
  assert.equal(devices.isServed(info, GPU), false)
  assert.deepEqual(reasons(), [])
  devices.promise(pod, info)
  await devices.bind(pod)
  assert.deepEqual(client.requests, [])
})

test('the node is told before the binding while a claim is not reserved for the pod, or devices might serve it', () => {
  const { cached, devices, pod } = world()
  assert.equal(devices.isNominating(pod), true)
  const plain = podOf({ name: 'p' })
  assert.equal(devices.isNominating(plain), false)
  const resourceClaims = [{ name: 'r', resourceClaimName: 'claim' }]
  const user = podOf({ name: 'p', namespace: 'ns', spec: { resourceClaims } })
  const allocated: ResourceClaim = { ...claim({}), status: { allocation: {} } }
  cached.set('resourceclaims', [allocated])
  assert.equal(devices.isNominating(user), true)
  const reservedFor = [{ resource: 'pods', name: 'p', uid: user.metadata?.uid ?? '' }]
  const reserved: ResourceClaim = { ...claim({}), status: { allocation: {}, reservedFor } }
  cached.set('resourceclaims', [reserved])
  assert.equal(devices.isNominating(user), false)
})

test('a claim that somebody else allocated once the node was chosen keeps that allocation', async () => {
  const { client, cached, devices, info } = world()
  const pod = podOf({
    name: 'q',
    spec: { resourceClaims: [{ name: 'g', resourceClaimName: 'k' }] },
  })
  const metadata = { ...pod.metadata, name: 'k', uid: 'k-uid' }
  const request = { name: 'r', exactly: { deviceClassName: 'c' } }
  const spec = { devices: { requests: [request] } }
  const created = client.put(resources.resourceclaims, { metadata, spec })
  cached.set('resourceclaims', [created])
  devices.promise(pod, info)
  const results = [{ request: 'r', driver: 'd', pool: 'elsewhere', device: 'y' }]
  const status = { allocation: { devices: { results } } }
  const allocated = client.put(resources.resourceclaims, { ...created, status })
  cached.set('resourceclaims', [allocated])
  await assert.rejects(devices.bind(pod), /k was allocated or deallocated in the meantime/)
  const claims = client.resource(resources.resourceclaims, pod.metadata?.namespace)
  assert.deepEqual((await claims.get('k')).status, status)
})

test('pods that are tried together use a claim that one of them is promised; others do not, nor is it given back', () => {
  const { cached, client, devices, info, reasons } = world()
  cached.set('resourceclaims', [claim({ requests: [request('r')] }, 'shared')])
  const spec = {
    containers: [{ name: 'c', image: 'x' }],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }],
  }
  const [first, second] = ['a', 'b'].map((name) => podOf({ name, namespace: 'ns', spec }))
  devices.together([first!, second!])
  devices.promise(first!, info)
  assert.equal(devices.problem(second!), undefined)
  assert.deepEqual(reasons(second), [])
  const elsewhere = {
    node: 'm',
    reasons: ['resourceclaim not available on the node'],
    curable: false,
  }
  assert.equal(devices.reconsider(second!, [elsewhere]), 'still not schedulable')
  devices.together([])
  assert.match(devices.problem(second!) ?? '', /in the process of being allocated/)
  devices.takeBack(first!)
  assert.equal(devices.problem(second!), undefined)
  assert.deepEqual(client.requests, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../generated/core-v1.ts'
import type { KubernetesObject } from '../object.ts'
import { objectCountEvaluator, standardEvaluators } from './evaluators.ts'
import { evaluatorNamed, NOW_MS, usageOf } from './fixtures.ts'
import { isCountedResource, objectCountName } from './resource-names.ts'
import { excessOf, sameResourceLists } from './resource-lists.ts'

const ports = [{ port: 80 }, { port: 81, nodePort: 30_000 }]

test('Given services, PVCs and claims, then usage tables', () => {
  for (const [spec, nodePorts, loadBalancers] of [
    [{ type: 'ClusterIP', ports }, '0', '0'],
    [{ type: 'ExternalName' }, '0', '0'],
    [{ type: 'NodePort', ports }, '2', '0'],
    [{ type: 'LoadBalancer', ports }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: true }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }, '1', '1'],
  ] as const) {
    assert.deepEqual(usageOf('services', { spec }), {
      'count/services': '1',
      services: '1',
      'services.nodeports': nodePorts,
      'services.loadbalancers': loadBalancers,
    })
  }
  const claim = (storage: string, more: object = {}, metadata: object = {}, status: object = {}) =>
    usageOf('persistentvolumeclaims', {
      metadata,
      spec: { resources: { requests: { storage } }, ...more },
      status,
    })
  const counts = { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' }
  const ofClass = (name: string, storage: string) => ({
    [`${name}.storageclass.storage.k8s.io/persistentvolumeclaims`]: '1',
    [`${name}.storageclass.storage.k8s.io/requests.storage`]: storage,
  })
  assert.deepEqual(claim('1Gi'), { ...counts, 'requests.storage': '1Gi' })
  assert.deepEqual(claim('1500m', { storageClassName: 'fast' }), {
    ...counts,
    'requests.storage': '2',
    ...ofClass('fast', '2'),
  })
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' }
  assert.deepEqual(claim('1Gi', { storageClassName: 'fast' }, { annotations }), {
    ...counts,
    'requests.storage': '1Gi',
    ...ofClass('old', '1Gi'),
  })
  const allocated = (storage: string) => ({ allocatedResources: { storage } })
  assert.equal(claim('1Gi', {}, {}, allocated('2Gi'))['requests.storage'], '2Gi')
  assert.equal(claim('3Gi', {}, {}, allocated('2Gi'))['requests.storage'], '3Gi')
  assert.deepEqual(usageOf('persistentvolumeclaims', { spec: {} }), counts)
})

const exactly = (deviceClassName: string, more: object = {}) => ({
  exactly: { deviceClassName, ...more },
})
const claimOf = (requests: readonly object[], metadata: object = {}) => ({
  metadata: { namespace: 'a', ...metadata },
  spec: { devices: { requests } },
})
const count = { 'count/resourceclaims.resource.k8s.io': '1' }
const devices = (name: string) => `${name}.deviceclass.resource.k8s.io/devices`
const implicit = (name: string) => `requests.deviceclass.resource.kubernetes.io/${name}`

test('resource claims: requests are summed, of alternatives the maximum per class counts', () => {
  const requests = [
    exactly('x', { count: 3 }),
    exactly('x', { allocationMode: 'All' }),
    {
      firstAvailable: [
        { deviceClassName: 'y', count: 2 },
        { deviceClassName: 'x', count: 5 },
        { deviceClassName: 'y', count: 4 },
      ],
    },
    exactly('x'),
    exactly('z', { allocationMode: 'SomeDay' }),
  ]
  const facts = {
    extendedResourceOf: (name: string) => (name === 'x' ? 'example.com/gpu' : undefined),
  }
  assert.deepEqual(usageOf('resourceclaims', claimOf(requests), facts), {
    ...count,
    [devices('x')]: '41',
    [devices('y')]: '4',
    [devices('z')]: '0',
    [implicit('x')]: '41',
    [implicit('y')]: '4',
    [implicit('z')]: '0',
    'requests.example.com/gpu': '41',
  })
})

test('resource claims that were made for a Pod: what the Pod already requests is not charged twice', () => {
  const extended = (annotation: string, uid: string, kind = 'Pod') =>
    claimOf([exactly('x', { count: 3 })], {
      annotations: { 'resource.kubernetes.io/extended-resource-claim': annotation },
      ownerReferences: [{ apiVersion: 'v1', kind, name: 'p', uid, controller: true }],
    })
  const pod: Pod = {
    metadata: { uid: 'u1' },
    spec: { containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '2' } } }] },
  }
  const facts = {
    extendedResourceOf: () => 'example.com/gpu',
    pod: (namespace: string, name: string) => (`${namespace}/${name}` === 'a/p' ? pod : undefined),
  }
  const charged = (claim: object) => {
    const usage = usageOf('resourceclaims', claim, facts)
    return [usage['requests.example.com/gpu'], usage[implicit('x')], usage[devices('x')]]
  }
  assert.deepEqual(charged(extended('true', 'u1')), ['1', '3', '3'])
  assert.deepEqual(charged(extended('false', 'u1')), ['3', '3', '3'])
  assert.deepEqual(charged(extended('true', 'u2')), ['3', '3', '3'], 'another Pod of this name')
  assert.deepEqual(charged(extended('true', 'u1', 'Job')), ['3', '3', '3'])
})

test('without gate DRAExtendedResource claims count no extended resources', () => {
  const claims = standardEvaluators({ extendedResources: false }).find(
    ({ resource }) => resource.group === 'resource.k8s.io',
  )!
  const claim = claimOf([exactly('x')]) as KubernetesObject
  const facts = { nowMs: NOW_MS, extendedResourceOf: () => 'example.com/gpu' }
  assert.deepEqual(claims.usage(claim, facts), { ...count, [devices('x')]: '1' })
  assert.ok(!claims.counts('requests.example.com/gpu'))
  assert.ok(evaluatorNamed('resourceclaims').counts('requests.example.com/gpu'))
})

test('Object counts use `count/deployments.apps`, not `count/deployments`', () => {
  const deployments = objectCountEvaluator({ group: 'apps', resource: 'deployments' })
  assert.ok(
    deployments.counts('count/deployments.apps') && !deployments.counts('count/deployments'),
  )
  assert.equal(objectCountName({ group: '', resource: 'pods' }), 'count/pods')
  assert.deepEqual(deployments.usage({}, { nowMs: 0 }), { 'count/deployments.apps': '1' })
})

test('configmaps, secrets, resourcequotas and replicationcontrollers are counted under two names', () => {
  for (const name of ['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers'])
    assert.deepEqual(usageOf(name, {}), { [name]: '1', [`count/${name}`]: '1' })
})

test('names that claims and services are counted under', () => {
  const claims = evaluatorNamed('persistentvolumeclaims')
  assert.ok(claims.counts('a.b.storageclass.storage.k8s.io/requests.storage'))
  assert.ok(!claims.counts('a.storageclass.storage.k8s.io/other'))
  assert.ok(!claims.counts('requests.cpu'))
  const services = evaluatorNamed('services')
  assert.ok(services.counts('services.nodeports') && !services.counts('services.externalips'))
})

test('operations that may raise usage', () => {
  const object: KubernetesObject = {}
  const admits = (resource: string, operation: 'CREATE' | 'UPDATE', subresource = '') =>
    evaluatorNamed(resource).admits({ operation, subresource, object, oldObject: object })
  for (const resource of ['services', 'persistentvolumeclaims', 'resourceclaims'])
    assert.ok(admits(resource, 'CREATE') && admits(resource, 'UPDATE'), resource)
  assert.ok(admits('configmaps', 'CREATE') && !admits('configmaps', 'UPDATE'))
  for (const resource of ['services', 'persistentvolumeclaims', 'resourceclaims', 'configmaps'])
    assert.ok(!admits(resource, 'UPDATE', 'status'), `${resource}/status`)
})

test('status of PVCs: when allocated storage or class names change', () => {
  const claim = (storage: string, current = '') =>
    ({
      status: { allocatedResources: { storage }, currentVolumeAttributesClassName: current },
    }) as KubernetesObject
  const admits = (object: KubernetesObject, oldObject: KubernetesObject) =>
    evaluatorNamed('persistentvolumeclaims').admits({
      operation: 'UPDATE',
      subresource: 'status',
      object,
      oldObject,
    })
  assert.ok(admits(claim('2Gi'), claim('1Gi')))
  assert.ok(!admits(claim('1024Mi'), claim('1Gi')))
  assert.ok(admits(claim('1Gi', 'gold'), claim('1Gi')))
  assert.ok(!admits(claim('1Gi', 'gold'), claim('1Gi', 'gold')))
})

test('updates that change usage: the type of Services, any of PVCs, none of others', () => {
  const service = (type: string) => ({ spec: { type } }) as KubernetesObject
  const changes = (resource: string, previous: KubernetesObject, current: KubernetesObject) =>
    evaluatorNamed(resource).changesUsage?.(previous, current, NOW_MS) ?? false
  assert.ok(changes('services', service('NodePort'), service('ClusterIP')))
  assert.ok(changes('services', service('NodePort'), service('LoadBalancer')))
  assert.ok(!changes('services', service('ExternalName'), service('ClusterIP')))
  assert.ok(changes('persistentvolumeclaims', {}, {}))
  assert.ok(!changes('configmaps', {}, {}) && !changes('resourceclaims', {}, {}))
})

test('events, reviews and what cannot be stored are never counted', () => {
  for (const [group, resource] of [
    ['', 'events'],
    ['events.k8s.io', 'events'],
    ['', 'bindings'],
    ['', 'componentstatuses'],
    ['authentication.k8s.io', 'tokenreviews'],
    ['authorization.k8s.io', 'localsubjectaccessreviews'],
  ] as const)
    assert.ok(!isCountedResource({ group, resource }), resource)
  assert.ok(isCountedResource({ group: 'example.com', resource: 'events' }))
  assert.ok(isCountedResource({ group: '', resource: 'pods' }))
})

test('Quantities compare by value: `1` equals `1000m`', () => {
  assert.ok(sameResourceLists({ cpu: '1' }, { cpu: '1000m' }))
  assert.ok(!sameResourceLists({ cpu: '1' }, { cpu: '2' }))
  assert.ok(!sameResourceLists({ cpu: '1' }, { memory: '1' }))
  assert.ok(!sameResourceLists({ cpu: '1' }, {}) && !sameResourceLists({}, { cpu: '1' }))
  assert.ok(sameResourceLists(undefined, {}))
})

test('an excess is never negative, and never of what only the smaller list has', () => {
  assert.deepEqual(excessOf({ a: '3', b: '1', c: '1' }, { a: '1', b: '2', d: '5' }), {
    a: '2',
    c: '1',
  })
})

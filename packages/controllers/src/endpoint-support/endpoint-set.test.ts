import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from '@gyropilot/api'
import { EndpointSet, sameState } from './endpoint-set.ts'

const endpoint = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  ...more,
})
const [a, b, c] = [endpoint('10.0.0.1'), endpoint('10.0.0.2'), endpoint('10.0.0.3')]

test('members keep the order in which they came', () => {
  const set = new EndpointSet([c, a, b])
  assert.deepEqual([set.size, set.list()], [3, [c, a, b]])
})

test('a member is taken once, by its identity and whatever its state', () => {
  const ready = endpoint('10.0.0.1', { conditions: { ready: true } })
  const set = new EndpointSet([ready, b])
  assert.equal(set.take(a), ready)
  assert.equal(set.take(a), undefined)
  assert.deepEqual(set.list(), [b])
})

test('the first members are taken, as many as are asked for and there are', () => {
  const set = new EndpointSet([a, b, c])
  assert.deepEqual(set.takeFirst(0), [])
  assert.deepEqual(set.takeFirst(2), [a, b])
  assert.deepEqual(set.list(), [c])
  assert.deepEqual([set.takeFirst(5), set.size], [[c], 0])
})

test('a copy goes its own way', () => {
  const set = new EndpointSet([a, b])
  const copy = set.copy()
  copy.take(a)
  copy.add(c)
  assert.deepEqual(
    [set.list(), copy.list()],
    [
      [a, b],
      [b, c],
    ],
  )
})

const target = { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u' }
const OTHERS: readonly (readonly [string, Endpoint])[] = [
  ['address', endpoint('10.0.0.9', { hostname: 'h', targetRef: target })],
  ['further address', { addresses: ['10.0.0.1', '10.0.0.9'], hostname: 'h', targetRef: target }],
  ['hostname', endpoint('10.0.0.1', { hostname: 'other', targetRef: target })],
  ['no hostname', endpoint('10.0.0.1', { targetRef: target })],
  ['pod', endpoint('10.0.0.1', { hostname: 'h', targetRef: { ...target, name: 'q' } })],
  ['namespace', endpoint('10.0.0.1', { hostname: 'h', targetRef: { ...target, namespace: 'm' } })],
  ['no pod', endpoint('10.0.0.1', { hostname: 'h' })],
]
for (const [title, other] of OTHERS)
  test(`another identity: ${title}`, () => {
    const set = new EndpointSet([endpoint('10.0.0.1', { hostname: 'h', targetRef: target }), other])
    assert.equal(set.size, 2)
  })

test('the same identity: addresses in another order, the uid of the pod', () => {
  const set = new EndpointSet([{ addresses: ['10.0.0.1', '10.0.0.2'], targetRef: target }])
  set.add({ addresses: ['10.0.0.2', '10.0.0.1'], targetRef: { ...target, uid: 'later' } })
  assert.equal(set.size, 1)
})

const full: Endpoint = {
  addresses: ['10.0.0.1'],
  nodeName: 'n',
  zone: 'z',
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { ...target, apiVersion: 'v1', fieldPath: 'f', resourceVersion: '1' },
}

test('the state is the same whatever the version of the pod, the hints and empty names', () => {
  const targetRef = { ...full.targetRef, resourceVersion: '2' }
  assert.ok(sameState(full, { ...full, targetRef, hints: { forZones: [{ name: 'z' }] } }))
  assert.ok(sameState(a, { ...a, targetRef: { uid: '', name: '', namespace: '', kind: '' } }))
  assert.ok(sameState({ ...a, targetRef: { apiVersion: '', fieldPath: '' } }, a))
})

const CHANGES: readonly (readonly [string, Partial<Endpoint>])[] = [
  ['node', { nodeName: 'm' }],
  ['zone', { zone: 'y' }],
  ['readiness', { conditions: { ...full.conditions, ready: false } }],
  ['serving', { conditions: { ...full.conditions, serving: false } }],
  ['terminating', { conditions: { ...full.conditions, terminating: true } }],
  ['no conditions', { conditions: undefined }],
  ['no pod', { targetRef: undefined }],
  ...(['uid', 'name', 'namespace', 'kind', 'apiVersion', 'fieldPath'] as const).map(
    (field) => [`${field} of the pod`, { targetRef: { ...full.targetRef, [field]: 'x' } }] as const,
  ),
]
for (const [title, change] of CHANGES)
  test(`another state: ${title}`, () => {
    assert.equal(sameState(full, { ...full, ...change }), false)
    assert.equal(sameState({ ...full, ...change }, full), false)
  })

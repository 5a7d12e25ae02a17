import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { AllocationResult, Pod, ResourceClaim, ResourceClaimStatus } from '@gyropilot/api'
import { FakeServer, statusError, testClock } from '@gyropilot/runtime/testing'
import { ClaimWrites, FINALIZER } from './claim-writes.ts'
import { claim as claimFor } from './fixtures.ts'

const pod: Pod = { metadata: { name: 'p', namespace: 'ns', uid: 'p-uid' } }
const user = { resource: 'pods', name: 'p', uid: 'p-uid' }
const ALLOCATION: AllocationResult = {
  devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'p', device: 'x' }] },
}

/** A server with this claim, which is handed to the writes as it was read. */
function world(status: ResourceClaimStatus = {}, metadata: ResourceClaim['metadata'] = {}) {
  const client = new FakeServer()
  const clock = testClock()
  const given = claimFor({})
  const stored = client.put(resources.resourceclaims, {
    ...given,
    metadata: { ...given.metadata, ...metadata },
    status,
  })
  return {
    client,
    clock,
    stored,
    writes: new ClaimWrites(client, clock),
    change: (changed: Partial<ResourceClaim>) =>
      client.put(resources.resourceclaims, { ...stored, ...changed }),
    updates: () =>
      client.requested('update').map(({ options }) => options['subresource'] ?? 'claim'),
  }
}

test('a claim is held first, then allocated and reserved in one write', async () => {
  const { writes, stored, updates } = world()
  const taken = await writes.take(stored, pod, ALLOCATION)
  assert.deepEqual(updates(), ['claim', 'status'])
  assert.deepEqual(taken.metadata?.finalizers, [FINALIZER])
  assert.deepEqual(taken.status, {
    allocation: { ...ALLOCATION, allocationTimestamp: '2026-01-01T00:00:00Z' },
    reservedFor: [user],
  })
})

test('a claim that is held or allocated or reserved already is written for what is missing', async () => {
  const held = world({}, { finalizers: [FINALIZER] })
  await held.writes.take(held.stored, pod, ALLOCATION)
  assert.deepEqual(held.updates(), ['status'])
  const other = { resource: 'pods', name: 'q', uid: 'q-uid' }
  const shared = world({ allocation: ALLOCATION, reservedFor: [other] })
  const taken = await shared.writes.take(shared.stored, pod, undefined)
  assert.deepEqual(taken.status, { allocation: ALLOCATION, reservedFor: [other, user] })
  const own = world({ allocation: ALLOCATION, reservedFor: [user] })
  await own.writes.take(own.stored, pod, undefined)
  assert.deepEqual(own.updates(), [])
})

test('a conflict is tried again with what is there, three times', async () => {
  const once = world()
  once.change({ metadata: { ...once.stored.metadata, labels: { new: 'yes' } } })
  const taken = await once.writes.take(once.stored, pod, ALLOCATION)
  assert.deepEqual([taken.metadata?.labels, taken.status?.reservedFor], [{ new: 'yes' }, [user]])
  const always = world()
  always.client.onRequest = ({ verb }) => {
    if (verb === 'update') throw statusError(409, 'Conflict', 'changed')
    return undefined
  }
  await assert.rejects(always.writes.take(always.stored, pod, ALLOCATION), /changed/)
  assert.equal(always.updates().length, 4)
})

test('a claim that became another one meanwhile is an error', async () => {
  const cases: readonly [Partial<ResourceClaim>, RegExp][] = [
    [{ metadata: { name: 'claim', namespace: 'ns', uid: 'later' } }, /was replaced/],
    [
      { metadata: { ...world().stored.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      /got deleted in the meantime/,
    ],
    [{ status: { allocation: ALLOCATION } }, /was allocated or deallocated in the meantime/],
  ]
  for (const [change, text] of cases) {
    const each = world()
    each.change(change)
    await assert.rejects(each.writes.take(each.stored, pod, ALLOCATION), text)
  }
})

test('devices that are made ready are waited for, until they fail or for ten minutes', async () => {
  const [result] = ALLOCATION.devices!.results!
  const slow = {
    devices: {
      results: [{ ...result!, bindingConditions: ['Up'], bindingFailureConditions: ['Down'] }],
    },
  }
  const told = (type: string, status: 'True' | 'False'): ResourceClaim => {
    const condition = { type, status, reason: 'r', message: '', lastTransitionTime: '' }
    const device = { driver: 'd.example.com', pool: 'p', device: 'x', conditions: [condition] }
    return { ...claimFor({}), status: { allocation: slow, devices: [device] } }
  }
  const { writes, clock } = world()
  let latest = told('Up', 'False')
  const waiting = (signal = new AbortController().signal): Promise<string> =>
    writes
      .whenReady([claimFor({}), latest], () => latest, signal)
      .then(
        () => 'ready',
        (error: Error) => error.message,
      )
  const ready = waiting()
  await clock.advance(5_000)
  latest = told('Up', 'True')
  await clock.advance(1_000)
  assert.equal(await ready, 'ready')
  latest = told('Up', 'False')
  const failing = waiting()
  latest = told('Down', 'True')
  await clock.advance(1_000)
  assert.equal(await failing, 'claim ns/claim binding failed')
  latest = told('Up', 'False')
  const late = waiting()
  await clock.advance(600_000)
  assert.equal(await late, 'claim ns/claim binding timeout')
  latest = told('Up', 'False')
  const leaving = new AbortController()
  const givenUp = waiting(leaving.signal)
  leaving.abort(new Error('the pod is gone'))
  assert.equal(await givenUp, 'the pod is gone')
  latest = { ...claimFor({}), status: { allocation: ALLOCATION } }
  assert.equal(await waiting(), 'ready')
})

test('a claim for extended resources is created without its stand-in name, and the pod is told of it', async () => {
  const client = new FakeServer()
  client.put(resources.pods, pod)
  client.onRequest = ({ verb, body }) =>
    verb === 'create'
      ? { ...(body as ResourceClaim), metadata: { name: 'p-extended-resources-x' } }
      : undefined
  const writes = new ClaimWrites(client, testClock())
  const unmade = { metadata: { name: 'stand-in', generateName: 'g-', namespace: 'ns' }, spec: {} }
  const made = await writes.createExtended(unmade)
  assert.deepEqual(client.requested('create')[0]?.body, {
    metadata: { generateName: 'g-', namespace: 'ns' },
    spec: {},
  })
  const mappings = [{ containerName: 'c', requestName: 'r', resourceName: 'example.com/gpu' }]
  await writes.recordExtended(pod, made, mappings)
  const patch = client.requested('patch')[0]
  assert.equal(patch?.options['subresource'], 'status')
  assert.deepEqual((patch.body as { value: unknown }).value, {
    status: {
      extendedResourceClaimStatus: {
        requestMappings: mappings,
        resourceClaimName: 'p-extended-resources-x',
      },
    },
  })
  client.onRequest = () => {
    throw statusError(422, 'Invalid', 'too long')
  }
  await assert.rejects(
    writes.createExtended(unmade),
    /^Error: create claim for extended resources ns\/: too long$/,
  )
})

test('a claim that nothing came of gives its devices back and goes, unless it is another or gone', async () => {
  const { writes, client, stored, updates } = world({ allocation: ALLOCATION, reservedFor: [user] })
  await writes.undo(pod, [], { ...stored, metadata: { ...stored.metadata, uid: 'another' } })
  assert.deepEqual(client.requested('update', 'delete'), [])
  await writes.undo(pod, [], stored)
  assert.deepEqual(updates(), ['status'])
  assert.equal(client.requested('delete').length, 1)
  await writes.undo(pod, [], stored)
  assert.equal(client.requested('delete').length, 1)
})

test('the claim of a pod that is bound, though its binding seemed to fail, stays', async () => {
  const { client, writes, stored } = world({ allocation: ALLOCATION, reservedFor: [user] })
  const bound = client.put(resources.pods, { ...pod, spec: { containers: [], nodeName: 'n' } })
  await writes.undo(pod, [], stored)
  assert.deepEqual(client.requested('update', 'delete'), [])
  client.put(resources.pods, { ...bound, metadata: { ...bound.metadata, uid: 'later' } })
  await writes.undo(pod, [], stored)
  assert.equal(client.requested('delete').length, 1)
})

test('while it cannot be said whether the pod is bound its claim stays', async () => {
  const { client, writes, stored } = world({ allocation: ALLOCATION })
  client.onRequest = ({ path }) => {
    if (path.includes('pods')) throw statusError(500, 'InternalError')
    return undefined
  }
  await assert.rejects(writes.undo(pod, [], stored), /InternalError/)
  assert.deepEqual(client.requested('update', 'delete'), [])
})

test('of a claim that nothing came of only the reservation goes', async () => {
  const { client, writes, stored } = world({ allocation: ALLOCATION, reservedFor: [user] })
  const gone = { ...stored, metadata: { ...stored.metadata, name: 'gone' } }
  await writes.undo(pod, [gone, stored], undefined)
  const patches = client.requested('patch').map(({ path, options, body }) => [path, options, body])
  const reservedFor = [{ $patch: 'delete', uid: 'p-uid' }]
  const value = { metadata: { uid: 'claim-uid' }, status: { reservedFor } }
  const at = '/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims'
  const patch = { type: 'strategic', value }
  assert.deepEqual(patches, [
    [`${at}/gone`, { subresource: 'status' }, patch],
    [`${at}/claim`, { subresource: 'status' }, patch],
  ])
  assert.deepEqual(client.requested('update', 'delete'), [])
})

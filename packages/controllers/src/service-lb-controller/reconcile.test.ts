import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Service } from '@gyropilot/api'
import { ImplementedElsewhere, RetryLater } from '@gyropilot/cloud-provider'
import type { Verdict } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { answers, node, patchValue } from '../cloud-support/fixtures.ts'
import { refused } from '../workload-support/fixtures.ts'
import { CLEANUP_FINALIZER } from './config.ts'
import { service } from './fixtures.ts'
import type { ServiceOptions } from './fixtures.ts'
import { BalancerMemory } from './memory.ts'
import { reconcile } from './reconcile.ts'

const ingress = [{ ip: '1.1.1.1' }]
const CLOUD = {
  'loadBalancers.ensureLoadBalancer': { ingress },
  'loadBalancers.getLoadBalancer': { ingress },
  'loadBalancers.ensureLoadBalancerDeleted': undefined,
}
const no = new Error('no')

interface RunOptions extends Omit<DriveOptions, 'onOutside'> {
  readonly cloud?: Readonly<Record<string, unknown>>
  readonly nodes?: readonly Node[]
  readonly memory?: BalancerMemory
}

function run(of: Service | undefined, options: RunOptions = {}) {
  const { cloud = {}, nodes = [node('n')], memory = new BalancerMemory() } = options
  const observed = { key: 'ns/s', clusterName: 'c', service: of, backends: () => nodes, memory }
  const driven = drive(reconcile(observed), {
    ...options,
    onOutside: answers({ ...CLOUD, ...cloud }),
  })
  const steps = driven.effects.map((effect) => {
    if (effect.effect === 'outside') return effect.call.name.split('.')[1]
    if (effect.effect === 'event') return effect.event.reason
    return effect.effect === 'write' ? JSON.stringify(patchValue(effect.write)) : effect.effect
  })
  const verdict = (driven.result ?? {}) as Verdict
  return { ...driven, memory, steps, verdict, error: verdict.error as Error | undefined }
}

const ADD = `{"metadata":{"finalizers":["${CLEANUP_FINALIZER}"],"$setElementOrder/finalizers":["${CLEANUP_FINALIZER}"]}}`
const REMOVE = `{"metadata":{"$deleteFromPrimitiveList/finalizers":["${CLEANUP_FINALIZER}"],"$setElementOrder/finalizers":[]}}`
const STATUS = '{"status":{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}}'
const CLEARED = '{"status":{"loadBalancer":{"ingress":null}}}'

const ENSURED = ['EnsuringLoadBalancer', ADD, 'ensureLoadBalancer', 'EnsuredLoadBalancer', STATUS]
const CLEANED = ['getLoadBalancer', 'DeletingLoadBalancer', 'ensureLoadBalancerDeleted']

const syncs: readonly (readonly [string, ServiceOptions, readonly string[]])[] = [
  ['a new one', {}, ENSURED],
  ['of UDP', { ports: [{ port: 53, protocol: 'UDP' }] }, ENSURED],
  ['of SCTP', { ports: [{ port: 53, protocol: 'SCTP' }] }, ENSURED],
  ['one that has all', { isHeld: true, ingress }, ENSURED.filter((s) => s !== ADD && s !== STATUS)],
  [
    'with a class, after it had a balancer',
    { loadBalancerClass: 'c', isHeld: true, ingress },
    [...CLEANED, REMOVE, 'DeletedLoadBalancer', CLEARED],
  ],
  [
    'a ClusterIP that had one',
    { type: 'ClusterIP', isHeld: true, ingress },
    [...CLEANED, REMOVE, 'DeletedLoadBalancer', CLEARED],
  ],
  ['a ClusterIP without finalizer', { type: 'ClusterIP' }, [...CLEANED, 'DeletedLoadBalancer']],
  ['a deleted one', { isHeld: true, isDeleted: true }, [...CLEANED, REMOVE, 'DeletedLoadBalancer']],
]

test('Given Services of several types and protocols, with class, with finalizer, then ensure, delete or nothing happens and the finalizer is as expected', () => {
  for (const [what, options, steps] of syncs) {
    const ran = run(service(options))
    assert.deepEqual([ran.steps, ran.verdict], [steps, {}], what)
    const remembers = ran.memory.serviceOf('ns/s') !== undefined
    assert.equal(remembers, steps[0] === 'EnsuringLoadBalancer', what)
  }
})

test('DeletedLoadBalancer is emitted even when there was nothing to delete', () => {
  const { steps } = run(service({ isHeld: true, isDeleted: true }), {
    cloud: { 'loadBalancers.getLoadBalancer': undefined },
  })
  assert.deepEqual(steps, ['getLoadBalancer', REMOVE, 'DeletedLoadBalancer'])
})

test('all writes are patches of the status, of nothing but finalizers or addresses', () => {
  const { writes } = run(service())
  for (const write of writes) {
    assert.ok(write.verb === 'patch' && write.subresource === 'status')
    assert.deepEqual([write.namespace, write.name], ['ns', 's'])
  }
})

test('Given a Service with or without finalizer, then add and remove patches are right or absent', () => {
  const finalizers = ['a', CLEANUP_FINALIZER, 'b']
  const removed = run(service({ finalizers, isDeleted: true })).steps
  assert.ok(
    removed.includes(
      `{"metadata":{"$deleteFromPrimitiveList/finalizers":["${CLEANUP_FINALIZER}"],"$setElementOrder/finalizers":["a","b"]}}`,
    ),
  )
  const added = run(service({ finalizers: ['a'] })).steps
  assert.ok(
    added.includes(
      `{"metadata":{"finalizers":["${CLEANUP_FINALIZER}"],"$setElementOrder/finalizers":["a","${CLEANUP_FINALIZER}"]}}`,
    ),
  )
  assert.ok(!run(service({ isHeld: true })).steps.includes(ADD))
  assert.ok(!run(service({ type: 'ClusterIP' })).steps.includes(REMOVE))
})

test('Given equal and different status, then patch or none', () => {
  assert.ok(!run(service({ ingress })).steps.includes(STATUS))
  assert.ok(run(service({ ingress: [{ ip: '2.2.2.2' }] })).steps.includes(STATUS))
  const modes = [{ ip: '1.1.1.1', ipMode: 'VIP' }]
  assert.ok(run(service({ ingress: modes })).steps.includes(STATUS))
  const empty = run(service(), { cloud: { 'loadBalancers.ensureLoadBalancer': {} } })
  assert.equal(empty.writes.length, 1)
})

test('the finalizer is added before the provider is called, and the provider sees the Service without', () => {
  const { effects } = run(service())
  const call = effects.flatMap((e) => (e.effect === 'outside' ? [e.call] : []))[0]
  assert.deepEqual(call?.arguments, ['c', service(), [node('n')]])
})

test('no nodes are a warning, and the balancer is made all the same', () => {
  const { steps, events } = run(service(), { nodes: [] })
  assert.deepEqual(steps, ENSURED.toSpliced(2, 0, 'UnAvailableLoadBalancer'))
  assert.deepEqual(events[1], {
    type: 'Warning',
    reason: 'UnAvailableLoadBalancer',
    message: 'There are no available nodes for LoadBalancer',
  })
})

test('the nodes are remembered before the call, whatever comes of it', () => {
  const { memory } = run(service(), { cloud: { 'loadBalancers.ensureLoadBalancer': no } })
  assert.deepEqual(memory.backendsOf('ns/s'), [node('n')])
})

test('what is implemented elsewhere ends without status, and leaves the finalizer in place', () => {
  const elsewhere = new Error('x', { cause: new ImplementedElsewhere() })
  const ensured = run(service({ ingress }), {
    cloud: { 'loadBalancers.ensureLoadBalancer': elsewhere },
  })
  assert.deepEqual([ensured.steps, ensured.verdict], [ENSURED.slice(0, 3), {}])
  const deleted = run(service({ isHeld: true, isDeleted: true }), {
    cloud: { 'loadBalancers.ensureLoadBalancerDeleted': elsewhere },
  })
  assert.deepEqual(deleted.steps, [...CLEANED, REMOVE, 'DeletedLoadBalancer'])
})

const failures: readonly (readonly [ServiceOptions, RunOptions, string])[] = [
  [{}, { cloud: { 'loadBalancers.ensureLoadBalancer': no } }, 'failed to ensure load balancer: no'],
  [
    {},
    { cloud: { 'loadBalancers.ensureLoadBalancer': undefined } },
    'service status returned by EnsureLoadBalancer is nil',
  ],
  [
    { isHeld: true, isDeleted: true },
    { cloud: { 'loadBalancers.getLoadBalancer': no } },
    'failed to check if load balancer exists before cleanup: no',
  ],
  [
    { isHeld: true, isDeleted: true },
    { cloud: { 'loadBalancers.ensureLoadBalancerDeleted': no } },
    'failed to delete load balancer: no',
  ],
  [
    { isHeld: true, isDeleted: true },
    { onWrite: () => refused(500, 'InternalError', 'broken') },
    'failed to remove load balancer cleanup finalizer: broken',
  ],
  [
    {},
    { onWrite: () => refused(500, 'InternalError', 'broken') },
    'failed to add load balancer cleanup finalizer: broken',
  ],
]

test('every failure is an event and a retry, and the Service stays remembered', () => {
  for (const [options, how, message] of failures) {
    const { error, events, memory } = run(service(options), how)
    assert.equal(error?.message, message)
    const event = {
      type: 'Warning',
      reason: 'SyncLoadBalancerFailed',
      message: `Error syncing load balancer: ${message}`,
    }
    assert.deepEqual(events.at(-1), event)
    assert.ok(memory.serviceOf('ns/s') !== undefined)
  }
})

test('Given create or update with API conflict or not-found on the status patch, then error or success', () => {
  const onStatus = (code: number, reason: string) => (_: unknown, index: number) =>
    index === 1 ? refused(code, reason) : undefined
  const conflict = run(service(), { onWrite: onStatus(409, 'Conflict') })
  assert.equal(conflict.error?.message, 'failed to update load balancer status: Conflict')
  const gone = run(service(), { onWrite: onStatus(404, 'NotFound') })
  assert.deepEqual(gone.verdict, {})
})

test('Given invalid, missing and valid keys, then the sync result matches', () => {
  assert.deepEqual([run(undefined).steps, run(undefined).verdict], [[], {}])
  assert.deepEqual(run(service()).verdict, {})
})

function remembering(options: ServiceOptions): BalancerMemory {
  const memory = new BalancerMemory()
  memory.remember('ns/s', service(options))
  return memory
}

test('Given a vanished Service, then the balancer is deleted, or an event and retry on provider failure', () => {
  const memory = remembering({})
  const failed = run(undefined, {
    memory,
    cloud: { 'loadBalancers.ensureLoadBalancerDeleted': new ImplementedElsewhere() },
  })
  assert.deepEqual(failed.events.at(-1), {
    type: 'Warning',
    reason: 'DeleteLoadBalancerFailed',
    message: 'Error deleting load balancer: implemented by alternate to cloud provider',
  })
  assert.ok(failed.error instanceof ImplementedElsewhere)
  assert.ok(memory.serviceOf('ns/s') !== undefined)
  const done = run(undefined, { memory })
  assert.deepEqual(done.steps, [
    'DeletingLoadBalancer',
    'ensureLoadBalancerDeleted',
    'DeletedLoadBalancer',
  ])
  assert.equal(memory.serviceOf('ns/s'), undefined)
  assert.deepEqual(run(undefined, { memory }).steps, [])
})

test('a vanished Service that wanted none is forgotten', () => {
  const memory = remembering({ type: 'ClusterIP' })
  assert.deepEqual(run(undefined, { memory }).steps, [])
  assert.equal(memory.serviceOf('ns/s'), undefined)
  const followed = run(service({ uid: 'new' }), {
    memory: remembering({ type: 'ClusterIP', uid: 'old' }),
  })
  assert.deepEqual(followed.steps, ENSURED, 'nor is it deleted where another has its name')
})

test('a Service of the same name with another uid has the former one deleted first', () => {
  const { steps, effects, memory } = run(service({ uid: 'new' }), {
    memory: remembering({ uid: 'old' }),
  })
  const deletion = ['DeletingLoadBalancer', 'ensureLoadBalancerDeleted', 'DeletedLoadBalancer']
  assert.deepEqual(steps, [...deletion, ...ENSURED])
  const uids = effects.flatMap((e) =>
    e.effect === 'outside' ? [(e.call.arguments[1] as Service).metadata?.uid] : [],
  )
  assert.deepEqual(uids, ['old', 'new'])
  assert.equal(memory.serviceOf('ns/s')?.metadata?.uid, 'new')
  const failed = run(service({ uid: 'new' }), {
    memory: remembering({ uid: 'old' }),
    cloud: { 'loadBalancers.ensureLoadBalancerDeleted': no },
  })
  assert.deepEqual(failed.steps, [...deletion.slice(0, 2), 'DeleteLoadBalancerFailed'])
  assert.equal(failed.error, no)
  assert.equal(failed.memory.serviceOf('ns/s')?.metadata?.uid, 'old')
})

test('Given success, a plain error and a retry error, then forget, backoff, and the given delay', () => {
  const later = new Error('busy', { cause: new RetryLater('quota', 42_000) })
  const ensure = (answer: unknown) =>
    run(service(), { cloud: { 'loadBalancers.ensureLoadBalancer': answer } }).verdict
  assert.deepEqual(ensure({ ingress }), {})
  assert.deepEqual(Object.keys(ensure(no)), ['error'])
  assert.deepEqual(ensure(later), { requeueAfterMs: 42_000, keepsFailures: true })
  const vanished = run(undefined, {
    memory: remembering({}),
    cloud: { 'loadBalancers.ensureLoadBalancerDeleted': later },
  })
  assert.deepEqual(vanished.verdict, { requeueAfterMs: 42_000, keepsFailures: true })
})

test('in the cleanup branch a retry error is a plain one', () => {
  const later = new RetryLater('quota', 42_000)
  const { error, verdict } = run(service({ isHeld: true, isDeleted: true }), {
    cloud: { 'loadBalancers.ensureLoadBalancerDeleted': later },
  })
  assert.equal(error?.message, 'failed to delete load balancer: quota')
  assert.deepEqual(Object.keys(verdict), ['error'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { START_MS, condition, node, pod } from './fixtures.ts'
import type { HealthRecord } from './heartbeat.ts'
import { nodeLogic, podLogic, reconcileNode } from './node-logic.ts'

const lost: HealthRecord = {
  ready: condition('Ready', 'Unknown'),
  lease: undefined,
  probeMs: START_MS,
}
const { metadata, spec, ...rest } = pod('waiting', '')
const unbound: Pod = { ...rest, metadata, spec: { containers: spec!.containers } }

test('a node is looked at whenever it comes or changes, and not when it goes', () => {
  const n = node('n')
  const logic = nodeLogic({ informers: fakeInformers([n]) })
  const [watch] = logic.watches
  assert.deepEqual([logic.queueName, logic.workers], ['node_lifecycle_controller', 8])
  assert.deepEqual([...watch!.onAdd!(n)], ['n'])
  assert.deepEqual([...watch!.onUpdate!(n, n)], ['n'])
  assert.equal(watch!.onDelete, undefined)
  assert.equal(logic.observe('n'), n)
})

test('an error of taints or labels is told and not tried again; labels are set all the same', () => {
  const labels = { 'kubernetes.io/os': 'linux' }
  const n = node('n', { ready: 'False', labels })
  const onRead = () => ({ ok: true, object: n }) as const
  for (const failing of [0, 1]) {
    const { result, writes } = drive(reconcileNode(n), {
      onRead,
      onWrite: (_, index) =>
        index === failing ? refused(500, 'InternalError', `no ${index}`) : undefined,
    })
    assert.equal(writes.length, 2)
    assert.ok(result)
    assert.deepEqual([(result.error as Error).message, result.terminal], [`no ${failing}`, true])
  }
  assert.equal(drive(reconcileNode(n), { onRead }).result, undefined)
})

test('a pod is looked at when it is bound', () => {
  const bound = pod('p', 'n')
  const logic = podLogic({ informers: fakeInformers([]) }, () => undefined, 5_000)
  const [watch] = logic.watches
  assert.deepEqual([logic.queueName, logic.workers], ['node_lifecycle_controller_pods', 4])
  assert.equal(logic.alsoAwait?.length, 1)
  assert.deepEqual([...watch!.onAdd!(bound)], ['ns/p'])
  assert.deepEqual([...watch!.onAdd!(unbound)], [])
  const before = { ...unbound, metadata: bound.metadata }
  assert.deepEqual([...watch!.onUpdate!(before, bound)], ['ns/p'])
  assert.deepEqual([...watch!.onUpdate!(bound, bound)], [])
})

const verdicts: readonly (readonly [string, HealthRecord | undefined, boolean, number, RegExp?])[] =
  [
    ['a node that was not looked at yet', undefined, false, 0],
    ['a node that the cache has not', lost, false, 0, /^node n is not in the cache$/],
    ['a node that says nothing', { ...lost, ready: undefined }, true, 0],
    ['a node that is ready', { ...lost, ready: condition('Ready', 'True') }, true, 0],
    ['a node that is not ready', { ...lost, ready: condition('Ready', 'False') }, true, 1],
    ['a node that is lost', lost, true, 1],
  ]
for (const [title, record, isCached, writeCount, error] of verdicts) {
  test(`a pod that comes to ${title}: ${writeCount === 0 ? 'left alone' : 'not ready'}`, () => {
    const cached = isCached ? [pod('p', 'n'), node('n')] : [pod('p', 'n')]
    const asked: string[] = []
    const recordOf = (name: string): HealthRecord | undefined => {
      asked.push(name)
      return record
    }
    const logic = podLogic({ informers: fakeInformers(cached) }, recordOf, 5_000)
    const { result, writes } = drive(logic.reconcile(logic.observe('ns/p')!))
    assert.deepEqual([asked, writes.length], [['n'], writeCount])
    assert.match((result?.error as Error | undefined)?.message ?? '', error ?? /^$/)
  })
}

test('a pod that is seen before its node was looked at waits for that; of a node that is gone it does not', () => {
  let record: HealthRecord | undefined
  const up: Node = { ...node('up'), status: { conditions: [condition('Ready', 'True')] } }
  const informers = fakeInformers([pod('p', 'n'), node('n'), pod('q', 'gone'), pod('r', 'up'), up])
  const logic = podLogic({ informers }, () => record, 5_000)
  const sync = (key: string) => drive(logic.reconcile(logic.observe(key)!))
  assert.deepEqual(sync('ns/p').result, { requeueAfterMs: 5_000 })
  assert.equal(sync('ns/q').result, undefined)
  assert.equal(sync('ns/r').result, undefined, 'of a node that is up neither')
  record = lost
  assert.equal(sync('ns/p').writes.length, 1)
})

test('a pod that comes to a ready node is left alone, unless the node was down when it was last looked at', () => {
  const up: Node = { ...node('n'), status: { conditions: [condition('Ready', 'True')] } }
  const down: Node = { ...node('n'), status: { conditions: [condition('Ready', 'Unknown')] } }
  const ready = { ...lost, ready: condition('Ready', 'True') }
  const keys = (cached: readonly Node[], record: HealthRecord | undefined): unknown[] => {
    const { watches } = podLogic({ informers: fakeInformers([...cached]) }, () => record, 5_000)
    return [...watches[0]!.onUpdate!(unbound, pod('p', 'n'))]
  }
  assert.deepEqual(keys([up], undefined), [])
  assert.deepEqual(keys([up], ready), [])
  assert.deepEqual(keys([up], { ...lost, ready: undefined }), [])
  assert.deepEqual(keys([up], lost), ['ns/p'])
  assert.deepEqual(keys([down], ready), ['ns/p'])
  assert.deepEqual(keys([], undefined), ['ns/p'])
})

test('a namesake on the same node is another pod', () => {
  const [watch] = podLogic({ informers: fakeInformers() }, () => undefined, 5_000).watches
  const before = pod('p', 'n')
  const after = { ...before, metadata: { ...before.metadata, uid: 'another' } }
  assert.deepEqual([...watch!.onUpdate!(before, before)], [])
  assert.deepEqual([...watch!.onUpdate!(before, after)], [keyOf(after)])
})

test('a pod that is gone is nothing to look at; one that cannot be marked is tried again', () => {
  const logic = podLogic(
    { informers: fakeInformers([pod('p', 'n'), node('n')]) },
    () => lost,
    5_000,
  )
  assert.equal(logic.observe('ns/gone'), undefined)
  const onWrite = () => refused(500, 'InternalError', 'no')
  const { result } = drive(logic.reconcile(logic.observe('ns/p')!), { onWrite })
  assert.ok(result)
  assert.deepEqual([(result.error as Error).message, result.terminal], ['no', undefined])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { applyChanges } from './apply-changes.ts'
import type { Changes } from './apply-changes.ts'
import { targetNodeOf } from './daemon-pod.ts'
import { HASH, daemonPod, daemonSet } from './fixtures.ts'

function applied(changes: Partial<Changes>, options: DriveOptions = {}) {
  const target = { key: 'ns/ds', daemonSet: daemonSet(), hash: HASH }
  const { writes, effects, events, result } = drive(
    applyChanges(target, { create: [], remove: [], ...changes }),
    options,
  )
  return {
    result,
    events: events.map(({ reason }) => reason),
    created: writes.flatMap((write) =>
      write.verb === 'create' ? [targetNodeOf(write.object)] : [],
    ),
    deleted: writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : [])),
    batches: effects.flatMap((effect) =>
      effect.effect === 'writes' ? [[effect.order, effect.expectations?.kind]] : [],
    ),
  }
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`)
}

test('Given 5 nodes and no pods, when synced, then 5 creates with distinct metadata.name affinity', () => {
  const { created, events, result } = applied({ create: names(5) })
  assert.deepEqual(created, names(5))
  assert.deepEqual(events, Array<string>(5).fill('SuccessfulCreate'))
  assert.equal(result, undefined)
})

test('creates start slowly and are awaited, then deletes go all at once and are awaited', () => {
  const { batches, created, deleted } = applied({ create: ['a'], remove: [daemonPod('b')] })
  assert.deepEqual(batches, [
    ['slow-start', 'creations'],
    ['parallel', 'deletions'],
  ])
  assert.deepEqual([created, deleted], [['a'], ['on-b']])
})

test('nothing to do asks for nothing', () => {
  assert.deepEqual(applied({}).batches, [])
})

test('More than 250 nodes: the rest is created in later syncs.', () => {
  const remove = names(251).map((name) => daemonPod(name))
  const { created, deleted } = applied({ create: names(251), remove })
  assert.deepEqual([created.length, deleted.length], [250, 250])
})

test('Given failing creates, when synced, then attempts stop after the slow-start batch', () => {
  let attempts = 0
  const { result, events } = applied(
    { create: names(10) },
    {
      onWrite: () => {
        attempts += 1
        return attempts > 2 ? refused(500, 'InternalError', `no ${attempts}`) : undefined
      },
    },
  )
  assert.equal(attempts, 3)
  assert.equal((result as Error).message, 'no 3')
  assert.ok(!(result instanceof AggregateError), 'creates that were never tried have no error')
  assert.deepEqual(events, ['SuccessfulCreate', 'SuccessfulCreate', 'FailedCreate'])
})

test('a namespace that is being emptied is no error, a pod that is gone neither', () => {
  const terminating = refused(403, 'Forbidden', 'x', 'NamespaceTerminating')
  assert.equal(applied({ create: names(2) }, { onWrite: () => terminating }).result, undefined)
  const remove = [daemonPod('n')]
  assert.equal(applied({ remove }, { onWrite: () => refused(404, 'NotFound') }).result, undefined)
})

test('all errors are one, and deletes are tried also when creates failed', () => {
  const { result, deleted } = applied(
    { create: ['a'], remove: [daemonPod('b'), daemonPod('c')] },
    { onWrite: ({ verb }) => refused(500, 'InternalError', verb) },
  )
  assert.deepEqual(deleted, ['on-b', 'on-c'])
  assert.equal((result as Error).message, '[create, unable to delete pods: delete]')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { PersistentVolume } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { concernsProtection, isHeld, needsProtection, protect, release } from './protection.ts'

const FINALIZER = 'kubernetes.io/pv-protection'
const type = resources.persistentvolumes

function volume(finalizers: readonly string[], isDeleting = false): PersistentVolume {
  return {
    metadata: {
      name: 'v',
      resourceVersion: '7',
      ...(finalizers.length === 0 ? {} : { finalizers }),
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
  }
}

const states: readonly (readonly [string, PersistentVolume, boolean, boolean])[] = [
  ['lives without the finalizer', volume([]), true, false],
  ['lives with another one', volume(['other']), true, false],
  ['lives with it', volume([FINALIZER]), false, false],
  ['is deleted with it', volume(['other', FINALIZER], true), false, true],
  ['is deleted with another one', volume(['other'], true), false, false],
]
for (const [title, object, needs, held] of states) {
  test(`an object that ${title}: ${needs ? 'needs protection' : held ? 'is held' : 'concerns nobody'}`, () => {
    assert.deepEqual([needsProtection(object, FINALIZER), isHeld(object, FINALIZER)], [needs, held])
    assert.equal(concernsProtection(object, FINALIZER), needs || held)
  })
}

test('the finalizer comes last and goes alone, with the version that was read', () => {
  const written = (rules: ReturnType<typeof protect>) => {
    const { result, writes } = drive(rules)
    assert.equal(result, undefined)
    return writes.map((write) => (write.verb === 'update' ? write.object : write.verb))
  }
  assert.deepEqual(written(protect(type, volume(['a']), FINALIZER)), [volume(['a', FINALIZER])])
  assert.deepEqual(written(release(type, volume(['a', FINALIZER, 'b'], true), FINALIZER)), [
    volume(['a', 'b'], true),
  ])
})

test('a refusal is the error of the sync', () => {
  const onWrite = () => refused(409, 'Conflict', 'newer')
  for (const rules of [
    protect(type, volume([]), FINALIZER),
    release(type, volume([FINALIZER], true), FINALIZER),
  ]) {
    const { result } = drive(rules, { onWrite })
    assert.ok(result)
    assert.equal((result.error as Error).message, 'newer')
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManagedFieldsEntry } from './managers.ts'
import { parentEntries, scaleEntries } from './scale-view.ts'

const path = (apiVersion: string): readonly string[] | undefined =>
  apiVersion === 'apps/v1' ? ['f:spec', 'f:replicas'] : undefined

function entry(
  manager: string,
  fieldsV1: unknown,
  changes: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'apps/v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...changes,
  }
}

/** What comes back from a Scale has no time. */
function timeless({ time: _time, ...rest }: ManagedFieldsEntry): ManagedFieldsEntry {
  return rest
}

const REPLICAS = { 'f:spec': { 'f:replicas': {} } }
const MORE = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }

test('owners of the replicas appear on the Scale, others do not', () => {
  const entries = [entry('a', MORE), entry('b', { 'f:spec': { 'f:paused': {} } })]
  assert.deepEqual(scaleEntries(entries, path), [
    entry('a', REPLICAS, { apiVersion: 'autoscaling/v1' }),
  ])
})

test('Given replicas changed through /scale, then the parent shows an Update entry with subresource scale and the previous owner lost the field.', () => {
  const scaler = {
    operation: 'Update',
    apiVersion: 'autoscaling/v1',
    subresource: 'scale',
  } as const
  assert.deepEqual(
    parentEntries([entry('a', MORE)], [entry('k', REPLICAS, scaler)], 'apps/v1', path),
    [
      entry('a', { 'f:spec': { 'f:paused': {} } }),
      timeless(entry('k', REPLICAS, { ...scaler, apiVersion: 'apps/v1' })),
    ],
  )
})

test('who applied the replicas and kept them keeps its whole entry; an updater has two from then on', () => {
  const applied = [entry('a', MORE)]
  assert.deepEqual(parentEntries(applied, scaleEntries(applied, path), 'apps/v1', path), applied)
  const update = { operation: 'Update' } as const
  const updated = [entry('a', MORE, update)]
  assert.deepEqual(parentEntries(updated, scaleEntries(updated, path), 'apps/v1', path), [
    timeless(entry('a', REPLICAS, update)),
    entry('a', { 'f:spec': { 'f:paused': {} } }, update),
  ])
})

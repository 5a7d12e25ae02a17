import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { slice } from './fixtures.ts'
import { SliceTracker } from './slice-tracker.ts'
import { recycled, writeSlices } from './write-slices.ts'
import type { SliceWrites } from './write-slices.ts'

const ALL: SliceWrites = {
  create: [slice({ name: 'a' })],
  update: [slice({ name: 'b', generation: 2 })],
  remove: [slice({ name: 'c' })],
}

function written(given: {
  writes?: SliceWrites
  ownerIsDeleting?: boolean
  onWrite?: (write: Write) => Outcome | undefined
}) {
  const tracker = new SliceTracker(() => '')
  const counted: string[] = []
  const rules = writeSlices(given.writes ?? ALL, {
    owner: 'Service ns/svc',
    ownerIsDeleting: given.ownerIsDeleting ?? false,
    tracker,
    onWritten: (operation) => void counted.push(operation),
  })
  const { result, writes } = drive(rules, { onWrite: (write) => given.onWrite?.(write) })
  return { result, counted, tracker, bodies: writes, verbs: writes.map(({ verb }) => verb) }
}

test('creates, updates, deletes in that order, each known to the tracker', () => {
  const { result, counted, verbs, tracker } = written({})
  assert.deepEqual(verbs, ['create', 'update', 'delete'])
  assert.deepEqual([counted, result], [['create', 'update', 'delete'], { changed: 3 }])
  assert.ok(!tracker.isForeignChange(slice({ name: 'a' })))
  assert.ok(!tracker.isForeignChange(slice({ name: 'b', generation: 2 })))
  assert.ok(!tracker.isForeignDeletion(slice({ name: 'c' })))
  assert.ok(tracker.isStale('ns/svc', [slice({ name: 'a' }), slice({ name: 'b' })]))
})

test('lists without anything in them are not sent', () => {
  const empty = { ...slice({ name: 'a' }), endpoints: [], ports: [] }
  const { bodies } = written({ writes: { create: [empty], update: [empty], remove: [] } })
  for (const body of bodies)
    assert.deepEqual('object' in body && Object.keys(body.object).toSorted(), [
      'addressType',
      'apiVersion',
      'kind',
      'metadata',
    ])
})

test('nothing is created for an owner on its way out', () => {
  assert.deepEqual(written({ ownerIsDeleting: true }).verbs, ['update', 'delete'])
})

const TEXTS: readonly (readonly [verb: string, text: string, tried: number])[] = [
  ['create', 'failed to create EndpointSlice for Service ns/svc: no', 1],
  ['update', 'failed to update b EndpointSlice for Service ns/svc: no', 2],
  ['delete', 'failed to delete c EndpointSlice for Service ns/svc: no', 3],
]
for (const [verb, text, tried] of TEXTS) {
  test(`a refused ${verb} ends it`, () => {
    const onWrite = (write: Write) => (write.verb === verb ? refused(500, 'x', 'no') : undefined)
    const { result, verbs, counted } = written({ onWrite })
    assert.equal((result.error as Error).message, text)
    assert.deepEqual([result.changed, verbs.length, counted.length], [undefined, tried, tried - 1])
  })
}

test('a create that a terminating namespace refuses ends it without error', () => {
  const onWrite = () => refused(403, 'Forbidden', 'going', 'NamespaceTerminating')
  const { result, verbs } = written({ onWrite })
  assert.deepEqual([result, verbs], [{}, ['create']])
})

const of = (name: string, addressType: EndpointSlice['addressType']): EndpointSlice => ({
  ...slice({ name }),
  addressType,
})
const namesOf = ({ create, update, remove }: SliceWrites) =>
  [create, update, remove].map((each) => each.map(({ metadata }) => metadata?.name))

test('Given creates and deletes of equal and different families, then only equal families are recycled', () => {
  const creations = [of('new4', 'IPv4'), of('new6', 'IPv6')]
  const both = recycled({ create: creations, update: [], remove: [of('old4', 'IPv4')] })
  assert.deepEqual(namesOf(both), [['new6'], ['old4'], []])
  assert.equal(both.update[0]?.addressType, 'IPv4')
  const other = recycled({ create: [of('new4', 'IPv4')], update: [], remove: [of('old6', 'IPv6')] })
  assert.deepEqual(namesOf(other), [['new4'], [], ['old6']])
  const more = [of('x', 'IPv6'), of('y', 'IPv6'), of('z', 'IPv4')]
  const updates = [of('u', 'IPv4')]
  const all = recycled({ create: creations, update: updates, remove: more })
  assert.deepEqual(namesOf(all), [[], ['u', 'x', 'z'], ['y']])
})

test('what may not be reused is not', () => {
  const writes = { create: [of('new', 'IPv4')], update: [], remove: [of('old', 'IPv4')] }
  assert.deepEqual(namesOf(recycled(writes, () => false)), [['new'], [], ['old']])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, Pod } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { testClock } from '@gyropilot/runtime/testing'
import { defaultAttachDetachConfiguration } from './config.ts'
import { node, persistentVolume, pod, spec, uniqueName } from './fixtures.ts'
import { Reconciler } from './reconciler.ts'
import { nodeHandler, podHandler, volumeHandler } from './watches.ts'
import { persistentVolumeAttachDetachController } from './index.ts'

const UNDER_WAY = { isUnderWay: () => true }
const NOT_YET = { isUnderWay: () => false }
const DATA = uniqueName('data')

function reconciler(): Reconciler {
  return new Reconciler({
    clock: testClock(),
    logger: new RecordingLogger(),
    configuration: defaultAttachDetachConfiguration,
    nodeNamed: () => undefined,
    attachmentNamed: () => undefined,
    random: () => 0,
    perform: () => Promise.reject(new Error('nothing is to be done')),
    recordEvent() {},
  })
}

function podEvents(begun: typeof UNDER_WAY) {
  const told: string[] = []
  const handler = podHandler(begun, {
    podSeen: (each) => told.push(`seen ${each.metadata?.uid}`),
    podGone: (each) => told.push(`gone ${each.metadata?.uid}`),
  })
  return { told, handler }
}

test('a pod that another one replaced is gone, one that changed is not', () => {
  const { told, handler } = podEvents(UNDER_WAY)
  handler.onUpdate?.(pod('p'), pod('p'))
  handler.onUpdate?.(pod('p'), pod('p', { uid: 'later' }))
  assert.deepEqual(told, ['seen p-uid', 'gone p-uid', 'seen later'])
})

test('what happens to pods before the worlds are made is not counted', () => {
  const { told, handler } = podEvents(NOT_YET)
  handler.onAdd?.(pod('p'), false)
  handler.onUpdate?.(pod('p'), pod('p', { uid: 'later' }))
  handler.onDelete?.(pod('p'))
  handler.onDelete?.(new DeletedFinalStateUnknown<Pod>('ns/p', undefined))
  assert.deepEqual(told, [])
})

test('a volume brings its pods when it is reserved for a claim, and not with every change', () => {
  const told: string[] = []
  const events = (begun: typeof UNDER_WAY) => volumeHandler(begun, (key) => told.push(key))
  const bound = persistentVolume('data')
  const free: PersistentVolume = { ...bound, spec: { ...bound.spec, claimRef: undefined } }
  const reserved = { ...bound.spec, claimRef: { namespace: 'ns', name: 'data' } }
  const handler = events(UNDER_WAY)
  handler.onAdd?.(free, false)
  handler.onAdd?.({ ...bound, spec: reserved }, false)
  handler.onUpdate?.(bound, { ...bound, status: { phase: 'Bound' } })
  assert.deepEqual(told, [])
  handler.onUpdate?.(free, bound)
  handler.onAdd?.(bound, false)
  assert.deepEqual(told, ['ns/data', 'ns/data'])
  events(NOT_YET).onAdd?.(bound, false)
  assert.equal(told.length, 2)
})

test('a node that goes is managed no more, and what it used then it still uses', () => {
  const known = reconciler()
  const handler = nodeHandler(UNDER_WAY, known)
  handler.onAdd?.(node('a', { inUse: ['data'] }), false)
  assert.equal(known.desired.isManaged('a'), true)
  known.actual.attached(DATA, 'a', spec('data'))
  known.actual.nodeUses('a', [])
  handler.onDelete?.(node('a', { inUse: ['data'] }))
  assert.equal(known.desired.isManaged('a'), false)
  assert.equal(known.actual.get(DATA, 'a')?.isMounted, true)
  handler.onDelete?.(node('a'))
  assert.equal(known.actual.get(DATA, 'a')?.isMounted, false)
})

test('what a node that goes was told is forgotten with it', () => {
  const known = reconciler()
  known.actual.attached(DATA, 'a', spec('data'))
  known.actual.detached(DATA, 'a')
  assert.deepEqual(known.actual.takeReport('a'), [])
  nodeHandler(UNDER_WAY, known).onDelete?.(node('a'))
  known.nodeStatusNeeded('a')
  assert.deepEqual(known.actual.changedNodes(), [])
})

test('what happens to nodes before the worlds are made is not counted', () => {
  const known = reconciler()
  const handler = nodeHandler(NOT_YET, known)
  known.actual.attached(DATA, 'a', spec('data'))
  known.actual.takeReport('a')
  handler.onAdd?.(node('a'), false)
  assert.equal(known.desired.isManaged('a'), false)
  assert.deepEqual(known.actual.changedNodes(), [])
})

test('a node that another one replaced is told what is attached to it, one that changed is not', () => {
  const known = reconciler()
  const handler = nodeHandler(UNDER_WAY, known)
  known.actual.attached(DATA, 'a', spec('data'))
  known.actual.takeReport('a')
  handler.onUpdate?.(node('a'), node('a', { inUse: ['data'] }))
  assert.deepEqual(known.actual.changedNodes(), [])
  const later = { ...node('a'), metadata: { ...node('a').metadata, uid: 'later' } }
  handler.onUpdate?.(node('a'), later)
  assert.deepEqual(known.actual.changedNodes(), ['a'])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = persistentVolumeAttachDetachController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'persistentvolume-attach-detach-controller',
      ['attachdetach'],
      'attachdetach-controller',
      true,
    ],
  )
})

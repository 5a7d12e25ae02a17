import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '@gyropilot/api'
import {
  BOUND_ALL,
  CHOSEN,
  COMPLETED,
  WAITS,
  boundPair,
  checkClaims,
  claim,
  volume,
  world,
} from '../fixtures.ts'

const TAKEN = { claimRef: { namespace: 'ns', name: 'other', uid: 'other-uid' } }
const LOST = 'ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!'
const [boundVolume, boundClaim] = boundPair()
const lost = { ...boundClaim, status: { phase: 'Lost' } } as PersistentVolumeClaim

checkClaims('Given bound claims with missing or foreign PV, then Lost or repaired.', [
  { title: 'all is well', objects: boundPair(), done: [] },
  {
    title: 'no name',
    objects: [claim('c', { annotations: COMPLETED })],
    done: ['claim c is Lost'],
    told: [
      'ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    ],
  },
  { title: 'missing', objects: [boundClaim], done: ['claim c is Lost'], told: [LOST] },
  { title: 'still missing: said once', objects: [lost], done: [] },
  {
    title: 'foreign',
    objects: [volume('v', TAKEN), boundClaim],
    done: ['claim c is Lost'],
    told: ['ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly'],
  },
  {
    title: 'reserved for the name only',
    objects: [volume('v', { claimUid: '' }), boundClaim],
    done: ['claim c is Lost'],
    told: ['ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly'],
  },
  {
    title: 'let go',
    objects: [volume('v', { phase: 'Bound' }), boundClaim],
    done: ['volume v: claim c-uid'],
  },
  {
    title: 'Lost, and a volume of the name is back',
    objects: [volume(), lost],
    done: ['volume v: claim c-uid', 'volume v is Bound', 'claim c is Bound'],
  },
  {
    title: 'Lost, and its volume is back',
    objects: [boundVolume, lost],
    done: ['claim c is Bound'],
  },
])

test('a claim that is lost forgets what it knew of its volume', () => {
  const [write] = world([boundClaim]).syncClaim()?.writes ?? []
  assert.ok(write?.verb === 'update')
  assert.deepEqual((write.object as PersistentVolumeClaim).status, { phase: 'Lost' })
})

test('capacity is not refreshed once bound', () => {
  assert.deepEqual(
    world([
      volume('v', { size: '5Gi', phase: 'Bound', claimUid: 'c-uid', annotations: CHOSEN }),
      boundClaim,
    ]).syncClaim()?.done,
    [],
  )
})

test('Given two claims racing for one PV, then one wins and the other is repaired.', () => {
  const here = world([volume(), claim(), claim('d')])
  assert.deepEqual(here.syncClaim('ns/c')?.done, BOUND_ALL)
  // The informer has not seen any of it.
  assert.deepEqual(here.syncClaim('ns/d')?.told, [WAITS])
  const stolen = world([
    boundVolume,
    claim('d', { volumeName: 'v', annotations: { ...COMPLETED, ...CHOSEN } }),
  ])
  assert.deepEqual(stolen.syncClaim('ns/d')?.done, ['claim d is Lost'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Device, DeviceCapacity, ExactDeviceRequest, ResourceClaim } from '@gyropilot/api'
import { allocations, claim, request, slice } from './fixtures.ts'
import { consumptionOf } from './shared-capacity.ts'
import type { Consumption } from './shared-capacity.ts'

type Capacity = Readonly<Record<string, DeviceCapacity>>

const shared = (capacity: Capacity, name = 'd1'): Device => ({
  name,
  allowMultipleAllocations: true,
  capacity,
})
const TEN = { mem: { value: '10Gi' } }
const asking = (mem: string, more: Partial<ExactDeviceRequest> = {}) =>
  request('r', { capacity: { requests: { mem } }, ...more })

/** The results of each claim, without what they have in common; undefined: they are not all served. */
function results(
  claims: readonly ResourceClaim[],
  device: Device,
  shares?: ReadonlyMap<string, Consumption>,
) {
  const found = allocations(claims, [slice('s', [device])], [], {}, shares)
  return found?.map(({ devices }) =>
    devices?.results?.map(({ shareID, consumedCapacity }) => ({ shareID, consumedCapacity })),
  )
}

const share = (consumedCapacity?: Consumption) => ({ shareID: 'share', consumedCapacity })

test('claims share a device as long as there is enough of its capacity', () => {
  const one = claim({ requests: [asking('4Gi')] })
  const part = [share({ mem: '4Gi' })]
  assert.deepEqual(results([one, one], shared(TEN)), [part, part])
  assert.equal(results([one, one, one], shared(TEN)), undefined)
  const others = new Map([['d.example.com/p/d1', { mem: '6Gi' }]])
  assert.deepEqual(results([one], shared(TEN), others), [part])
  assert.equal(results([one, one], shared(TEN), others), undefined)
})

test('requests of one claim share a device, the devices of one request are different ones', () => {
  const both = claim({ requests: [asking('1Gi'), { ...asking('2Gi'), name: 'q' }] })
  const parts = [share({ mem: '1Gi' }), share({ mem: '2Gi' })]
  assert.deepEqual(results([both], shared(TEN)), [parts])
  const two = claim({ requests: [asking('1Gi', { count: 2 })] })
  assert.equal(results([two], shared(TEN)), undefined)
})

test('who does not say how much takes all, or what the driver says', () => {
  const none = claim({ requests: [request('r')] })
  assert.deepEqual(results([none], shared(TEN)), [[share({ mem: '10Gi' })]])
  assert.equal(results([none, none], shared(TEN)), undefined)
  const few = { mem: { value: '10Gi', requestPolicy: { default: '2Gi' } } }
  const part = [share({ mem: '2Gi' })]
  assert.deepEqual(results([none, none], shared(few)), [part, part])
  // Of nothing there is enough for everybody.
  assert.deepEqual(results([none, none], shared({})), [[share()], [share()]])
})

test('all means every shared device too, with the part of it that is asked for', () => {
  const all = claim({ requests: [asking('1Gi', { allocationMode: 'All', count: undefined })] })
  const others = new Map([['d.example.com/p/d1', { mem: '4Gi' }]])
  assert.deepEqual(results([all], shared(TEN), others), [[share({ mem: '1Gi' })]])
  const whole = claim({ requests: [request('r', { allocationMode: 'All', count: undefined })] })
  assert.equal(results([whole], shared(TEN), others), undefined)
})

test('a choice that leaves others without gives the capacity back', () => {
  const devices = [shared(TEN, 'd1'), shared({ mem: { value: '6Gi' } }, 'd2')]
  const claims = ['5Gi', '10Gi'].map((mem) => claim({ requests: [asking(mem)] }))
  const found = allocations(claims, [slice('s', devices)])
  assert.deepEqual(
    found?.map(({ devices: of }) => of?.results?.map(({ device }) => device)),
    [['d2'], ['d1']],
  )
})

test('of a device for one claim alone capacity is only a condition', () => {
  const alone: Device = { name: 'd1', capacity: TEN }
  const result = [{ shareID: undefined, consumedCapacity: undefined }]
  assert.deepEqual(results([claim({ requests: [asking('4Gi')] })], alone), [result])
  assert.equal(results([claim({ requests: [asking('11Gi')] })], alone), undefined)
  const one = claim({ requests: [asking('1Gi')] })
  assert.equal(results([one, one], alone), undefined)
})

test('partitions: what a shared device consumes of its counters does not depend on how many share it', () => {
  const counters = (value: string) => ({ slots: { value } })
  const consumesCounters = [{ counterSet: 'card', counters: counters('2') }]
  const devices = [
    { ...shared(TEN), consumesCounters },
    { name: 'whole', consumesCounters },
  ]
  const of = (value: string) => [
    slice('s', devices, { sharedCounters: [{ name: 'card', counters: counters(value) }] }),
  ]
  const one = claim({ requests: [asking('1Gi')] })
  const whole = claim({ requests: [request('r')] })
  assert.equal(allocations([one, one], of('2'))?.length, 2)
  assert.equal(allocations([one, one, whole], of('2')), undefined)
  assert.equal(allocations([one, one, whole], of('4'))?.length, 3)
})

const RANGE = { default: '2Gi', validRange: { min: '2Gi', max: '8Gi', step: '2Gi' } }
const VALUES = { default: '4Gi', validValues: ['1Gi', '4Gi'] }

for (const [what, requestPolicy, asked, expected] of [
  ['the least of a range', RANGE, '1Gi', '2Gi'],
  ['the least itself', RANGE, '2Gi', '2Gi'],
  ['the next step', RANGE, '3Gi', '4Gi'],
  ['a step itself', RANGE, '6Gi', '6Gi'],
  ['the most', RANGE, '8Gi', '8Gi'],
  ['more than the most', RANGE, '9Gi', undefined],
  ['nothing said', RANGE, undefined, '2Gi'],
  ['without steps', { validRange: { min: '1Gi' } }, '1500Mi', '1500Mi'],
  ['the next value', VALUES, '2Gi', '4Gi'],
  ['a value itself', VALUES, '1Gi', '1Gi'],
  ['more than any value', VALUES, '5Gi', undefined],
  ['as it is written', undefined, '10737418240', '10737418240'],
  ['none of it', undefined, '0', '0'],
  ['more than there is', undefined, '21Gi', undefined],
] as const) {
  test(`a part of a shared device: ${what}`, () => {
    const device = shared({ mem: { value: '20Gi', ...(requestPolicy && { requestPolicy }) } })
    const requests = asked === undefined ? {} : { requests: { mem: asked } }
    assert.deepEqual(consumptionOf(device, requests), expected && { mem: expected })
  })
}

test('a device without the capacity that is asked for does not suit', () => {
  assert.equal(consumptionOf(shared(TEN), { requests: { other: '1' } }), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Device, DeviceRequest, DeviceTaint, DeviceToleration } from '@gyropilot/api'
import { allocations, claim, request, selecting, served, slice } from './fixtures.ts'
import { allocate } from './allocate.ts'
import { AllocationError } from './allocation-error.ts'
import { publishedDevices } from './device-pools.ts'
import { Selectors } from './selectors.ts'

const plain = (...names: string[]): Device[] => names.map((name) => ({ name }))
const models = (given: Record<string, string>): Device[] =>
  Object.entries(given).map(([name, model]) => ({ name, attributes: { model: { string: model } } }))
const ofModel = (model: string) => [
  selecting(`device.attributes["d.example.com"].model == "${model}"`),
]

test('requests are served in order, by devices that nobody has', () => {
  const two = claim({ requests: [request('a'), request('b', { count: 2 })] })
  assert.deepEqual(served([two], [slice('s', plain('x', 'y', 'z'))]), ['a=x b=y b=z'])
  assert.deepEqual(served([two], [slice('s', plain('x', 'y', 'z', 'w'))], ['x']), ['a=y b=z b=w'])
  assert.equal(served([two], [slice('s', plain('x', 'y', 'z'))], ['y']), undefined)
  const one = claim({ requests: [request('a')] })
  assert.deepEqual(served([one, one], [slice('s', plain('x', 'y'))]), ['a=x', 'a=y'])
  assert.equal(served([one, one], [slice('s', plain('x'))]), undefined)
  assert.deepEqual(served([claim({})], []), [''])
})

test('a choice that leaves others without is taken back', () => {
  const picky = claim({ requests: [request('any'), request('red', { selectors: ofModel('red') })] })
  const devices = models({ x: 'red', y: 'blue' })
  assert.deepEqual(served([picky], [slice('s', devices)]), ['any=y red=x'])
  const any = claim({ requests: [request('any')] })
  const red = claim({ requests: [request('red', { selectors: ofModel('red') })] })
  assert.deepEqual(served([any, red], [slice('s', devices)]), ['any=y', 'red=x'])
  const named = selecting(
    'cel.bind(d, device.attributes["d.example.com"], d.model == "blue" && has(d.model))',
  )
  const blue = claim({ requests: [request('blue', { selectors: [named] })] })
  assert.deepEqual(served([any, blue], [slice('s', devices)]), ['any=x', 'blue=y'])
})

test('all means every device that suits, at least one, and none that is taken', () => {
  const all = claim({ requests: [request('all', { allocationMode: 'All', count: undefined })] })
  assert.deepEqual(served([all], [slice('s', plain('x', 'y'))]), ['all=x all=y'])
  assert.equal(served([all], [slice('s', plain('x', 'y'))], ['y']), undefined)
  assert.equal(served([all], []), undefined)
})

test('the first alternative that works is taken', () => {
  const alternatives = (...given: NonNullable<DeviceRequest['firstAvailable']>): DeviceRequest => ({
    name: 'r',
    firstAvailable: given,
  })
  const sub = (name: string, model: string, count = 1) => ({
    name,
    deviceClassName: 'c',
    allocationMode: 'ExactCount' as const,
    count,
    selectors: ofModel(model),
  })
  const devices = [slice('s', models({ x: 'red', y: 'blue', z: 'blue' }))]
  const wanted = claim({ requests: [alternatives(sub('best', 'red', 2), sub('some', 'blue', 2))] })
  assert.deepEqual(served([wanted], devices), ['r/some=y r/some=z'])
  const first = claim({ requests: [alternatives(sub('best', 'red'), sub('some', 'blue'))] })
  assert.deepEqual(served([first], devices), ['r/best=x'])
  assert.deepEqual(served([first], devices, ['x']), ['r/some=y'])
})

test('a claim gets 32 devices at most: of each claim the fewest that would serve it count', () => {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`)
  const devices = [slice('s', plain(...names))]
  const countOf = (...claims: readonly Parameters<typeof claim>[0][]): readonly number[] =>
    (
      allocations(
        claims.map((each) => claim(each)),
        devices,
      ) ?? []
    ).map(({ devices: found }) => found?.results?.length ?? 0)
  const of = (name: string, count: number): DeviceRequest => request(name, { count })
  const all = { allocationMode: 'All', count: undefined } as const
  const either = (name: string, ...counts: readonly number[]): DeviceRequest => ({
    name,
    firstAvailable: counts.map((count, at) => ({ name: `${at}`, deviceClassName: 'c', count })),
  })
  assert.deepEqual(countOf({ requests: [of('a', 20), of('b', 12)] }), [32])
  assert.deepEqual(countOf({ requests: [of('a', 20)] }, { requests: [of('a', 20)] }), [20, 20])
  assert.deepEqual(countOf({ requests: [either('a', 40, 1)] }), [1])
  assert.deepEqual(countOf({ requests: [either('a', 20, 1), of('b', 20)] }), [21])
  const cases: readonly [readonly DeviceRequest[], number][] = [
    [[of('a', 33)], 33],
    [[of('a', 20), of('b', 20)], 40],
    [[request('a', all)], 40],
    [[request('a', { count: 33, adminAccess: true })], 33],
    [[either('a', 40, 35)], 35],
  ]
  for (const [requests, count] of cases) {
    assert.throws(() => countOf({ requests }), {
      constructor: AllocationError,
      message: `claim ns/claim: number of requested devices ${count} exceeds the claim limit of 32`,
    })
  }
})

test('who administers devices takes nothing away', () => {
  const admin = claim({ requests: [request('look', { adminAccess: true })] })
  assert.deepEqual(served([admin], [slice('s', plain('x'))], ['x']), ['look=x'])
  const [result] = allocations([admin], [slice('s', plain('x'))])!
  assert.equal(result?.devices?.results?.[0]?.adminAccess, true)
  const both = claim({ requests: [request('look', { adminAccess: true }), request('use')] })
  assert.deepEqual(served([both], [slice('s', plain('x'))]), ['look=x use=x'])
  const twice = claim({ requests: [request('look', { adminAccess: true, count: 2 })] })
  assert.equal(served([twice], [slice('s', plain('x'))]), undefined)
})

test('classes choose too, and one that is missing has no devices', () => {
  const devices = [slice('s', models({ x: 'red', y: 'blue' }))]
  const one = claim({ requests: [request('a')] })
  assert.deepEqual(served([one], devices, [], { selectors: ofModel('blue') }), ['a=y'])
  const other = claim({ requests: [request('a', { deviceClassName: 'other' })] })
  assert.equal(served([other], devices), undefined)
})

test('an expression that cannot be evaluated is an error, one that cannot be compiled selects nothing', () => {
  const devices = [slice('s', plain('x'))]
  const missing = claim({ requests: [request('a', { selectors: ofModel('red') })] })
  assert.throws(() => served([missing], devices), {
    constructor: AllocationError,
    message: 'claim ns/claim: selector #0: CEL runtime error: no such key: model',
  })
  const broken = claim({ requests: [request('a', { selectors: [selecting('device.')] })] })
  assert.equal(served([broken], devices), undefined)
})

test('taints keep away whom the request does not tolerate', () => {
  const taint = (effect: DeviceTaint['effect']): Device => ({
    name: 'x',
    taints: [{ key: 'k', value: 'v', effect }],
  })
  const cases: readonly [DeviceTaint['effect'], readonly DeviceToleration[], boolean][] = [
    ['NoSchedule', [], false],
    ['NoExecute', [], false],
    ['None', [], true],
    ['NoSchedule', [{ key: 'k', operator: 'Exists' }], true],
    ['NoSchedule', [{ operator: 'Exists', effect: 'NoExecute' }], false],
    ['NoSchedule', [{ key: 'other', operator: 'Exists' }], false],
    ['NoSchedule', [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }], true],
    ['NoSchedule', [{ key: 'k', operator: 'Equal', value: 'w' }], false],
    ['NoSchedule', [{ key: 'k', operator: 'Equal' }], false],
  ]
  for (const [effect, tolerations, isServed] of cases) {
    const found = allocations(
      [claim({ requests: [request('a', { tolerations })] })],
      [slice('s', [taint(effect)])],
    )
    assert.equal(found !== undefined, isServed, `${effect} ${JSON.stringify(tolerations)}`)
    if (isServed) assert.deepEqual(found?.[0]?.devices?.results?.[0]?.tolerations, tolerations)
  }
})

test('constraints hold over all requests that they name', () => {
  const devices = [slice('s', models({ w: 'red', x: 'blue', y: 'red', z: 'green' }))]
  const requests = [request('a'), request('b')]
  const match = { matchAttribute: 'd.example.com/model' }
  assert.deepEqual(served([claim({ requests, constraints: [match] })], devices), ['a=w b=y'])
  const distinct = { distinctAttribute: 'd.example.com/model' }
  assert.deepEqual(served([claim({ requests, constraints: [distinct] })], devices, ['x']), [
    'a=w b=z',
  ])
  const some = { requests: ['b'], ...match }
  assert.deepEqual(served([claim({ requests, constraints: [some] })], devices), ['a=w b=x'])
  assert.equal(served([claim({ requests, constraints: [match] })], devices, ['w']), undefined)
  const unknown = { matchAttribute: 'other.example.com/model' }
  assert.equal(served([claim({ requests, constraints: [unknown] })], devices), undefined)
  const whole: Device = { name: 'q', attributes: { 'd.example.com/model': { string: 'red' } } }
  const spelled = [slice('s', [...models({ w: 'red' }), whole])]
  assert.deepEqual(served([claim({ requests, constraints: [match] })], spelled), ['a=w b=q'])
  const alternative = { requests: ['b/one'], ...match }
  assert.deepEqual(served([claim({ requests, constraints: [alternative] })], devices), ['a=w b=x'])
})

test('a constraint on one alternative says nothing of the others', () => {
  const devices = [slice('s', models({ w: 'red', x: 'blue' }))]
  const sub = (name: string, count: number) => ({
    name,
    deviceClassName: 'c',
    allocationMode: 'ExactCount' as const,
    count,
  })
  const requests = [{ name: 'r', firstAvailable: [sub('same', 2), sub('any', 2)] }]
  const match = (name: string) => ({ requests: [name], matchAttribute: 'd.example.com/model' })
  const of = (...names: readonly string[]) =>
    served([claim({ requests, constraints: names.map(match) })], devices)
  assert.deepEqual(of('r/same'), ['r/any=w r/any=x'])
  assert.equal(of('r/same', 'r/any'), undefined)
  assert.equal(of('r'), undefined)
})

test('partitions share what their hardware has', () => {
  const part = (name: string, memory: string): Device => ({
    name,
    consumesCounters: [{ counterSet: 'gpu', counters: { memory: { value: memory } } }],
  })
  const sharedCounters = [{ name: 'gpu', counters: { memory: { value: '4Gi' } } }]
  const pool = { name: 'p', generation: 1, resourceSliceCount: 2 }
  const slices = [
    slice('counters', [], { sharedCounters, pool }),
    slice('parts', [part('whole', '4Gi'), part('a', '2Gi'), part('b', '2Gi')], { pool }),
  ]
  const count = (wanted: number) => claim({ requests: [request('r', { count: wanted })] })
  assert.deepEqual(served([count(1)], slices), ['r=whole'])
  assert.deepEqual(served([count(2)], slices), ['r=a r=b'])
  assert.equal(served([count(3)], slices), undefined)
  assert.deepEqual(served([count(1)], slices, ['a']), ['r=b'])
  const lost = [slice('parts', [part('x', '1Gi')])]
  assert.equal(served([count(1)], lost), undefined)
})

test('drivers get the parameters of classes and then of the claim, for the requests they are for', () => {
  const opaque = (name: string) => ({ driver: 'd.example.com', parameters: { name } })
  const wanted = claim({
    requests: [request('a'), request('b')],
    config: [
      { opaque: opaque('all') },
      { requests: ['b'], opaque: opaque('b') },
      { requests: ['z'], opaque: opaque('z') },
    ],
  })
  const [found] = allocations([wanted], [slice('s', plain('x', 'y'))], [], {
    config: [{ opaque: opaque('class') }],
  })!
  assert.deepEqual(found?.devices?.config, [
    { opaque: opaque('class'), source: 'FromClass', requests: ['a'] },
    { opaque: opaque('class'), source: 'FromClass', requests: ['b'] },
    { opaque: opaque('all'), source: 'FromClaim' },
    { opaque: opaque('b'), source: 'FromClaim', requests: ['b'] },
  ])
})

test('what must be ready first is told with the device', () => {
  const device: Device = {
    name: 'x',
    bindingConditions: ['Attached'],
    bindingFailureConditions: ['Failed'],
  }
  const [found] = allocations([claim({ requests: [request('a')] })], [slice('s', [device])])!
  assert.deepEqual(found?.devices?.results, [
    {
      request: 'a',
      driver: 'd.example.com',
      pool: 'p',
      device: 'x',
      bindingConditions: ['Attached'],
      bindingFailureConditions: ['Failed'],
    },
  ])
})

test('expressions are evaluated once for each request and device, however often the search gets stuck', () => {
  let evaluated = 0
  const selectors = new Selectors((expression) => ({
    selects: (_, { name }) => {
      evaluated++
      return expression === 'any' || name !== 'c'
    },
  }))
  const any = { selectors: [selecting('any')] }
  const few = { selectors: [selecting('few')], count: 2 }
  const wanted = (...requests: readonly DeviceRequest[]) =>
    allocate([claim({ requests }), claim({ requests: [request('r', any)] }, 'other')], {
      devices: publishedDevices([slice('s', plain('a', 'b', 'c', 'd'))]),
      closedPools: [],
      taken: new Set(),
      shares: new Map(),
      newShareId: () => 'share',
      classes: (name) => ({ metadata: { name }, spec: {} }),
      selectors,
    })?.map(({ devices }) => devices?.results?.map(({ device }) => device))
  assert.deepEqual(wanted(request('first', any), request('second', few)), [['a', 'b', 'd'], ['c']])
  assert.equal(evaluated, 12)
  evaluated = 0
  assert.equal(wanted(request('first', any), request('second', { ...few, count: 4 })), undefined)
  assert.equal(evaluated, 8)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DevicePools } from './device-pools.ts'
import { slice, taint } from './fixtures.ts'

const names = (pools: DevicePools) =>
  [...pools.devices()].map(({ pool, device }) => `${pool}/${device}`)
const keys = (pools: DevicePools, device: string, pool = 'pool') =>
  pools.taintsOf({ driver: 'd.example', pool, device }).map((each) => each.taint.key)

test('Given slices added and replaced, then pools hold only the wanted ones.', () => {
  const pools = new DevicePools()
  const first = slice('a', { 'gpu-0': [taint('x')], 'gpu-1': [] })
  assert.deepEqual(
    pools.replace(undefined, first).map(({ device }) => device),
    ['gpu-0'],
  )
  pools.replace(undefined, slice('other', { 'gpu-0': [] }, { pool: 'other' }))
  assert.deepEqual(names(pools), ['pool/gpu-0', 'pool/gpu-1', 'other/gpu-0'])
  assert.deepEqual([keys(pools, 'gpu-0'), keys(pools, 'gpu-0', 'other')], [['x'], []])
  // A newer generation takes the place of all older slices, whatever they say.
  const newer = slice('b', { 'gpu-2': [taint('y')] }, { generation: 2 })
  assert.deepEqual(
    pools.replace(undefined, newer).map(({ device }) => device),
    ['gpu-0', 'gpu-2'],
  )
  assert.deepEqual(names(pools), ['pool/gpu-2', 'other/gpu-0'])
  assert.deepEqual(pools.replace(first, slice('a', { 'gpu-0': [taint('z')] })), [])
  assert.deepEqual([keys(pools, 'gpu-0'), keys(pools, 'gpu-2')], [[], ['y']])
  // And gives it back when it goes.
  pools.replace(newer, undefined)
  assert.deepEqual([names(pools)[0], keys(pools, 'gpu-0')], ['pool/gpu-0', ['z']])
})

test('generations beyond 2^53, which are read as bigints, are told apart', () => {
  const pools = new DevicePools()
  const long = (text: string): number => BigInt(text) as unknown as number
  for (const [name, generation] of [
    ['a', long('9007199254740992')],
    ['b', long('9007199254740993')],
    ['c', 5],
  ] as const)
    pools.replace(undefined, slice(name, { [`gpu-${name}`]: [taint('x')] }, { generation }))
  assert.deepEqual(names(pools), ['pool/gpu-b'])
})

test('two slices of one generation are one pool', () => {
  const pools = new DevicePools()
  pools.replace(undefined, slice('a', { 'gpu-0': [taint('x')] }))
  pools.replace(undefined, slice('b', { 'gpu-1': [taint('x')] }))
  assert.deepEqual(names(pools), ['pool/gpu-0', 'pool/gpu-1'])
  assert.deepEqual(
    pools.replace(slice('a', {}), undefined).map(({ device }) => device),
    ['gpu-0'],
  )
  assert.deepEqual(names(pools), ['pool/gpu-1'])
})

test('Given effects None or unknown on devices, then ignored.', () => {
  const pools = new DevicePools()
  const others = [
    taint('none', { effect: 'None' }),
    taint('new', { effect: 'Whatever' as 'None' }),
    taint('plan', { effect: 'NoSchedule' }),
  ]
  assert.deepEqual(pools.replace(undefined, slice('a', { 'gpu-0': others })), [])
  assert.deepEqual(keys(pools, 'gpu-0'), [])
  // The index is that of the whole list.
  pools.replace(slice('a', {}), slice('a', { 'gpu-0': [...others, taint('x')] }))
  assert.deepEqual(
    pools.taintsOf({ driver: 'd.example', pool: 'pool', device: 'gpu-0' })[0]?.index,
    3,
  )
})

test('only devices whose taints are others now are told of', () => {
  const pools = new DevicePools()
  const before = slice('a', { 'gpu-0': [taint('x')], 'gpu-1': [taint('x')], 'gpu-2': [] })
  pools.replace(undefined, before)
  const after = slice('a', { 'gpu-0': [taint('x')], 'gpu-1': [taint('x', { value: 'v' })] })
  assert.deepEqual(
    pools.replace(before, after).map(({ device }) => device),
    ['gpu-1'],
  )
})

test('a slice may have no devices', () => {
  const pools = new DevicePools()
  const { spec, ...rest } = slice('a', {})
  const { devices: _, ...bare } = spec
  assert.deepEqual(pools.replace(undefined, { ...rest, spec: bare }), [])
  assert.deepEqual([names(pools), keys(pools, 'gpu-0')], [[], []])
})

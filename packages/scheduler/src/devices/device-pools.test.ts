import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, ResourceSlice } from '@gyropilot/api'
import { devicesByNode, isUsableOn, nodesOf, publishedDevices } from './device-pools.ts'
import { slice } from './fixtures.ts'

const node = (name: string, labels = {}): Node => ({ metadata: { name, labels } })
const pool = (generation: number, resourceSliceCount: number, name = 'p') => ({
  name,
  generation,
  resourceSliceCount,
})
const names = (slices: readonly ResourceSlice[]) =>
  publishedDevices(slices).map(({ pool: of, device }) => `${of}/${device.name}`)

test('pools count at their newest generation, when they are whole, in order', () => {
  const a = slice('a', [{ name: 'x' }])
  assert.deepEqual(names([slice('b', [{ name: 'y' }], { pool: pool(1, 1, 'q') }), a]), [
    'p/x',
    'q/y',
  ])
  const newer = slice('n', [{ name: 'z' }], { pool: pool(2, 1) })
  assert.deepEqual(names([a, newer]), ['p/z'])
  const half = slice('n', [{ name: 'z' }], { pool: pool(2, 2) })
  assert.deepEqual(names([a, half]), [])
  const rest = slice('m', [{ name: 'w' }], { pool: pool(2, 2) })
  assert.deepEqual(names([half, rest]), ['p/w', 'p/z'])
})

test('a device is used where its slice says, or where it says itself', () => {
  const nodeSelector = {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }] },
    ],
  }
  const usable = (spec: Partial<ResourceSlice['spec']>, device = {}) => {
    const [found] = publishedDevices([slice('s', [{ name: 'x', ...device }], spec)])
    const nodes = [node('n'), node('m', { zone: 'a' })]
    return nodes.filter((each) => isUsableOn(found!, each)).map(({ metadata }) => metadata?.name)
  }
  const nowhere = { nodeName: undefined }
  assert.deepEqual(usable({}), ['n'])
  assert.deepEqual(usable({ ...nowhere, allNodes: true }), ['n', 'm'])
  assert.deepEqual(usable({ ...nowhere, nodeSelector }), ['m'])
  assert.deepEqual(usable(nowhere), [])
  const own = { ...nowhere, perDeviceNodeSelection: true }
  assert.deepEqual(usable(own, { nodeName: 'm' }), ['m'])
  assert.deepEqual(usable(own, { allNodes: true }), ['n', 'm'])
  assert.deepEqual(usable(own), [])
})

test('an allocation is for the nodes that can use all of its devices', () => {
  const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] })
  const network = (name: string, key: string) =>
    slice(name, [{ name: 'x' }], {
      nodeName: undefined,
      nodeSelector: { nodeSelectorTerms: [term(key)] },
      pool: pool(1, 1, name),
    })
  const of = (...slices: ResourceSlice[]) => nodesOf(publishedDevices(slices))
  const onNode = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }
  assert.deepEqual(of(network('a', 'k'), slice('s', [{ name: 'x' }])), {
    nodeSelectorTerms: [onNode],
  })
  assert.deepEqual(of(network('a', 'k'), network('b', 'l'), network('c', 'k')), {
    nodeSelectorTerms: [
      { matchExpressions: [...term('k').matchExpressions, ...term('l').matchExpressions] },
    ],
  })
  const anywhere = slice('s', [{ name: 'x' }], { nodeName: undefined, allNodes: true })
  assert.deepEqual([of(anywhere), of()], [undefined, undefined])
})

test('a node sees its own devices and those of all nodes, in their order', () => {
  const of = devicesByNode(
    publishedDevices([
      slice('a', [{ name: 'x' }], { pool: pool(1, 1, 'a') }),
      slice('b', [{ name: 'y' }], { nodeName: undefined, allNodes: true, pool: pool(1, 1, 'b') }),
      slice('c', [{ name: 'z' }], { pool: pool(1, 1, 'c') }),
      slice('d', [{ name: 'w' }], { nodeName: 'm', pool: pool(1, 1, 'd') }),
    ]),
  )
  const seen = (name: string) => of(node(name)).map(({ device }) => device.name)
  assert.deepEqual([seen('n'), seen('m'), seen('other')], [['x', 'y', 'z'], ['y', 'w'], ['y']])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from '@gyropilot/api'
import { EndpointSet } from '../endpoint-support/endpoint-set.ts'
import { HTTP_PORTS, ownSlice, sizeOf } from './fixtures.ts'
import { packGroup } from './packing.ts'
import type { PackedGroup } from './packing.ts'

const endpoint = (id: number, state: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [`10.9.${id >> 8}.${id & 255}`],
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { kind: 'Pod', namespace: 'ns', name: `pod-${id}`, uid: `${id}` },
  ...state,
})
const range = (from: number, to: number, state: Partial<Endpoint> = {}): Endpoint[] =>
  Array.from({ length: to - from }, (_, index) => endpoint(from + index, state))

const unready = { conditions: { ready: false, serving: false, terminating: false } }

interface Case {
  readonly title: string
  /** Endpoints of slices `svc-0`, `svc-1` ... */
  readonly slices?: readonly (readonly Endpoint[])[]
  readonly desired: readonly Endpoint[]
  readonly max?: number
  /** Names of slices whose labels are not those of the Service. */
  readonly otherLabels?: readonly string[]
  readonly create?: readonly number[]
  readonly update?: Readonly<Record<string, number>>
  readonly remove?: readonly string[]
  readonly unchanged?: readonly string[]
  readonly added?: number
  readonly removed?: number
}

const cases: readonly Case[] = [
  { title: 'nothing desired, nothing there', desired: [] },
  {
    title: 'Given 250 pods and max 100, then slices of 100,100,50',
    desired: range(0, 250),
    create: [100, 100, 50],
    added: 250,
  },
  ...(
    [
      [50, [50, 50, 50, 50, 50]],
      [80, [80, 80, 80, 10]],
      [150, [150, 100]],
      [250, [250]],
      [500, [250]],
    ] as const
  ).map(([max, create]) => ({
    title: `Given 250 endpoints and max 50, 80, 150, 250, 500, then 5 (5x50), 4 (80,80,80,10), 2 (150,100), 1, 1 slices: ${max}`,
    desired: range(0, 250),
    max,
    create,
    added: 250,
  })),
  {
    title:
      'Given existing slices with 62 and 61 endpoints, max 100 and 127 to add, then one create of 100 and one update (62 -> 89)',
    slices: [range(0, 62), range(62, 123)],
    desired: range(0, 250),
    create: [100],
    update: { 'svc-0': 89 },
    unchanged: ['svc-1'],
    added: 127,
  },
  {
    title: 'Given many slices with slack but not enough in one, then a new slice is created',
    slices: [range(0, 75), range(75, 150)],
    desired: range(0, 180),
    create: [30],
    unchanged: ['svc-0', 'svc-1'],
    added: 30,
  },
  {
    title: 'Given mixed fullness, then updates pack into fullest first',
    slices: [range(0, 20), range(20, 80), range(80, 120), range(120, 180)],
    desired: [
      ...range(0, 20, unready),
      ...range(20, 80, unready),
      ...range(80, 120),
      ...range(120, 179),
      ...range(200, 290),
    ],
    update: { 'svc-0': 29, 'svc-1': 100, 'svc-3': 100 },
    unchanged: ['svc-2'],
    added: 90,
    removed: 1,
  },
  {
    title:
      'An exact multiple of the maximum left over creates a new slice rather than filling an unchanged one',
    slices: [range(0, 1), range(1, 2)],
    desired: range(0, 12),
    max: 10,
    create: [10],
    unchanged: ['svc-0', 'svc-1'],
    added: 10,
  },
  {
    title: 'one less than the maximum fills an unchanged slice',
    slices: [range(0, 1)],
    desired: range(0, 10),
    max: 10,
    update: { 'svc-0': 10 },
    added: 9,
  },
  {
    title: 'of unchanged slices the one that becomes fullest is filled, and only that one',
    slices: [range(0, 5), range(10, 17), range(20, 29)],
    desired: [...range(0, 5), ...range(10, 17), ...range(20, 29), ...range(30, 33)],
    max: 10,
    update: { 'svc-1': 10 },
    unchanged: ['svc-0', 'svc-2'],
    added: 3,
  },
  {
    title: 'Shrinking does not merge half-empty slices',
    slices: [range(0, 100), range(100, 200), range(200, 250)],
    desired: [...range(0, 10), ...range(100, 110), ...range(200, 250)],
    update: { 'svc-0': 10, 'svc-1': 10 },
    unchanged: ['svc-2'],
    removed: 180,
  },
  {
    title:
      'a slice that loses its last endpoint goes, and no other takes in what is new in its place',
    slices: [range(0, 2), range(2, 3)],
    desired: range(0, 2),
    remove: ['svc-1'],
    unchanged: ['svc-0'],
    removed: 1,
  },
  {
    title: 'a slice over a lowered maximum stays as it is',
    slices: [range(0, 20)],
    desired: range(0, 20),
    max: 10,
    unchanged: ['svc-0'],
  },
  {
    title: 'an update over a lowered maximum takes in nothing',
    slices: [range(0, 20)],
    desired: [...range(0, 19), ...range(30, 33)],
    max: 10,
    create: [3],
    update: { 'svc-0': 19 },
    added: 3,
    removed: 1,
  },
  {
    title: 'other labels alone are an update',
    slices: [range(0, 2), range(2, 4)],
    desired: range(0, 4),
    otherLabels: ['svc-1'],
    update: { 'svc-1': 2 },
    unchanged: ['svc-0'],
  },
  {
    title: 'an endpoint that stands in two slices stays in the first',
    slices: [range(0, 2), range(1, 3)],
    desired: range(0, 3),
    update: { 'svc-1': 1 },
    unchanged: ['svc-0'],
    removed: 1,
  },
  {
    title: 'an empty slice of the same ports is filled',
    slices: [[]],
    desired: range(0, 1),
    update: { 'svc-0': 1 },
    added: 1,
  },
  {
    title: 'an empty slice with nothing desired stays',
    slices: [[]],
    desired: [],
    unchanged: ['svc-0'],
  },
]

for (const { title, slices = [], desired, max = 100, otherLabels = [], ...expected } of cases) {
  test(title, () => {
    const existing = slices.map((endpoints, index) => ownSlice({ name: `svc-${index}`, endpoints }))
    const packed = packGroup(existing, new EndpointSet(desired), {
      maxEndpointsPerSlice: max,
      labels: { of: 'service' },
      changedLabels: ({ metadata }) =>
        otherLabels.includes(metadata?.name ?? '') ? { of: 'service' } : undefined,
      emptySlice: () => ownSlice({ name: '' }),
    })
    assert.deepEqual(summaryOf(packed), {
      create: expected.create ?? [],
      update: expected.update ?? {},
      remove: expected.remove ?? [],
      unchanged: expected.unchanged ?? [],
      added: expected.added ?? 0,
      removed: expected.removed ?? 0,
    })
    const all = [...packed.create, ...packed.update, ...packed.unchanged]
    const pods = all.flatMap(({ endpoints = [] }) =>
      endpoints.map(({ targetRef }) => targetRef?.uid),
    )
    assert.deepEqual(pods.toSorted(), desired.map(({ targetRef }) => targetRef?.uid).toSorted())
  })
}

function summaryOf({ create, update, remove, unchanged, added, removed }: PackedGroup) {
  const nameOf = ({ metadata }: { metadata?: { name?: string } }): string => metadata?.name ?? ''
  return {
    create: create.map(sizeOf),
    update: Object.fromEntries(update.map((slice) => [nameOf(slice), sizeOf(slice)])),
    remove: remove.map(nameOf),
    unchanged: unchanged.map(nameOf),
    added,
    removed,
  }
}

const hinted = { hints: { forZones: [{ name: 'z' }] } }
const states: readonly (readonly [title: string, before: Partial<Endpoint>, writes: boolean])[] = [
  ['conditions', unready, true],
  ['the node', { nodeName: 'n' }, true],
  ['the zone', { zone: 'z' }, true],
  ['the uid of the pod', { targetRef: { ...endpoint(0).targetRef, uid: 'other' } }, true],
  [
    'the resourceVersion of the pod',
    { targetRef: { ...endpoint(0).targetRef, resourceVersion: '7' } },
    false,
  ],
  ['hints', hinted, false],
]
for (const [title, before, writes] of states) {
  test(`another state in place: ${title} ${writes ? 'is' : 'is not'} written`, () => {
    const packed = packGroup(
      [ownSlice({ endpoints: [endpoint(0, before)] })],
      new EndpointSet([endpoint(0)]),
      {
        maxEndpointsPerSlice: 100,
        labels: {},
        changedLabels: () => undefined,
        emptySlice: () => ownSlice({ name: '' }),
      },
    )
    assert.equal(packed.update.length, writes ? 1 : 0)
    if (writes) assert.deepEqual(packed.update[0]?.endpoints, [endpoint(0)])
    assert.equal(packed.added, 0)
  })
}

test('a written slice keeps its object but endpoints and labels; a created one has the ports of the group', () => {
  const before = ownSlice({ endpoints: range(0, 2) })
  const annotated = { ...before, metadata: { ...before.metadata, annotations: { mine: 'x' } } }
  const packed = packGroup([annotated], new EndpointSet([endpoint(0)]), {
    maxEndpointsPerSlice: 100,
    labels: { of: 'service' },
    changedLabels: () => undefined,
    emptySlice: () => ownSlice({ name: '' }),
  })
  const [written] = packed.update
  assert.deepEqual(written?.metadata, { ...annotated.metadata, labels: { of: 'service' } })
  assert.deepEqual(written?.ports, HTTP_PORTS)
  assert.equal(sizeOf(annotated), 2)
})

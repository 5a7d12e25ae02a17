import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { labelChanges, noScheduleChanges } from './condition-taints.ts'
import { condition, node, taint } from './fixtures.ts'
import type { Status } from './fixtures.ts'
import { reconcileNode } from './node-logic.ts'
import { swapTaints } from './node-writes.ts'

const taints: readonly (readonly [string, Status, readonly string[]])[] = [
  ['Ready', 'True', []],
  ['Ready', 'False', ['not-ready']],
  ['Ready', 'Unknown', ['unreachable']],
  ...(
    [
      ['MemoryPressure', 'memory-pressure'],
      ['DiskPressure', 'disk-pressure'],
      ['PIDPressure', 'pid-pressure'],
      ['NetworkUnavailable', 'network-unavailable'],
    ] as const
  ).flatMap(
    ([type, key]) =>
      [
        [type, 'True', [key]],
        [type, 'False', []],
        [type, 'Unknown', []],
      ] as const,
  ),
]
test('taints come in the order of the conditions, and the one of an unschedulable node last', () => {
  const conditions = [
    condition('MemoryPressure', 'True'),
    condition('DiskPressure', 'True'),
    condition('Ready', 'False'),
  ]
  const cordoned = { ...node('n', { conditions }), spec: { unschedulable: true } }
  const { add } = noScheduleChanges(cordoned)
  const keys = ['memory-pressure', 'disk-pressure', 'not-ready', 'unschedulable']
  assert.deepEqual(
    add,
    keys.map((key) => `node.kubernetes.io/${key}`),
  )
})

test('Given MemoryPressure/DiskPressure/NetworkUnavailable/Ready combinations, then the exact NoSchedule taint set results and user taints stay', () => {
  for (const [type, status, keys] of taints) {
    const { add, remove } = noScheduleChanges(node('n', { conditions: [condition(type, status)] }))
    assert.deepEqual(
      add,
      keys.map((key) => `node.kubernetes.io/${key}`),
      `${type} ${status}`,
    )
    assert.deepEqual(remove, [])
  }
  const user = { key: 'example.com/own', effect: 'NoSchedule' } as const
  const before = node('n', {
    conditions: [condition('DiskPressure', 'True'), condition('MemoryPressure', 'True')],
    taints: [
      user,
      taint('memory-pressure', 'NoSchedule'),
      taint('not-ready', 'NoSchedule'),
      taint('unreachable'),
    ],
  })
  assert.deepEqual(noScheduleChanges(before), {
    add: ['node.kubernetes.io/disk-pressure'],
    remove: ['node.kubernetes.io/not-ready'],
  })
  let live = before
  drive(reconcileNode(before), {
    onRead: () => ({ ok: true, object: live }),
    onWrite(write) {
      assert.ok(write.verb === 'patch' && write.patch.type === 'strategic')
      const value = write.patch.value as { spec: object }
      live = { ...live, spec: { ...live.spec, ...value.spec } }
      return undefined
    },
  })
  assert.deepEqual(live.spec?.taints, [
    user,
    taint('memory-pressure', 'NoSchedule'),
    taint('unreachable'),
    { ...taint('disk-pressure', 'NoSchedule'), timeAdded: '2026-01-01T00:00:00Z' },
  ])
})

test('a cordoned node has its taint, and loses it', () => {
  const key = 'node.kubernetes.io/unschedulable'
  const cordoned = { ...node('n'), spec: { unschedulable: true } }
  assert.deepEqual(noScheduleChanges(cordoned), { add: [key], remove: [] })
  const free = node('n', { taints: [taint('unschedulable', 'NoSchedule')] })
  assert.deepEqual(noScheduleChanges(free), { add: [], remove: [key] })
})

test('Given a node with `kubernetes.io/os` only, then `beta.kubernetes.io/os` is added; mismatches are overwritten by the stable key', () => {
  const of = (labels: Record<string, string>) => labelChanges(node('n', { labels }))
  assert.deepEqual(of({ 'kubernetes.io/os': 'linux' }), { 'beta.kubernetes.io/os': 'linux' })
  assert.deepEqual(of({ 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'amd64' }), {
    'beta.kubernetes.io/arch': 'arm64',
  })
  assert.deepEqual(of({ 'beta.kubernetes.io/os': 'linux' }), {})
  assert.deepEqual(of({ 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' }), {})
  assert.deepEqual(labelChanges({ metadata: {} }), {})
  const labelled = node('n', { labels: { 'kubernetes.io/os': 'linux' } })
  const { writes } = drive(reconcileNode(labelled), {
    onRead: () => ({
      ok: true,
      object: { ...labelled, metadata: { name: 'n', resourceVersion: '7' } },
    }),
  })
  assert.deepEqual(
    writes.map(
      (write) => write.verb === 'patch' && write.patch.type !== 'json' && write.patch.value,
    ),
    [{ metadata: { resourceVersion: '7', labels: { 'beta.kubernetes.io/os': 'linux' } } }],
  )
})

test('a node that is as it should be costs nothing', () => {
  assert.deepEqual(drive(reconcileNode(node('n', { ready: 'True' }))).effects, [])
})

test('a taint patch carries the version that was read, is tried five times on conflict, and the last taint goes by null', () => {
  const tainted = node('n', { taints: [taint('not-ready')] })
  const live = { ...tainted, metadata: { ...tainted.metadata, resourceVersion: '7' } }
  const onRead = () => ({ ok: true, object: live }) as const
  const keys = ['node.kubernetes.io/not-ready']
  const { writes, result } = drive(swapTaints(tainted, 'NoExecute', [], keys), {
    onRead,
    onWrite: () => refused(409, 'Conflict'),
  })
  assert.equal(writes.length, 5)
  assert.ok(result !== undefined)
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.patch.type === 'strategic')
  assert.deepEqual(write.patch.value, {
    metadata: { resourceVersion: '7' },
    spec: { taints: null },
  })
  const other = drive(swapTaints(tainted, 'NoExecute', keys, keys), {
    onRead,
    onWrite: () => refused(500, 'InternalError'),
  })
  assert.equal(other.writes.length, 1)
})

test('a taint that somebody added meanwhile is there once; the same key with another effect stays', () => {
  const own = taint('not-ready')
  const live = node('n', { taints: [{ ...own, value: 'old' }, taint('not-ready', 'NoSchedule')] })
  const { writes } = drive(swapTaints(node('n'), 'NoExecute', [own.key], []), {
    onRead: () => ({ ok: true, object: live }),
  })
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.patch.type === 'strategic')
  assert.deepEqual((write.patch.value as Node).spec?.taints, [
    taint('not-ready', 'NoSchedule'),
    { ...own, timeAdded: '2026-01-01T00:00:00Z' },
  ])
})

test('what somebody else took away meanwhile is not taken away again', () => {
  const tainted = node('n', { taints: [taint('not-ready')] })
  const keys = ['node.kubernetes.io/not-ready']
  const { writes } = drive(swapTaints(tainted, 'NoExecute', [], keys), {
    onRead: () => ({ ok: true, object: node('n') }),
  })
  assert.deepEqual(writes, [])
})

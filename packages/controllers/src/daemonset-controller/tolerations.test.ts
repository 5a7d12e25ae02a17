import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Toleration } from '@gyropilot/api'
import { daemonTolerations } from './tolerations.ts'

const CONTAINERS = { containers: [] }
const added: readonly (readonly [string, string])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
]
const tolerations = added.map(([key, effect]) => ({ key, operator: 'Exists', effect }))

test('every daemon pod tolerates the troubles of a node, in the order of the page', () => {
  assert.deepEqual(daemonTolerations(CONTAINERS), tolerations)
  assert.deepEqual(daemonTolerations(undefined), tolerations)
})

test('with the network of the host also a node without a network of its own', () => {
  assert.deepEqual(daemonTolerations({ ...CONTAINERS, hostNetwork: true }), [
    ...tolerations,
    { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
  ])
})

test('those of the template stay in front; one that says the same for a limited time is replaced in its place', () => {
  const own: readonly Toleration[] = [
    {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 5,
    },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/disk-pressure', operator: 'Equal', effect: 'NoSchedule' },
    {
      key: 'node.kubernetes.io/pid-pressure',
      operator: 'Exists',
      effect: 'NoSchedule',
      value: 'x',
    },
  ]
  const { 1: unreachable, ...others } = tolerations
  assert.deepEqual(daemonTolerations({ ...CONTAINERS, tolerations: own }), [
    unreachable,
    ...own.slice(1),
    ...Object.values(others),
  ])
})

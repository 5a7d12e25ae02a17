import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { claimProblem, volumeFilter } from './claims.ts'
import type { ClaimListers } from './claims.ts'
import { NodeInfo } from './node-info.ts'

interface Given {
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly volumes?: readonly PersistentVolume[]
  readonly classes?: readonly StorageClass[]
}

function listersOf({ claims = [], volumes = [], classes = [] }: Given): ClaimListers {
  const named =
    <T extends { metadata?: { name?: string } }>(items: readonly T[]) =>
    (_: string | undefined, name: string) =>
      items.find(({ metadata }) => metadata?.name === name)
  return {
    claims: { get: named(claims) },
    volumes: { get: named(volumes) },
    classes: { get: named(classes) },
  }
}

const user: Pod = pod({
  spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
})

const claim = (given: PersistentVolumeClaim = {}): PersistentVolumeClaim => ({
  ...given,
  metadata: { name: 'data', ...given.metadata },
})
const bound = claim({
  metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { volumeName: 'disk' },
})
const storageClass = (volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer'): StorageClass => ({
  metadata: { name: 'fast' },
  provisioner: 'example.com/disk',
  volumeBindingMode,
})
const wanting = claim({ spec: { storageClassName: 'fast' } })

const PROBLEMS: readonly (readonly [string, Given, string | undefined])[] = [
  ['claim missing', {}, 'persistentvolumeclaim "data" not found'],
  [
    'claim Lost',
    { claims: [claim({ spec: { volumeName: 'disk' }, status: { phase: 'Lost' } })] },
    'persistentvolumeclaim "data" bound to non-existent persistentvolume "disk"',
  ],
  [
    'claim deleting',
    { claims: [claim({ ...bound, metadata: { ...bound.metadata, deletionTimestamp: 'now' } })] },
    'persistentvolumeclaim "data" is being deleted',
  ],
  [
    'unbound, Immediate class',
    { claims: [wanting], classes: [storageClass('Immediate')] },
    'pod has unbound immediate PersistentVolumeClaims',
  ],
  ['unbound, no class', { claims: [claim()] }, 'pod has unbound immediate PersistentVolumeClaims'],
  [
    'unbound, WaitForFirstConsumer',
    { claims: [wanting], classes: [storageClass('WaitForFirstConsumer')] },
    undefined,
  ],
  ['bound', { claims: [bound] }, undefined],
]
for (const [title, given, wanted] of PROBLEMS) {
  test(`${title}: ${wanted ?? 'the pod may go'}`, () => {
    assert.equal(claimProblem(user, listersOf(given)), wanted)
    assert.equal(claimProblem(pod(), listersOf(given)), undefined, 'a pod without claims may go')
  })
}

test('an ephemeral volume waits for its controller', () => {
  const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } }]
  assert.equal(
    claimProblem(pod({ name: 'p', spec: { volumes } }), listersOf({})),
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"',
  )
})

test('PV node affinity must match, and the PV must exist', () => {
  const info = new NodeInfo('n1')
  info.setNode(node({ name: 'n1', labels: { zone: 'a' } }))
  const disk = (zone: string): PersistentVolume => ({
    metadata: { name: 'disk' },
    spec: {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] },
          ],
        },
      },
    },
  })
  const reasons = (volumes: readonly PersistentVolume[]) =>
    volumeFilter(user, listersOf({ claims: [bound], volumes }))?.(info)
  assert.deepEqual(reasons([disk('a')]), [])
  assert.deepEqual(reasons([{ metadata: { name: 'disk' }, spec: {} }]), [])
  assert.deepEqual(reasons([disk('b')]), ["node(s) didn't match PersistentVolume's node affinity"])
  assert.deepEqual(reasons([]), [
    'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
  ])
})

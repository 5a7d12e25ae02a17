import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Endpoints, ObjectMeta } from '@gyropilot/api'
import { desiredMirrors } from './desired-mirrors.ts'
import { customEndpoints } from './fixtures.ts'
import { isCurrentMirror, newMirror } from './mirror-object.ts'

const UNMIRRORED = {
  'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
  'kubectl.kubernetes.io/last-applied-configuration': '{}',
}
const endpoints = customEndpoints(undefined, {
  labels: { team: 'a' },
  annotations: { note: 'x', ...UNMIRRORED },
})
const mirrorOf = (of: Endpoints): EndpointSlice => newMirror(of, desiredMirrors(of, 10).mirrors[0]!)
const mirror = mirrorOf(endpoints)
const labels = mirror.metadata!.labels!

test('a mirror has the labels, the annotations that mean something on it, and one owner', () => {
  assert.deepEqual(mirror.metadata, {
    generateName: 'svc-',
    namespace: 'ns',
    labels: {
      team: 'a',
      'kubernetes.io/service-name': 'svc',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    annotations: { note: 'x' },
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        name: 'svc',
        uid: 'endpoints-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  })
  const bare = mirrorOf(customEndpoints(undefined, { annotations: UNMIRRORED }))
  assert.equal('annotations' in bare.metadata!, false)
})

const owner = mirror.metadata!.ownerReferences![0]!
const others: readonly (readonly [string, Partial<ObjectMeta>, boolean])[] = [
  ['is as it was written', {}, true],
  ['has another label', { labels: { ...labels, more: 'x' } }, false],
  ['lacks a label', { labels: { ...labels, team: 'b' } }, false],
  ['has another annotation', { annotations: { note: 'x', more: 'y' } }, false],
  ['lacks an annotation', { annotations: {} }, false],
  ['has no annotation at all', { annotations: undefined }, false],
  [
    'belongs to Endpoints that had the name before',
    { ownerReferences: [{ ...owner, uid: 'old' }] },
    false,
  ],
  [
    'belongs to other Endpoints',
    { ownerReferences: [{ ...owner, name: 'other', uid: 'o' }] },
    true,
  ],
  ['belongs to another kind', { ownerReferences: [{ ...owner, kind: 'Service', uid: 's' }] }, true],
  ['belongs to nobody', { ownerReferences: undefined }, true],
  [
    'belongs to an earlier one among others',
    { ownerReferences: [owner, { ...owner, uid: 'old' }] },
    false,
  ],
]
for (const [title, metadata, isCurrent] of others) {
  test(`a mirror that ${title} ${isCurrent ? 'will do' : 'is written anew'}`, () => {
    const changed = { ...mirror, metadata: { ...mirror.metadata, ...metadata } }
    assert.equal(isCurrentMirror(changed, endpoints), isCurrent)
  })
}

test('without labels and annotations a bare mirror will do', () => {
  const bare = customEndpoints()
  assert.ok(isCurrentMirror(mirrorOf(bare), bare))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discovered } from './fixtures.ts'
import type { PassFindings } from './status.ts'
import { conditionsAfterPass } from './status.ts'

const CLEAN: PassFindings = {
  discoveryError: undefined,
  discoveryFailures: [],
  deletionErrors: [],
  remaining: [],
  finalizers: new Map(),
}
const NOW_MS = Date.UTC(2026, 0, 1)

test('Given old and new conditions, then change detection and transition times follow the table', () => {
  const first = conditionsAfterPass(
    [],
    { ...CLEAN, deletionErrors: [new Error('b'), new Error('a')] },
    NOW_MS,
  )
  assert.equal(first?.length, 5)
  assert.equal(first?.[2]?.message, 'Failed to delete all resource types, 2 remaining: a, b')
  const later = NOW_MS + 60_000
  const again = conditionsAfterPass(first!, { ...CLEAN, deletionErrors: [new Error('c')] }, later)
  assert.equal(
    again?.[2]?.lastTransitionTime,
    '2026-01-01T00:00:00Z',
    'another message, the same status',
  )
  const healed = conditionsAfterPass(again!, CLEAN, later)
  assert.equal(healed?.[2]?.status, 'False')
  assert.equal(healed?.[2]?.lastTransitionTime, '2026-01-01T00:01:00Z')
  assert.equal(conditionsAfterPass(healed!, CLEAN, later + 1000), undefined)
})

test('totals give sorted messages', () => {
  const type = (resource: string, group: string) => ({
    ...discovered().resources[0]!,
    group,
    resource,
  })
  const conditions = conditionsAfterPass(
    [],
    {
      ...CLEAN,
      remaining: [
        { type: type('pods', ''), count: 2 },
        { type: type('deployments', 'apps'), count: 1 },
      ],
      finalizers: new Map([
        ['z.io/z', 1],
        ['a.io/a', 3],
      ]),
    },
    NOW_MS,
  )
  assert.equal(
    conditions?.[3]?.message,
    'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
  )
  assert.equal(
    conditions?.[4]?.message,
    'Some content in the namespace has finalizers remaining: a.io/a in 3 resource instances, z.io/z in 1 resource instances',
  )
})

test('failing groups of discovery are counted and named', () => {
  const [discovery] =
    conditionsAfterPass([], { ...CLEAN, discoveryFailures: ['m/v1: x'] }, NOW_MS) ?? []
  assert.equal(
    discovery?.message,
    'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: m/v1: x',
  )
})

test('the conditions of a pass that found nothing, and of one that found all of it, are those of the page', () => {
  const said = (findings: PassFindings) =>
    conditionsAfterPass([], findings, NOW_MS)?.map((each) => [
      each.type,
      each.status,
      each.reason,
      each.message,
    ])
  assert.deepEqual(said(CLEAN), [
    [
      'NamespaceDeletionDiscoveryFailure',
      'False',
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    [
      'NamespaceDeletionContentFailure',
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed'],
    [
      'NamespaceFinalizersRemaining',
      'False',
      'ContentHasNoFinalizers',
      'All content-preserving finalizers finished',
    ],
  ])
  const [type] = discovered().resources
  const all: PassFindings = {
    discoveryError: new Error('down'),
    discoveryFailures: [],
    deletionErrors: [new Error('a')],
    remaining: [{ type: type!, count: 1 }],
    finalizers: new Map([['f.io/f', 1]]),
  }
  assert.deepEqual(
    said(all)?.map(([, status, reason, message]) => [status, reason, message]),
    [
      ['True', 'DiscoveryFailed', 'down'],
      ['False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      ['True', 'ContentDeletionFailed', 'Failed to delete all resource types, 1 remaining: a'],
      [
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances',
      ],
      [
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: f.io/f in 1 resource instances',
      ],
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stored } from '../../registry/kind-rules.ts'
import { judgeApproval, judgeNames } from './naming.ts'

const names = {
  plural: 'things',
  singular: 'thing',
  kind: 'Thing',
  listKind: 'ThingList',
  shortNames: ['t'],
}

function definition(
  asked: Stored,
  acceptedNames?: Stored,
  conditions: readonly Stored[] = [],
): Stored {
  return {
    metadata: { name: 'x' },
    spec: { group: 'a.example.com', names: asked },
    status: { acceptedNames, conditions },
  }
}

test('names that nobody uses are accepted', () => {
  const { acceptedNames, namesAccepted, established } = judgeNames(definition(names), [])
  assert.deepEqual(acceptedNames, names)
  assert.deepEqual(namesAccepted, {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  })
  assert.deepEqual(established, {
    type: 'Established',
    status: 'False',
    reason: 'Installing',
    message: 'the initial names have been accepted',
  })
})

test('each name in use has its reason, the last one counts, and the free ones are accepted', () => {
  const cases: readonly [Stored, string, string, readonly string[]][] = [
    [
      { plural: 'things' },
      'PluralConflict',
      '"things" is already in use',
      ['singular', 'kind', 'listKind', 'shortNames'],
    ],
    [
      { plural: 'others', singular: 'thing' },
      'SingularConflict',
      '"thing" is already in use',
      ['plural', 'kind', 'listKind', 'shortNames'],
    ],
    [
      { shortNames: ['t'] },
      'ShortNamesConflict',
      '"t" is already in use',
      ['plural', 'singular', 'kind', 'listKind'],
    ],
    [
      { kind: 'Thing' },
      'KindConflict',
      '"Thing" is already in use',
      ['plural', 'singular', 'listKind', 'shortNames'],
    ],
    [
      { plural: 'things', kind: 'ThingList' },
      'ListKindConflict',
      '"ThingList" is already in use',
      ['singular', 'kind', 'shortNames'],
    ],
  ]
  for (const [held, reason, message, accepted] of cases) {
    const judged = judgeNames(definition(names), [definition({}, held)])
    assert.deepEqual([judged.namesAccepted.reason, judged.namesAccepted.message], [reason, message])
    assert.deepEqual(
      Object.keys(names)
        .filter((field) => judged.acceptedNames[field])
        .toSorted(),
      [...accepted].toSorted(),
    )
    assert.equal(judged.established?.reason, 'NotAccepted')
  }
})

test('several short names in use stand in one message', () => {
  const judged = judgeNames(definition({ ...names, shortNames: ['qq', 'q'] }), [
    definition({}, { shortNames: ['q', 'qq'] }),
  ])
  assert.equal(judged.namesAccepted.message, '["qq" is already in use, "q" is already in use]')
})

test('a definition keeps what it holds, and once established stays so', () => {
  const conditions = [{ type: 'Established', status: 'True' }]
  const judged = judgeNames(definition({ ...names, kind: 'Taken' }, names, conditions), [
    definition({}, { kind: 'Taken' }),
  ])
  assert.equal(judged.acceptedNames['kind'], 'Thing')
  assert.equal(judged.established, undefined)
})

test('groups of the project need an approval', () => {
  const cases: readonly [string | undefined, string, string][] = [
    [undefined, 'False', 'MissingAnnotation'],
    ['unapproved, experimental', 'False', 'UnapprovedAnnotation'],
    ['not a url', 'False', 'InvalidAnnotation'],
    ['https://github.com/kubernetes/kubernetes/pull/1', 'True', 'ApprovedAnnotation'],
  ]
  for (const [value, status, reason] of cases) {
    const annotations = value === undefined ? {} : { 'api-approved.kubernetes.io': value }
    const condition = judgeApproval({ metadata: { annotations }, spec: { group: 'x.k8s.io' } })
    assert.deepEqual([condition?.status, condition?.reason], [status, reason])
  }
  assert.equal(judgeApproval({ metadata: {}, spec: { group: 'x.example.com' } }), undefined)
})

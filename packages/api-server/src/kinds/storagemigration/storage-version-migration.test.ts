import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, statusErrors, updateErrors } from '../fixtures.ts'

const MIGRATION = {
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  kind: 'StorageVersionMigration',
  namespaced: false,
}
const of = (resource: string, group = ''): object => ({ spec: { resource: { group, resource } } })
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const NONE = 'spec.resource.resource: Required value: resource is required to be set'

/** As kube-apiserver 1.36.2 answered. */
const CASES: readonly (readonly [string, object, readonly string[]])[] = [
  ['a resource of a group', of('deployments', 'apps'), []],
  ['a resource without group', of('pods'), []],
  ['nothing', {}, [NONE]],
  ['a group alone', { spec: { resource: { group: 'apps' } } }, [NONE]],
  [
    'a subresource',
    of('deployments/status', 'apps'),
    [`spec.resource.resource: Invalid value: "deployments/status": ${LABEL}`],
  ],
  ['both wrong', of('-', '-'), [`spec.resource.resource: Invalid value: "-": ${LABEL}`]],
]
for (const [title, object, errors] of CASES) {
  test(`a migration: ${title}`, () => {
    const found = createErrors(MIGRATION, object)
    assert.deepEqual(found.slice(0, errors.length), errors)
    assert.equal(found.length, title === 'both wrong' ? 2 : errors.length)
  })
}

test('what is migrated cannot change', () => {
  assert.deepEqual(updateErrors(MIGRATION, of('pods'), of('pods')), [])
  assert.deepEqual(updateErrors(MIGRATION, of('pods'), of('deployments', 'apps')), [
    'spec: Invalid value: {"Resource":{"group":"apps","resource":"deployments"}}: field is immutable',
  ])
})

const PATH = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'
const TIME = '2026-01-01T00:00:00Z'
const condition = (type: string, status = 'True'): object => ({
  type,
  status,
  lastTransitionTime: TIME,
  reason: 'R',
  message: 'm',
})
const printed = (...types: readonly string[]): string =>
  JSON.stringify(
    types.map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: TIME,
      reason: 'R',
      message: 'm',
    })),
  )
const BOTH = 'Both success and failed conditions cannot be true at the same time'

const STATUSES: readonly (readonly [string, object, object, string | undefined])[] = [
  ['a version', {}, { resourceVersion: '100' }, undefined],
  [
    'a version that is none',
    {},
    { resourceVersion: '012' },
    'status.resourceVersion: Invalid value: "012": resource version is not well formed: 012',
  ],
  [
    'another version',
    { resourceVersion: '100' },
    { resourceVersion: '200' },
    'status.resourceVersion: Invalid value: "200": field is immutable',
  ],
  [
    'a version taken away',
    { resourceVersion: '100' },
    {},
    'status.resourceVersion: Invalid value: "": field is immutable',
  ],
  ['it runs', {}, { conditions: [condition('Running')] }, undefined],
  [
    'it ran and succeeded',
    { conditions: [condition('Running')] },
    { conditions: [condition('Running', 'False'), condition('Succeeded')] },
    undefined,
  ],
  [
    'it succeeded and failed',
    {},
    { conditions: [condition('Succeeded'), condition('Failed')] },
    `status.conditions: Invalid value: ${printed('Succeeded', 'Failed')}: ${BOTH}`,
  ],
  [
    'it succeeded no more',
    { conditions: [condition('Succeeded')] },
    { conditions: [] },
    'status.conditions: Invalid value: []: Success condition cannot be set to false once it is true',
  ],
  [
    'it failed no more',
    { conditions: [condition('Failed')] },
    { conditions: [condition('Running')] },
    `status.conditions: Invalid value: ${printed('Running')}: Failed condition cannot be set to false once it is true`,
  ],
  [
    'a condition without reason',
    {},
    { conditions: [{ ...condition('Running'), reason: '' }] },
    'status.conditions[0].reason: Required value',
  ],
]
for (const [title, before, after, problem] of STATUSES) {
  test(`the status of a migration: ${title}`, () => {
    const errors = statusErrors(MIGRATION, { status: before }, { status: after })
    assert.deepEqual(errors, problem === undefined ? [] : [problem])
  })
}

test('a table shows what is migrated, and how far it is', async () => {
  const { request } = await createTestServer({
    runtimeConfig: { 'storagemigration.k8s.io/v1beta1': true },
    featureGates: { StorageVersionMigrator: true },
  })
  await request('POST', PATH, { metadata: { name: 'a' }, ...of('deployments', 'apps') })
  const made = await request('POST', PATH, { metadata: { name: 'b' }, ...of('pods') })
  await request('PUT', `${PATH}/b/status`, {
    ...made.value,
    status: { conditions: [condition('Running')] },
  })
  const table = await request('GET', PATH, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  assert.deepEqual(
    table.value.rows.map(({ cells }: { cells: unknown }) => cells),
    [
      ['a', 'deployments.apps', 'Unknown'],
      ['b', 'pods', 'Running'],
    ],
  )
})

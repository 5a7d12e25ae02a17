import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourcesFrom, resourcesIn } from './discovered.ts'

const listed = (name: string, more: object = {}): object => ({
  name,
  singularName: 'a',
  namespaced: true,
  kind: 'A',
  verbs: ['get'],
  ...more,
})
const responseKind = { group: '', version: '', kind: 'A' }
const own = {
  resource: 'as',
  responseKind,
  scope: 'Namespaced',
  singularResource: 'a',
  verbs: ['get'],
}

test('of a list: subresources stand in their resource, whatever is missing is empty, what is twice there is twice', () => {
  for (const [resources, expected] of [
    [null, []],
    [[listed('as', { storageVersionHash: 'x' })], [own]],
    [[listed('as', { verbs: undefined })], [{ ...own, verbs: null }]],
    [[listed('as', { singularName: undefined })], [{ ...own, singularResource: '' }]],
    [[listed('as', { shortNames: ['b'], categories: [] })], [{ ...own, shortNames: ['b'] }]],
    [
      [listed('as'), listed('as', { kind: 'B' })],
      [own, { ...own, responseKind: { ...responseKind, kind: 'B' } }],
    ],
    [
      [listed('as/x/y', { version: 'v2' }), listed('as')],
      [
        {
          ...own,
          subresources: [
            {
              subresource: 'x/y',
              responseKind: { ...responseKind, version: 'v2' },
              verbs: ['get'],
            },
          ],
        },
      ],
    ],
  ] as const)
    assert.deepEqual(resourcesFrom({ resources }), expected)
})

test('of the aggregated form: what is known, and nothing where the version is not in it', () => {
  const acceptedTypes = [{ group: 'b', version: 'v1', kind: 'B' }]
  const subresources = [{ subresource: 's', responseKind, acceptedTypes, verbs: ['get'], other: 1 }]
  const document = {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'g' },
        versions: [
          { version: 'v1', resources: [{ ...own, subresources, other: 1 }] },
          { version: 'v2' },
        ],
      },
    ],
  }
  assert.deepEqual(resourcesIn(document, 'g', 'v1'), [
    {
      ...own,
      subresources: [{ subresource: 's', responseKind, acceptedTypes, verbs: ['get'] }],
    },
  ])
  for (const [group, version] of [
    ['g', 'v2'],
    ['g', 'v3'],
    ['h', 'v1'],
  ] as const)
    assert.deepEqual(resourcesIn(document, group, version), [])
  assert.equal(resourcesIn({ kind: 'APIGroupList' }, 'g', 'v1'), undefined)
})

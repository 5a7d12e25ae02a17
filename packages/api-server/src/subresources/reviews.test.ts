import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'
import type { ReviewParts } from './reviews.ts'
import { reviews } from './reviews.ts'

/** The message of the refusal, or undefined. */
async function refusal(
  resource: string,
  body: object,
  namespace = '',
): Promise<string | undefined> {
  const parts = { authorizer: { authorize: () => ({ allowed: true, reason: '' }) } }
  const handler = reviews(parts as unknown as ReviewParts).find(
    (each) => each.resource === resource,
  )!
  const call = { body, namespace, user: { name: 'u', groups: [], extra: {} } }
  try {
    const asked = call as unknown as Parameters<typeof handler.handle>[0]
    handler.check?.(asked)
    await handler.handle(asked)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('what is wrong with a review', async () => {
  const resourceAttributes = { verb: 'get', resource: 'pods' }
  const local = 'localsubjectaccessreviews'
  const spec = { user: 'u', resourceAttributes }
  const cases: readonly (readonly [string, object, string | undefined, string?])[] = [
    ['subjectaccessreviews', { spec }, undefined],
    [
      'subjectaccessreviews',
      { metadata: { name: 'a' }, spec },
      'metadata: Invalid value: {"name":"a"}: must be empty',
    ],
    ['selfsubjectaccessreviews', { metadata: { labels: { a: 'b' } }, spec }, 'must be empty'],
    [
      'selfsubjectaccessreviews',
      { spec: { resourceAttributes, nonResourceAttributes: { path: '/', verb: 'get' } } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'selfsubjectaccessreviews',
      { spec: { resourceAttributes: { ...resourceAttributes, labelSelector: {} } } },
      'spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
    ],
    [
      local,
      {
        metadata: { namespace: 'n' },
        spec: { ...spec, resourceAttributes: { ...resourceAttributes, namespace: 'n' } },
      },
      undefined,
      'n',
    ],
    [
      local,
      {
        metadata: { name: 'a', namespace: 'n' },
        spec: { ...spec, resourceAttributes: { ...resourceAttributes, namespace: 'm' } },
      },
      '[metadata: Invalid value: {"name":"a","namespace":"n"}: must be empty except for namespace, spec.resourceAttributes.namespace: Invalid value: "m": must match metadata.namespace]',
      'n',
    ],
  ]
  for (const [resource, body, message, namespace] of cases) {
    const found = await refusal(resource, body, namespace)
    if (message === undefined) assert.equal(found, undefined, JSON.stringify(body))
    else assert.ok(found?.includes(message), `${found}`)
  }
})

test('a local review answers with the namespace of its path, a rules review with nobody that manages it', async () => {
  const { request } = await createTestServer()
  const group = '/apis/authorization.k8s.io/v1'
  const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' }
  const local = await request('POST', `${group}/namespaces/default/localsubjectaccessreviews`, {
    spec: { user: 'u', resourceAttributes },
  })
  assert.equal(local.value.metadata.namespace, 'default')
  assert.equal(local.value.metadata.managedFields.length, 1)
  const rules = await request('POST', `${group}/selfsubjectrulesreviews`, {
    spec: { namespace: 'default' },
  })
  assert.deepEqual(rules.value.metadata, {})
})

test('what a POST never brings is dropped from a review too, and owners that are named twice are told', async () => {
  const { request } = await createTestServer()
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '1' }
  const metadata = { uid: 'x', resourceVersion: '5', ownerReferences: [owner, owner] }
  const body = { metadata, spec: { token: 'x' } }
  const review = await request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)
  const { managedFields: _managedFields, ...kept } = review.value.metadata
  assert.deepEqual(kept, { resourceVersion: '5', ownerReferences: [owner] })
  assert.match(String(review.headers['warning']), /duplicate UID\(s\) observed: 1/)
})

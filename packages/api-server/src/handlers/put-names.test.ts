import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'

test('the namespace of a body is looked at before its name', async () => {
  const { request } = await createTestServer()
  const put = async (metadata: unknown): Promise<string> =>
    (await request('PUT', '/api/v1/namespaces/default/configmaps/a', { metadata })).value.message
  const wrongNamespace =
    'the namespace of the provided object does not match the namespace sent on the request'
  assert.equal(await put({ name: 'b', namespace: 'x' }), wrongNamespace)
  assert.equal(await put({ namespace: 'x' }), wrongNamespace)
  assert.equal(
    await put({ name: 'b' }),
    'the name of the object (b) does not match the name on the URL (a)',
  )
})

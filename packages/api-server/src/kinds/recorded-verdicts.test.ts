import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'
/** Objects that kube-apiserver 1.36.2 was asked to create as a dry run, and what it answered. */
import recorded from './recorded-verdicts.json' with { type: 'json' }

interface Recorded {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly status: number
  readonly message?: string
  readonly causes?: readonly string[]
}

test('objects are accepted and refused as by the recorded server', async () => {
  const { request } = await createTestServer()
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'fuzz' } })
  const accounts = '/api/v1/namespaces/fuzz/serviceaccounts'
  await request('POST', accounts, { metadata: { name: 'default' } })
  for (const { name, path, body, status, message, causes } of recorded as readonly Recorded[]) {
    const answer = await request('POST', path, body)
    assert.equal(answer.status, status, `${name}: ${answer.value.message}`)
    if (message !== undefined) assert.equal(answer.value.message, message, name)
    const found = answer.value.details?.causes as { field: string; message: string }[] | undefined
    const texts = found?.map((cause) => `${cause.field}: ${cause.message}`).toSorted()
    assert.deepEqual(texts, causes, name)
  }
})

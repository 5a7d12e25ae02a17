import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'
/**
 * Objects that kube-apiserver 1.36.2 was asked to create as a dry run, and what it answered: manifests as people write them,
 * some good and most with one mistake or two, and objects that are odd in one place.
 */
import recorded from './recorded-verdicts.json' with { type: 'json' }

interface Recorded {
  readonly name: string
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly message?: string
  readonly causes?: readonly string[]
  readonly warnings?: string
}

interface Cause {
  readonly field: string
  readonly message: string
}

test('objects are accepted and refused in the words of the recorded server', async () => {
  const { request } = await createTestServer()
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'fuzz' } })
  const accounts = '/api/v1/namespaces/fuzz/serviceaccounts'
  await request('POST', accounts, { metadata: { name: 'default' } })
  for (const { name, path, body, ...expected } of recorded as readonly Recorded[]) {
    const { status, value, headers } = await request('POST', path, body)
    const causes = ((value.details?.causes ?? []) as Cause[])
      .map(({ field, message }) => `${field}: ${message}`)
      .toSorted()
    const warnings = [headers['warning'] ?? []].flat().join(', ')
    const answer = { status, message: value.message, causes, warnings }
    assert.deepEqual({ ...answer, ...expected }, answer, name)
  }
})

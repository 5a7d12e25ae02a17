import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
/** Definitions that kube-apiserver 1.36.2 was asked to create, and what it answered. */
import recorded from './recorded-definitions.json' with { type: 'json' }

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'

interface Recorded {
  readonly name: string
  readonly spec: object
  readonly status: number
  readonly causes?: readonly string[]
  readonly warnings?: readonly string[]
}

test('definitions are accepted and refused as by the recorded server', async () => {
  const { request } = await createTestServer()
  for (const { name, spec, status, causes, warnings } of recorded as readonly Recorded[]) {
    const body = { metadata: { name: 'ps.q.example.com' }, spec }
    const answer = await request('POST', DEFINITIONS, body)
    assert.equal(answer.status, status, name)
    const found = answer.value.details?.causes as { field: string; message: string }[] | undefined
    assert.deepEqual(
      found?.map(({ field, message }) => `${field}: ${message}`).toSorted(),
      causes,
      name,
    )
    const said = [answer.headers['warning'] ?? []].flat()
    assert.deepEqual(said.toSorted(), warnings ?? [], name)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../testing/test-server.ts'
/** Manifests, some good and most with one mistake or two, and what kube-apiserver 1.36.2 answered to each. */
import recorded from './recorded-answers.json' with { type: 'json' }

interface Answer {
  readonly path: string
  readonly object: unknown
  readonly status: number
  readonly message?: string
  readonly warnings?: string
}

test('manifests are judged in the words of the recorded server', async () => {
  const { request } = await createTestServer()
  for (const { path, object, status, message, warnings } of recorded as readonly Answer[]) {
    const answer = await request('POST', `${path}?dryRun=All&fieldValidation=Strict`, object)
    assert.equal(answer.status, status, message ?? path)
    if (status >= 300) assert.equal(answer.value.message, message)
    const told = answer.headers['warning'] as string | readonly string[] | undefined
    assert.equal([told ?? []].flat().join(', '), warnings ?? '')
  }
})

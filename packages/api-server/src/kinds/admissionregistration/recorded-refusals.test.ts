import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
/** Policies that kube-apiserver 1.36.2 refused, most for expressions, with its message. */
import recorded from './recorded-refusals.json' with { type: 'json' }

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All'

test('policies are refused in the words of the recorded server', async () => {
  const { request } = await createTestServer()
  for (const { spec, message } of recorded) {
    const { status, value } = await request('POST', POLICIES, { metadata: { name: 'p' }, spec })
    assert.equal(status, 422)
    assert.equal(value.message, message)
  }
})

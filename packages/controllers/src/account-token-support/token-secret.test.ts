import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountOf, isTokenSecret } from './token-secret.ts'

test('a token is a Secret of its type', () => {
  assert.ok(isTokenSecret({ type: 'kubernetes.io/service-account-token' } as object))
  assert.ok(!isTokenSecret({ type: 'Opaque' } as object))
  assert.ok(!isTokenSecret({}))
})

test('it says in annotations which account it is for; empty where it does not', () => {
  const annotations = {
    'kubernetes.io/service-account.name': 'builder',
    'kubernetes.io/service-account.uid': 'u-1',
  }
  assert.deepEqual(accountOf({ metadata: { annotations } }), { name: 'builder', uid: 'u-1' })
  assert.deepEqual(
    [accountOf({}), accountOf({ metadata: {} })],
    [
      { name: '', uid: '' },
      { name: '', uid: '' },
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret } from '@gyropilot/api'
import { expirationMs, isTokenSecret, tokenForSigning } from './bootstrap-token.ts'
import { tokenSecret } from './fixtures.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const secret = tokenSecret()
const named = (name: string): Secret => ({ ...secret, metadata: { ...secret.metadata, name } })

test('a token is a Secret of its type in kube-system', () => {
  assert.ok(isTokenSecret(secret))
  assert.ok(!isTokenSecret({ ...secret, type: 'Opaque' } as Secret))
  assert.ok(!isTokenSecret({ ...secret, metadata: { ...secret.metadata, namespace: 'default' } }))
})

test('a token ends at its time, never without one, and has ended where nobody can read it', () => {
  const expires = (expiration: string) => expirationMs(tokenSecret({ expiration }))
  assert.deepEqual(
    [expires('2026-01-01T00:00:00Z'), expires(''), expires('tomorrow'), expirationMs({})],
    [NOW_MS, undefined, -Infinity, undefined],
  )
  // Time as Go reads it: not quite RFC 3339.
  assert.deepEqual(
    [expires('2026-01-01T0:00:00Z'), expires('2026-01-02T00:00:00+24:00')],
    [NOW_MS, NOW_MS],
  )
  assert.deepEqual(
    [expires('2026-01-01t00:00:00z'), expires('2026-01-01T24:00:00Z')],
    [-Infinity, -Infinity],
  )
})

const TOKEN = { id: 'abc123', secret: Buffer.from('tokenSecret') }
const cases: readonly (readonly [string, Secret, boolean])[] = [
  ['is well formed and never ends', secret, true],
  ['ends later', tokenSecret({ expiration: '2026-01-01T00:00:01Z' }), true],
  ['ends now', tokenSecret({ expiration: '2026-01-01T00:00:00Z' }), false],
  ['has an end that nobody can read', tokenSecret({ expiration: 'tomorrow' }), false],
  ['is named by another id', named('bootstrap-token-xyz789'), false],
  ['has a name with more', named('bootstrap-token-abc123x'), false],
  ['has a name that begins with more', named('my-bootstrap-token-abc123'), false],
  ['has an id in capitals', tokenSecret({ 'token-id': 'ABC123' }, 'ABC123'), false],
  ['has no secret', tokenSecret({ 'token-secret': '' }), false],
  ['may not sign', tokenSecret({ 'usage-bootstrap-signing': 'false' }), false],
  ['does not say that it may', tokenSecret({ 'usage-bootstrap-signing': '' }), false],
]
for (const [title, object, signs] of cases) {
  test(`a token that ${title} ${signs ? 'signs' : 'does not sign'}`, () => {
    assert.deepEqual(tokenForSigning(object, NOW_MS), signs ? TOKEN : undefined)
  })
}

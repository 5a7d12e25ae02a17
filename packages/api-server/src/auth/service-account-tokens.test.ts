import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SeededRandom, VirtualClock, formatTime } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { createMemoryStore } from '../storage/memory-store.ts'
import { generateKeyPair } from '../tls/index.ts'
import { keyIdOf, signToken } from './json-web-token.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'

/** The texts are those of kube-apiserver 1.36.2, with the same claims. */

const START_MS = Date.UTC(2026, 10, 21)
const NOW = START_MS / 1000
const ISSUER = 'https://kubernetes.default.svc'
const key = generateKeyPair()
const LEGACY = 'kubernetes.io/serviceaccount/'

type Claims = Readonly<Record<string, unknown>>

function world() {
  const clock = new VirtualClock({ startMs: START_MS, settle: () => Promise.resolve() })
  const store = createMemoryStore(clock)
  const tokens = new ServiceAccountTokens({ clock, random: new SeededRandom(1), store, key })
  const put = (collection: string, metadata: Stored, rest: Stored = {}): void => {
    const { namespace, name } = metadata
    const at = namespace === undefined ? name : `${namespace}/${name}`
    store.commit({ collection, key: at }, () => ({ metadata, ...rest }))
  }
  const deletionTimestamp = formatTime(START_MS)
  for (const name of ['robot', 'gone-soon']) {
    const deleted = name === 'gone-soon' ? { deletionTimestamp } : {}
    put('serviceaccounts', { namespace: 'a', name, uid: `${name}-uid`, ...deleted })
    put('pods', { namespace: 'a', name, uid: `${name}-uid`, ...deleted })
    put('secrets', { namespace: 'a', name, uid: `${name}-uid`, ...deleted })
    put('nodes', { name, uid: `${name}-uid`, ...deleted })
  }
  const said = (token: string, asked?: readonly string[]): string => {
    const judged = tokens.judge(token, asked)
    return 'refused' in judged ? judged.refused : `${judged.user.name} ${judged.audiences.join()}`
  }
  return { clock, put, said }
}

const signed = (claims: Claims, keyId = keyIdOf(key.publicKey)): string =>
  signToken(claims, key.privateKey, keyId)

const of = (name: string, uid = `${name}-uid`): { name: string; uid: string } => ({ name, uid })

const bound = (rest: Claims = {}, objects: Claims = {}): Claims => ({
  iss: ISSUER,
  aud: [ISSUER],
  exp: NOW + 600,
  iat: NOW,
  nbf: NOW,
  sub: 'system:serviceaccount:a:robot',
  'kubernetes.io': { namespace: 'a', serviceaccount: of('robot'), ...objects },
  ...rest,
})

const GOOD = `system:serviceaccount:a:robot ${ISSUER}`
const LATE = 'service account token has expired'
const INVALIDATED = 'service account token has been invalidated'
const isFor = (claimed: string, asked: string): string =>
  `token audiences ["${claimed}"] is invalid for the target audiences ["${asked}"]`

describe('a token of an account', () => {
  for (const [what, claims, text] of [
    ['is good', bound(), GOOD],
    ['has a minute of leeway behind its end', bound({ exp: NOW - 60 }), GOOD],
    ['ends', bound({ exp: NOW - 61 }), LATE],
    ['without an end has none', bound({ exp: undefined }), GOOD],
    ['has a minute of leeway before its begin', bound({ nbf: NOW + 60, iat: NOW + 60 }), GOOD],
    ['begins', bound({ nbf: NOW + 61 }), 'service account token is not valid yet'],
    [
      'is not of the future',
      bound({ iat: NOW + 61 }),
      'service account token is issued in the future',
    ],
    [
      'of no time at all',
      bound({ exp: NOW - 900, nbf: NOW + 900, iat: NOW + 900 }),
      'service account token is not valid yet',
    ],
    [
      'with a time that is none',
      bound({ exp: '1' }),
      'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate',
    ],
    ['of another audience and late', bound({ aud: ['x'], exp: 0 }), isFor('x', ISSUER)],
    ['of no audience is the server’s', bound({ aud: undefined }), GOOD],
    ['of an empty list, too', bound({ aud: [] }), GOOD],
    ['of one audience as a text', bound({ aud: ISSUER }), GOOD],
    ['of another issuer', bound({ iss: 'https://other' }), ''],
    ['of nobody', bound({ 'kubernetes.io': undefined }), 'resource name may not be empty'],
    [
      'of no namespace',
      bound({}, { namespace: undefined }),
      'the server could not find the requested resource',
    ],
    [
      'of an account that is not there',
      bound({}, { serviceaccount: of('x') }),
      'serviceaccounts "x" not found',
    ],
    ['late, of an account that is not there', bound({ exp: 0 }, { serviceaccount: of('x') }), LATE],
    [
      'of another account of the name',
      bound({}, { serviceaccount: of('robot', 'u2') }),
      'service account UID (robot-uid) does not match claim (u2)',
    ],
    [
      'that does not tell which account',
      bound({}, { serviceaccount: { name: 'robot' } }),
      'service account UID (robot-uid) does not match claim ()',
    ],
    ['bound to a pod', bound({}, { pod: of('robot') }), GOOD],
    ['bound to no pod', bound({}, { pod: of('x') }), INVALIDATED],
    ['bound to no secret', bound({}, { secret: of('x') }), INVALIDATED],
    ['bound to no node', bound({}, { node: of('x') }), INVALIDATED],
    ['whose pod knows a node', bound({}, { pod: of('robot'), node: of('x') }), GOOD],
    ...(['pod', 'secret', 'node'] as const).map(
      (bond) =>
        [
          `bound to another ${bond} of the name`,
          bound({}, { [bond]: of('robot', 'u2') }),
          `${bond} UID (robot-uid) does not match service account ${bond} ref claim (u2)`,
        ] as const,
    ),
  ] as const)
    test(what, () => assert.equal(world().said(signed(claims)), text))

  test('is asked about for other audiences', () => {
    const { said } = world()
    assert.equal(said(signed(bound()), ['y']), isFor(ISSUER, 'y'))
    const several = said(signed(bound({ aud: ['b', 'a'] })), ['a', 'c', 'b'])
    assert.equal(several, 'system:serviceaccount:a:robot a,b')
  })

  test('lives a minute longer than what it is bound to', async () => {
    const { clock, said } = world()
    const account = { serviceaccount: of('gone-soon') }
    const all = [account, ...['pod', 'secret', 'node'].map((bond) => ({ [bond]: of('gone-soon') }))]
    const answers = (): string[] => all.map((objects) => said(signed(bound({}, objects))))
    await clock.advance(60_000)
    assert.deepEqual(answers(), [GOOD.replace('robot', 'gone-soon'), GOOD, GOOD, GOOD])
    await clock.advance(1000)
    const gone = 'service account a/gone-soon has been deleted'
    assert.deepEqual(answers(), [gone, INVALIDATED, INVALIDATED, INVALIDATED])
  })

  test('names its key, or is tried with all', () => {
    const { said } = world()
    assert.equal(said(signed(bound(), '')), GOOD)
    assert.equal(said(signed(bound(), 'x')), 'invalid signature, no keys found')
    const other = generateKeyPair()
    assert.equal(
      said(signToken(bound(), other.privateKey, keyIdOf(key.publicKey))),
      'go-jose/go-jose: error in cryptographic primitive',
    )
  })
})

describe('the token of a secret', () => {
  const claimsOf = (rest: Claims = {}): Claims => ({
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:a:robot',
    [`${LEGACY}namespace`]: 'a',
    [`${LEGACY}secret.name`]: 's',
    [`${LEGACY}service-account.name`]: 'robot',
    [`${LEGACY}service-account.uid`]: 'robot-uid',
    ...rest,
  })
  const ofAccount = (name: string, uid = `${name}-uid`): Claims => ({
    sub: `system:serviceaccount:a:${name}`,
    [`${LEGACY}service-account.name`]: name,
    [`${LEGACY}service-account.uid`]: uid,
  })

  /** What is said of a token that secret `s` holds. */
  function ofSecret(claims: Claims, metadata: Claims = {}, asked?: readonly string[]): string {
    const { put, said } = world()
    const token = signed(claims)
    const data = { token: Buffer.from(token).toString('base64') }
    put('secrets', { namespace: 'a', name: 's', uid: 'u', ...metadata } as Stored, { data })
    return said(token, asked)
  }

  for (const [what, claims, text] of [
    ['is good, whenever', claimsOf({ exp: 0 }), GOOD],
    ['lacks the subject first', { iss: 'kubernetes/serviceaccount' }, 'sub claim is missing'],
    ['lacks the namespace', claimsOf({ [`${LEGACY}namespace`]: '' }), 'namespace claim is missing'],
    ['lacks the secret', claimsOf({ [`${LEGACY}secret.name`]: 5 }), 'secretName claim is missing'],
    [
      'lacks the account',
      claimsOf({ [`${LEGACY}service-account.name`]: undefined }),
      'serviceAccountName claim is missing',
    ],
    [
      'lacks its uid',
      claimsOf({ [`${LEGACY}service-account.uid`]: undefined }),
      'serviceAccountUID claim is missing',
    ],
    ['has another subject', claimsOf({ sub: 'x' }), 'sub claim is invalid'],
    [
      'names another secret',
      claimsOf({ [`${LEGACY}secret.name`]: 'x' }),
      'Token has been invalidated',
    ],
    ['names no account', claimsOf(ofAccount('x')), 'serviceaccounts "x" not found'],
    [
      'names an account that is deleted',
      claimsOf(ofAccount('gone-soon')),
      'ServiceAccount a/gone-soon has been deleted',
    ],
    [
      'names another account of the name',
      claimsOf(ofAccount('robot', 'u2')),
      'ServiceAccount UID (robot-uid) does not match claim (u2)',
    ],
  ] as const)
    test(what, () => assert.equal(ofSecret(claims), text))

  test('is for the server alone', () => {
    assert.equal(ofSecret(claimsOf(), {}, ['x']), isFor(ISSUER, 'x'))
  })

  test('is the one that the secret holds, while that stays', () => {
    const { said, put } = world()
    const deleted = { deletionTimestamp: formatTime(START_MS) }
    assert.equal(ofSecret(claimsOf(), deleted), 'Token has been invalidated')
    put('secrets', { namespace: 'a', name: 's', uid: 'u' }, { data: { token: 'eA==' } })
    assert.equal(said(signed(claimsOf())), "Token does not match server's copy")
  })

  test('is refused from the day on that it is marked invalid', () => {
    const label = 'kubernetes.io/legacy-token-invalid-since'
    assert.equal(ofSecret(claimsOf(), { labels: { [label]: '' } }), GOOD)
    assert.equal(
      ofSecret(claimsOf(), { labels: { [label]: '2026-01-01' } }),
      "the token in secret a/s for service account a/robot has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
    )
  })
})

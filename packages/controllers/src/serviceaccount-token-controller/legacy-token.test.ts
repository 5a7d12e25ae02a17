import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { account, tokenSecret } from './fixtures.ts'
import { tokenSigner } from './legacy-token.ts'

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ecdsa = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })

const keys = [
  ['RS256', 'sha256', rsa],
  ['ES256', 'sha256', ecdsa('P-256')],
  ['ES384', 'sha384', ecdsa('P-384')],
  ['ES512', 'sha512', ecdsa('P-521')],
] as const
for (const [algorithm, digest, { privateKey, publicKey }] of keys) {
  test(`a token is signed with ${algorithm} and names its key by the hash of the public one`, () => {
    const [header = '', claims = '', signature = ''] = tokenSigner(pem(privateKey))(
      account(),
      tokenSecret(),
    ).split('.')
    const decode = (text: string): string => Buffer.from(text, 'base64url').toString()
    const der = publicKey.export({ type: 'spki', format: 'der' })
    const kid = hash('sha256', der, 'buffer').toString('base64url')
    assert.equal(decode(header), `{"alg":"${algorithm}","kid":"${kid}"}`)
    assert.equal(
      decode(claims),
      '{"iss":"kubernetes/serviceaccount","kubernetes.io/serviceaccount/namespace":"ns","kubernetes.io/serviceaccount/secret.name":"tok","kubernetes.io/serviceaccount/service-account.name":"robot","kubernetes.io/serviceaccount/service-account.uid":"account-uid","sub":"system:serviceaccount:ns:robot"}',
    )
    assert.ok(
      verify(
        digest,
        Buffer.from(`${header}.${claims}`),
        { key: publicKey, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      ),
    )
  })
}

test('P-224 keys and keys of other kinds are rejected', () => {
  const { privateKey } = ecdsa('secp224r1')
  assert.throws(() => tokenSigner(pem(privateKey)), /unknown private key type ec secp224r1/)
  const other = generateKeyPairSync('ed25519').privateKey
  assert.throws(() => tokenSigner(pem(other)), /unknown private key type ed25519, must be RSA/)
  assert.throws(() => tokenSigner('nonsense'))
})

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { FileStore } from '../../files/file-store.ts'
import { FileTree } from '../../files/file-tree.ts'
import { inputOf } from '../../shell/input.ts'
import { runCommand } from '../../shell/run-command.ts'
import { AGNHOST_COMMANDS } from './agnhost-command.ts'

const ISSUER = 'https://kubernetes.default.svc'
const NOW_MS = Date.UTC(2026, 0, 2)

/** A token of an issuer with such a key, and what the issuer publishes. */
function issued(alg: 'RS256' | 'ES256', claims: object = {}) {
  const { publicKey, privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const encoded = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url')
  const all = { iss: ISSUER, aud: ['it'], exp: NOW_MS / 1_000 + 60, ...claims }
  const text = `${encoded({ alg, kid: 'k' })}.${encoded(all)}`
  const key = { key: privateKey, ...(alg === 'ES256' && { dsaEncoding: 'ieee-p1363' as const }) }
  const token = `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  const pages: Readonly<Record<string, object>> = {
    '/.well-known/openid-configuration': {
      issuer: ISSUER,
      jwks_uri: 'https://10.0.0.1:6443/openid/v1/jwks',
    },
    '/openid/v1/jwks': { keys: [{ kid: 'k', ...publicKey.export({ format: 'jwk' }) }] },
  }
  return { token, pages }
}

async function said({ token, pages }: ReturnType<typeof issued>) {
  const root = new FileStore()
  root.set('/token', Buffer.from(token))
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
  const place = {
    commands: AGNHOST_COMMANDS,
    files: new FileTree(root, []),
    askServer: async (path: string) => pages[path],
    hostname: 'p',
    user: { uid: 0, gid: 0, groups: [0] },
    program: '',
    nowMs: () => NOW_MS,
    sleep: async () => {},
    yieldIfLong: () => undefined,
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const words = ['/agnhost', 'test-service-account-issuer-discovery', '--token-path', '/token']
  const exitCode = await runCommand([...words, '--audience=it'], streams, place, new Map())
  return { exitCode, last: all.trimEnd().split('\n').at(-1) }
}

for (const alg of ['RS256', 'ES256'] as const)
  test(`a token signed with ${alg} is proved`, async () => {
    assert.deepEqual(await said(issued(alg)), {
      exitCode: 0,
      last: 'OK: Got valid claims from token!',
    })
  })

for (const [claims, why] of [
  [{ iss: 'https://other' }, `oidc: issuer did not match: expected https://other, got ${ISSUER}`],
  [{ aud: 'them' }, 'oidc: expected audience "it"'],
  [{ exp: NOW_MS / 1_000 - 1 }, 'oidc: token is expired'],
] as const)
  test(`a token with ${JSON.stringify(claims)} is refused`, async () => {
    const last = `failed to validate with in-cluster discovery: ${why}`
    assert.deepEqual(await said(issued('ES256', claims)), { exitCode: 1, last })
  })

test('a token that another key has signed is refused', async () => {
  const last = 'failed to validate with in-cluster discovery: failed to verify signature'
  const { token } = issued('ES256')
  assert.deepEqual(await said({ ...issued('ES256'), token }), { exitCode: 1, last })
})

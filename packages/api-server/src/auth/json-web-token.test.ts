import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test } from 'node:test'
import { generateKeyPair } from '../tls/index.ts'
import { decodeToken, isSignedBy, signToken } from './json-web-token.ts'

const { privateKey, publicKey } = generateKeyPair()
const token = signToken({ iss: 'x' }, privateKey, 'k')
const [header, claims, signature] = token.split('.') as [string, string, string]

function isGood(text: string): boolean {
  const decoded = decodeToken(text)
  return decoded !== undefined && isSignedBy(decoded, publicKey)
}

test('a token is three parts in base64url and nothing else', () => {
  assert.ok(isGood(token))
  for (const text of [
    `${token}!!`,
    `${token}=`,
    `${token}==`,
    `${token}.`,
    `${token}.x`,
    `${header}.${claims}.${signature.slice(0, 3)}%${signature.slice(3)}`,
    `${header}=.${claims}.${signature}`,
    `${header}.${claims}%.${signature}`,
    `${header}.${claims}.+${signature.slice(1)}/`,
    `${header}.${claims}.`,
    `${header}.${claims}`,
    `${header}.${claims}.${signature}A`,
    `${header}.${claims}.${signature}AAA`,
  ])
    assert.ok(!isGood(text), text)
})

test('white space, and bits behind the last byte, count nowhere', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = alphabet[alphabet.indexOf(token.at(-1)!) ^ 1]!
  for (const text of [
    `${token}\n`,
    `${header.slice(0, 4)}\r\n${header.slice(4)}.${claims}.${signature}`,
    token.slice(0, -1) + other,
  ])
    assert.ok(isGood(text), text)
})

test('a token with extensions that have to be understood is refused', () => {
  const encoded = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = (given: object): string => {
    const text = `${encoded({ alg: 'ES256', ...given })}.${claims}`
    const bytes = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${text}.${bytes.toString('base64url')}`
  }
  assert.ok(isGood(signed({ own: true })))
  assert.ok(!isGood(signed({ own: true, crit: ['own'] })))
})

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { generateKeyPair, issueCertificate } from './certificate.ts'
import type { CertificateRequest } from './certificate.ts'
import { findChain } from './chain.ts'
import { EXTENDED_KEY_USAGE } from './extension-identifiers.ts'
import {
  forExampleComOnly,
  leafForLocalhost,
  leafOfOtherBelow,
  otherBelow,
  root,
  withoutOthersBelow,
} from './fixtures.ts'

const NOW_MS = Date.UTC(2100, 0, 1)
const DAY_MS = 24 * 3600 * 1000

interface Party {
  readonly name: string
  readonly keys: ReturnType<typeof generateKeyPair>
  readonly certificate: X509Certificate
}

/** `issuer` undefined: it signs itself. */
function party(name: string, issuer?: Party, changes: Partial<CertificateRequest> = {}): Party {
  const keys = generateKeyPair()
  const { name: issuerName, keys: issuerKeys } = issuer ?? { name, keys }
  const pem = issueCertificate(
    {
      subject: { commonName: name },
      publicKey: keys.publicKey,
      usage: 'authority',
      serialNumber: new Uint8Array(16).fill(1),
      notBeforeMs: NOW_MS - DAY_MS,
      notAfterMs: NOW_MS + DAY_MS,
      ...changes,
    },
    { subject: { commonName: issuerName }, privateKey: issuerKeys.privateKey },
  )
  return { name, keys, certificate: new X509Certificate(pem) }
}

function chainOf(presented: readonly Party[], authorities: readonly Party[]) {
  const certificates = (parties: readonly Party[]) => parties.map(({ certificate }) => certificate)
  return findChain({
    presented: certificates(presented),
    authorities: certificates(authorities),
    usage: EXTENDED_KEY_USAGE.client,
    nowMs: NOW_MS,
  })
}

const client = (issuer: Party, changes: Partial<CertificateRequest> = {}): Party =>
  party('jane', issuer, { usage: 'client', ...changes })

const UNKNOWN = 'x509: certificate signed by unknown authority'
const becauseOf = (problem: string, name: string): string =>
  `${UNKNOWN} (possibly because of "${problem}" while trying to verify candidate authority certificate "${name}")`

describe('a chain', () => {
  test('leads to the authority that signed the certificate', () => {
    const authority = party('authority')
    const jane = client(authority)
    assert.deepEqual(chainOf([jane], [party('other'), authority]).chain, [
      jane.certificate,
      authority.certificate,
    ])
  })

  test('leads over others that were shown, in any order', () => {
    const authority = party('authority')
    const upper = party('upper', authority)
    const lower = party('lower', upper)
    const jane = client(lower)
    const whole = [jane, lower, upper, authority].map(({ certificate }) => certificate)
    assert.deepEqual(chainOf([jane, lower, upper], [authority]).chain, whole)
    assert.deepEqual(chainOf([jane, upper, lower], [authority]).chain, whole)
    assert.equal(chainOf([jane, lower], [authority]).problem, UNKNOWN)
    assert.deepEqual(chainOf([jane], [lower]).chain, whole.slice(0, 2))
  })

  test('is the certificate alone where that is trusted itself', () => {
    const jane = client(party('authority'))
    assert.deepEqual(chainOf([jane], [jane]).chain, [jane.certificate])
  })

  test('is found where nobody has a name, though each looks like its own issuer', () => {
    const authority = party('')
    assert.ok(chainOf([party('', authority, { usage: 'client' })], [authority]).chain)
    const other = party('')
    assert.match(
      chainOf([party('', other, { usage: 'client' })], [authority]).problem!,
      /possibly because of "x509: ECDSA verification failure" .* certificate "serial:\d+"\)$/,
    )
  })

  test('ends at a namesake with another key, and behind it another is tried', () => {
    const [authority, namesake] = [party('authority'), party('authority')]
    const jane = client(authority)
    const problem = becauseOf('x509: ECDSA verification failure', 'authority')
    assert.equal(chainOf([jane], [namesake]).problem, problem)
    assert.ok(chainOf([jane], [namesake, authority]).chain)
  })

  test('ends at what may not sign', () => {
    const server = party('server', undefined, { usage: 'server' })
    const problem =
      'x509: invalid signature: parent certificate cannot sign this kind of certificate'
    assert.equal(chainOf([client(server)], [server]).problem, becauseOf(problem, 'server'))
  })

  test('is over with any of its certificates', () => {
    const past = { notBeforeMs: NOW_MS - 2 * DAY_MS, notAfterMs: NOW_MS - DAY_MS }
    const future = { notBeforeMs: NOW_MS + DAY_MS, notAfterMs: NOW_MS + 2 * DAY_MS }
    const words =
      'x509: certificate has expired or is not yet valid: current time 2100-01-01T00:00:00Z is'
    for (const [dates, problem] of [
      [past, `${words} after 2099-12-31T00:00:00Z`],
      [future, `${words} before 2100-01-02T00:00:00Z`],
    ] as const) {
      const authority = party('authority', undefined, dates)
      assert.equal(chainOf([client(authority)], [authority]).problem, problem)
      const good = party('good')
      assert.equal(chainOf([client(good, dates)], [good]).problem, problem)
    }
  })

  test('is for the purposes of all of its certificates', () => {
    const authority = party('authority')
    const problem = 'x509: certificate specifies an incompatible key usage'
    assert.equal(chainOf([client(authority, { usage: 'server' })], [authority]).problem, problem)
    // No purposes are all of them.
    assert.ok(chainOf([party('lower', authority)], [authority]).chain)
  })

  test('is not looked for without end', () => {
    const namesakes = Array.from({ length: 101 }, () => party('authority'))
    assert.equal(
      chainOf([client(party('authority'))], namesakes).problem,
      'x509: signature check attempts limit reached while verifying certificate chain',
    )
  })

  const among = (presented: readonly string[], authorities: readonly string[]) =>
    findChain({
      presented: presented.map((pem) => new X509Certificate(pem)),
      authorities: authorities.map((pem) => new X509Certificate(pem)),
      usage: EXTENDED_KEY_USAGE.server,
      nowMs: NOW_MS,
    })

  test('is no longer than an authority on it allows', () => {
    assert.equal(
      among([leafOfOtherBelow, otherBelow, withoutOthersBelow], [root]).problem,
      'x509: too many intermediates for path length constraint',
    )
    assert.ok(among([otherBelow, withoutOthersBelow], [root]).chain)
  })

  test('does not lead through what OpenSSL reads and a strict reader does not', () => {
    const authority = party('authority')
    Object.defineProperty(authority.certificate, 'raw', { value: Buffer.from('strange') })
    const { problem } = chainOf([client(authority), authority], [])
    assert.equal(problem, 'x509: malformed certificate')
  })

  test('does not lead through an authority for some names only', () => {
    assert.equal(
      among([leafForLocalhost], [forExampleComOnly]).problem,
      'x509: a root or intermediate certificate is not authorized to sign for this name',
    )
  })
})

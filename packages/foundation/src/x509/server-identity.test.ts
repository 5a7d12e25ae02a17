import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { generateKeyPair, issueCertificate } from './certificate.ts'
import type { CertificateRequest } from './certificate.ts'
import { certificatesOfPem, serverCertificateProblem } from './server-identity.ts'

const keys = generateKeyPair()
const NOW_MS = Date.UTC(2026, 5, 1)
const YEAR_MS = 365 * 24 * 3600 * 1000

function certificate(changes: Partial<CertificateRequest> = {}): string {
  const issuer = { subject: { commonName: 'authority' }, privateKey: keys.privateKey }
  return issueCertificate(
    {
      subject: { commonName: 'localhost' },
      publicKey: keys.publicKey,
      usage: 'server',
      dnsNames: ['localhost', '*.hooks.svc', 'half*'],
      ipAddresses: ['127.0.0.1', '::1'],
      serialNumber: new Uint8Array(16).fill(1),
      notBeforeMs: NOW_MS - YEAR_MS,
      notAfterMs: NOW_MS + YEAR_MS,
      ...changes,
    },
    issuer,
  )
}

const NO_NAMES = { dnsNames: [], ipAddresses: [] }
const UNKNOWN = 'x509: certificate signed by unknown authority'
const DAMAGED = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const LEAF_ERROR = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'

interface Row {
  readonly host?: string
  readonly changes?: Partial<CertificateRequest>
  readonly chainError?: string
  readonly trusted?:
    | 'itself'
    | 'its authority'
    | 'a damaged one and its authority'
    | 'another'
    | 'the machine'
  readonly problem?: string
}

const ROWS: Readonly<Record<string, Row>> = {
  'a name of the list': {},
  'an address of the list': { host: '127.0.0.1' },
  'an IPv6 address': { host: '::1' },
  'a label for the asterisk': { host: 'svc.hooks.svc' },
  'two labels for the asterisk': {
    host: 'a.svc.hooks.svc',
    problem: 'x509: certificate is valid for localhost, *.hooks.svc, half*, not a.svc.hooks.svc',
  },
  'part of a label for the asterisk': {
    host: 'halfway',
    problem: 'x509: certificate is valid for localhost, *.hooks.svc, half*, not halfway',
  },
  'another address': {
    host: '127.0.0.2',
    changes: { ipAddresses: ['127.0.0.1'] },
    problem: 'x509: certificate is valid for 127.0.0.1, not 127.0.0.2',
  },
  'an address, where there are names only': {
    host: '127.0.0.1',
    changes: { ipAddresses: [] },
    problem:
      "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  },
  'a name, where there are addresses only': {
    changes: { dnsNames: [] },
    problem: 'x509: certificate is not valid for any names, but wanted to match localhost',
  },
  'a common name, as before alternative names': {
    changes: NO_NAMES,
    problem: 'x509: certificate relies on legacy Common Name field, use SANs instead',
  },
  'no name at all': {
    host: 'elsewhere',
    changes: NO_NAMES,
    problem: 'x509: certificate is not valid for any names, but wanted to match elsewhere',
  },
  'an unknown authority': { chainError: LEAF_ERROR, problem: UNKNOWN },
  'an unknown authority, where another is given': {
    chainError: LEAF_ERROR,
    trusted: 'another',
    problem: UNKNOWN,
  },
  'an authority that OpenSSL finds no way to': {
    chainError: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    trusted: 'its authority',
  },
  'an authority behind one that cannot be read': {
    chainError: LEAF_ERROR,
    trusted: 'a damaged one and its authority',
  },
  'itself as the authority': { chainError: LEAF_ERROR, trusted: 'itself' },
  'itself as the authority, whatever its key may sign': {
    chainError: 'INVALID_PURPOSE',
    changes: { usage: 'authority' },
    trusted: 'itself',
  },
  'itself as the authority, for another host': {
    host: '127.0.0.2',
    changes: { ipAddresses: ['127.0.0.1'] },
    chainError: LEAF_ERROR,
    trusted: 'itself',
    problem: 'x509: certificate is valid for 127.0.0.1, not 127.0.0.2',
  },
  'itself as the authority, for clients': {
    chainError: LEAF_ERROR,
    changes: { usage: 'client' },
    trusted: 'itself',
    problem: 'x509: certificate specifies an incompatible key usage',
  },
  'a certificate for clients': {
    chainError: 'INVALID_PURPOSE',
    changes: { usage: 'client' },
    problem: 'x509: certificate specifies an incompatible key usage',
  },
  'itself as the authority, out of date': {
    chainError: 'CERT_HAS_EXPIRED',
    changes: { notAfterMs: NOW_MS - 1000 },
    trusted: 'itself',
    problem:
      'x509: certificate has expired or is not yet valid: current time 2026-06-01T00:00:00Z is after 2026-05-31T23:59:59Z',
  },
  'a certificate of tomorrow': {
    chainError: 'CERT_NOT_YET_VALID',
    changes: { notBeforeMs: NOW_MS + 1000 },
    problem:
      'x509: certificate has expired or is not yet valid: current time 2026-06-01T00:00:00Z is before 2026-06-01T00:00:01Z',
  },
  'an authority out of date': {
    chainError: 'CERT_HAS_EXPIRED',
    problem: 'x509: certificate has expired or is not yet valid',
  },
}

describe('the certificate of a server', () => {
  for (const [title, row] of Object.entries(ROWS)) {
    test(`${row.problem === undefined ? 'good' : 'refused'}: ${title}`, () => {
      const pem = certificate(row.changes)
      const authority = certificate({ usage: 'authority', subject: { commonName: 'authority' } })
      const trusted = {
        itself: `# a comment\n${certificate(NO_NAMES)}${pem}`,
        'its authority': authority,
        'a damaged one and its authority': `${DAMAGED}${authority}`,
        another: certificate(NO_NAMES),
        'the machine': undefined,
      }
      const problem = serverCertificateProblem({
        presented: [new X509Certificate(pem)],
        chainError: row.chainError,
        host: row.host ?? 'localhost',
        authoritiesPem: trusted[row.trusted ?? 'the machine'],
        nowMs: NOW_MS,
      })
      assert.equal(problem?.text, row.problem)
    })
  }

  test('a PEM text gives all its certificates, and nothing for other blocks', () => {
    const [a, b] = [certificate(), certificate(NO_NAMES)]
    assert.equal(
      certificatesOfPem(`${a}\n-----BEGIN X-----\nAA==\n-----END X-----\n${b}`).length,
      2,
    )
    assert.deepEqual(certificatesOfPem('garbage'), [])
  })
})

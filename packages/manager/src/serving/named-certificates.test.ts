import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { byName, chosen, namesOf, parseCertificateFiles } from './named-certificates.ts'

function certificate(commonName: string, dnsNames: readonly string[] = []): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  return issueCertificate(
    {
      subject,
      publicKey,
      usage: 'server',
      dnsNames,
      serialNumber: Uint8Array.from([1]),
      notBeforeMs: 1_577_836_800_000,
      notAfterMs: 2_524_608_000_000,
    },
    { subject, privateKey },
  )
}

test('a pair of files, with names or without', () => {
  assert.deepEqual(parseCertificateFiles('  foo.crt , foo.key   '), {
    certFile: 'foo.crt',
    keyFile: 'foo.key',
    names: [],
  })
  assert.deepEqual(parseCertificateFiles('foo.crt,foo.key: *.foo.com, foo.com').names, [
    '*.foo.com',
    'foo.com',
  ])
})

test('the names of a certificate are its common name and its DNS names', () => {
  assert.deepEqual(namesOf(certificate('one.example', ['two.example', '*.three.example'])), [
    'one.example',
    'two.example',
    '*.three.example',
  ])
  assert.deepEqual(namesOf(certificate('Example Inc, somewhere', ['two.example'])), ['two.example'])
})

const named = byName([
  { names: [], certificatePem: certificate('own.example', ['both.example']), choice: 'own' },
  { names: ['both.example', '*.example', '*.deep.example'], certificatePem: '', choice: 'flag' },
  { names: ['*.example', '*.*.example'], certificatePem: '', choice: 'later' },
])
const CHOICES: readonly (readonly [serverName: string, choice: string | undefined, why: string])[] =
  [
    ['own.example', 'own', 'a name without wildcard goes before one with'],
    ['OWN.example.', 'own', 'letter case and a dot at the end do not count'],
    ['both.example', 'flag', 'names of the flag go before names of the certificate'],
    ['other.example', 'flag', 'of two equal names the first counts'],
    ['a.deep.example', 'flag', 'one label for one asterisk'],
    ['a.b.example', 'later', 'the nearest pattern'],
    ['a.b.c.example', undefined, 'no pattern'],
    ['example', undefined, 'a pattern does not stand for nothing'],
  ]
for (const [serverName, choice, why] of CHOICES) {
  test(`${serverName}: ${why}`, () => assert.equal(chosen(named, serverName), choice))
}

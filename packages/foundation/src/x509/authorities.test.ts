import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificatesProblem } from './authorities.ts'

test('what is no chain of certificates is told in the words of Go', () => {
  const wrong = (label: string, content: string): string =>
    `-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`
  const cases: readonly (readonly [string, string])[] = [
    ['hello', 'must contain at least one CERTIFICATE PEM block'],
    [
      wrong('PRIVATE KEY', 'aGVsbG8='),
      'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
    ],
    [wrong('CERTIFICATE', 'a: b\n\naGVsbG8='), 'no PEM block headers are permitted'],
    [wrong('CERTIFICATE', 'aGVsbG8='), 'x509: malformed certificate'],
  ]
  for (const [pem, problem] of cases) assert.equal(certificatesProblem(pem), problem)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pemBlocks } from './pem-blocks.ts'

const block = (type: string, body = 'AAAA\n'): string =>
  `-----BEGIN ${type}-----\n${body}-----END ${type}-----`

test('blocks follow each other, whatever stands around them and in which lines they end', () => {
  const first = block('CERTIFICATE', 'Proc-Type: 4,ENCRYPTED\n\nAAAA\n')
  const second = block('EC PRIVATE KEY').replaceAll('\n', '\r\n')
  assert.deepEqual(pemBlocks(`text\n${first}  \nmore\r\n${second}\r\n`), [
    { type: 'CERTIFICATE', pem: `${first}  ` },
    { type: 'EC PRIVATE KEY', pem: `${second}\r` },
  ])
  for (const none of ['', 'text', ` ${block('A')}`, '-----BEGIN A-----\nAAAA\n', block('')])
    assert.deepEqual(pemBlocks(none), [], none)
})

test('a beginning without its own end is none, and what follows is looked at', () => {
  const whole = block('B')
  for (const before of [
    '-----BEGIN A-----\n',
    '-----BEGIN A-----\n-----END B-----\n',
    '-----END A-----\n',
  ])
    assert.deepEqual(pemBlocks(before + whole), [{ type: 'B', pem: whole }])
})

test('a text of nothing but beginnings takes no longer than another of its length', () => {
  const beginnings = '-----BEGIN CERTIFICATE-----\n'.repeat(200_000)
  assert.deepEqual(pemBlocks(beginnings + block('CERTIFICATE')).length, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { result } from '../fixtures.ts'
import { parseDouble } from './double-text.ts'

test('doubles are read as kube-apiserver 1.36.2 reads them', () => {
  const read: Readonly<Record<string, number>> = {
    '1_000': 1000,
    '1_0.0': 10,
    '1.': 1,
    '.5': 0.5,
    '1e+1_0': 1e10,
    '1e-400': 0,
    '0x1p-2': 0.25,
    '0X1P4': 16,
    '0x1.8p1': 3,
    '0x.8p1': 1,
    '0x_1p0': 1,
    '0x1_0p0': 16,
    '-0x0p0': -0,
    // Half of the least, and a bit more; the largest; what is between two, to even.
    '-0x1p-1074': -Number.MIN_VALUE,
    '0x1p-1075': 0,
    '0x1.8p-1075': Number.MIN_VALUE,
    '0x1p-99999999999': 0,
    '0x1.fffffffffffffp1023': Number.MAX_VALUE,
    '0x1.00000000000008p0': 1,
    '0x1.00000000000018p0': 1.0000000000000004,
    '+Infinity': Infinity,
    NaN: Number.NaN,
  }
  for (const [text, value] of Object.entries(read))
    assert.ok(Object.is(parseDouble(text), value), `${text}: ${parseDouble(text)}`)
  const refused =
    '0x1 0b1 1e400 +nan -nan . 1e 0x.p1 0x1p infinit 0x1p2000 _1 1__0 1_ 1_.5 1._5 1_e5 1e_5 0_x1p0 0x1p_1'
  for (const text of ['', ' 1', ...refused.split(' ')]) assert.equal(parseDouble(text), undefined)
})

test('in expressions', () => {
  assert.equal(result(`double('0x1p-2') == 0.25`), true)
  assert.match(
    String(result(`double('1__0') == 1.0`)),
    /type conversion error from 'string' to 'double'/,
  )
})

test('integers have no more digits than fit, but for zeros before them', () => {
  const text = `${'0'.repeat(1000)}42`
  const values = { t: text, m: `-${text}`, long: '1'.repeat(1000), least: '-9223372036854775808' }
  assert.deepEqual(result('[int(t), int(m), int(least)]', { values }), [
    42,
    -42,
    -9223372036854775808n,
  ])
  assert.equal(result('uint(t) == 42u', { values }), true)
  assert.equal(
    result('int(long)', { values }),
    `error: type conversion error from 'string' to 'int'`,
  )
  assert.equal(
    result('uint(long)', { values }),
    `error: type conversion error from 'string' to 'uint'`,
  )
})

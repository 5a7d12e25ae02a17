import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { InvalidQuantityError } from './quantity-text.ts'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  quantitySign,
  quantityToInteger,
  quantityToMilli,
  subtractQuantities,
} from './quantity.ts'
import { isIntegerQuantity, roundQuantityToMilli, storedQuantity } from './stored-quantity.ts'

test('quantities are stored in canonical form, but for spellings that the server keeps', () => {
  const cases: [string | number, string][] = [
    ['0', '0'],
    ['-0', '0'],
    ['0Ki', '0'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['+5', '+5'],
    ['+5.', '+5.'],
    ['-04', '-04'],
    ['00012', '00012'],
    ['00', '0'],
    ['+0', '0'],
    ['0010', '0010'],
    ['1.500', '1.500'],
    ['1.50', '1500m'],
    ['1.000', '1'],
    ['1.001', '1.001'],
    ['0.001', '1m'],
    ['0100m', '0100m'],
    ['+1000m', '1'],
    ['12.34e2', '12.34e2'],
    ['1e0003', '1e0003'],
    ['1e-0', '1e-0'],
    ['5e0', '5e0'],
    ['1e+3', '1e+3'],
    ['+1Ki', '+1Ki'],
    ['01Ki', '01Ki'],
    ['1.Ki', '1.Ki'],
    ['1025Ki', '1025Ki'],
    ['+8Ki', '8Ki'],
    ['+1Ei', '1Ei'],
    ['1234567.890123456', '1234567.890123456'],
    ['+1234567890123456789', '1234567890123456789'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1000Ki', '1000Ki'],
    ['1023', '1023'],
    ['10000', '10k'],
    ['1500', '1500'],
    ['1500m', '1500m'],
    ['1000000', '1M'],
    ['1000k', '1M'],
    ['100', '100'],
    ['0.1Mi', '104857600m'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['12e6', '12e6'],
    ['1e2', '100'],
    ['1.1e3', '1100'],
    ['1e-3', '1e-3'],
    ['5E', '5E'],
    ['1n', '1n'],
    ['1000n', '1u'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['1.0000000001', '1000000001n'],
    ['-1', '-1'],
    ['-1024Ki', '-1Mi'],
    ['9Ei', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    ['9007199254740993Ki', '9223372036854775807'],
    // What kube-apiserver 1.36 takes, digits or not.
    ['.', '0'],
    ['Gi', '0'],
    ['e5', '0'],
    ['0e500000', '0'],
    ['1e-100000', '1e-9'],
    ['1e1000', '10e999'],
    ['1e10000', '10e9999'],
    ['9223372036854775807', '9223372036854775807'],
    // No suffix says more than E.
    ['1000E', '1'],
    ['10000000000000000000000', '10'],
    ['1E21', '1E21'],
    ['9223372036854775808', '9223372036854775808'],
    [5, '5'],
    [0.25, '250m'],
  ]
  for (const [text, canonical] of cases) assert.equal(storedQuantity(text), canonical, String(text))
})

test('what is no quantity is refused in the words of the API server', () => {
  const malformed =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  for (const text of [
    '',
    '1.1.M',
    '1+1.0M',
    '0.1am',
    'aoeu',
    ' 1',
    '1 ',
    '1,5',
    '1.2.3',
    '1E5m',
    'abc',
  ]) {
    assert.throws(() => parseQuantity(text), new InvalidQuantityError(malformed), text)
  }
  for (const text of [
    '0.1mi',
    '.5i',
    '1i',
    '-3.01i',
    '-3.01e-',
    '1K',
    '1e',
    '1Kii',
    '--1',
    '1mm',
    'e',
    '1e9999999',
  ]) {
    assert.throws(
      () => parseQuantity(text),
      new InvalidQuantityError("unable to parse quantity's suffix"),
      text,
    )
  }
})

test('amounts of resources are rounded to thousandths; texts that are kept stay', () => {
  const cases: [string, string][] = [
    ['0.0001', '1m'],
    ['-1u', '-1m'],
    ['1234567.890123456', '1234567891m'],
    ['1.500', '1.500'],
    ['5E-3', '5E-3'],
    ['1e-9', '1e-3'],
    ['1.5u', '1m'],
  ]
  for (const [text, rounded] of cases)
    assert.equal(roundQuantityToMilli(storedQuantity(text)), rounded, text)
})

test('a whole number is one whose thousandths, counted in 64 bits, are', () => {
  const whole = [
    '1',
    '0',
    '1.000',
    '9223372036854775',
    '1234567890123456G',
    '10E',
    '1E21',
    '8191Ti',
  ]
  for (const text of [...whole, '9223372036854776k', '9223372036854775807'])
    assert.equal(isIntegerQuantity(storedQuantity(text)), true, text)
  const fractions = ['1.500', '1m', '-1.001', '9223372036854776']
  for (const text of [
    ...fractions,
    '123456789012345k',
    '7Ei',
    '1234567890123456789E',
    '99999999999999M',
  ])
    assert.equal(isIntegerQuantity(storedQuantity(text)), false, text)
})

test('amounts are compared, not texts', () => {
  assert.equal(compareQuantities('1', '1000m'), 0)
  assert.equal(compareQuantities('1Gi', '1G'), 1)
  assert.equal(compareQuantities('-1', '1n'), -1)
  assert.equal(compareQuantities('9007199254740993', '9007199254740992'), 1)
})

test('sums keep the form of the left one, unless it is zero', () => {
  assert.equal(addQuantities('1Gi', '1G'), '2073741824')
  assert.equal(addQuantities('1Gi', '1Gi'), '2Gi')
  assert.equal(addQuantities('0', '1024Mi'), '1Gi')
  assert.equal(addQuantities('0.1', '0.2'), '300m')
  // Below one, an amount forgets that it was written with a binary suffix.
  assert.equal(addQuantities('0.0001220703125Ki', '2047.875'), '2048')
  assert.equal(subtractQuantities('1', '1001m'), '-1m')
  assert.equal(subtractQuantities('2Gi', '1Gi'), '1Gi')
})

test('whole units and thousandths are rounded away from zero', () => {
  assert.equal(quantityToInteger('1001m'), 2)
  assert.equal(quantityToInteger('-1001m'), -2)
  assert.equal(quantityToInteger('12'), 12)
  assert.equal(quantityToInteger('1Ki'), 1024)
  assert.equal(quantityToMilli('1'), 1000)
  assert.equal(quantityToMilli('250m'), 250)
  assert.equal(quantityToMilli('1u'), 1)
  assert.equal(quantityToMilli('0.1'), 100)
  assert.equal(parseQuantity('1500m').toNumber(), 1.5)
  assert.equal(parseQuantity('1000000000.1').toNumber(), 1_000_000_000.1)
  assert.equal(isIntegerQuantity('1500m'), false)
  assert.equal(isIntegerQuantity('2000m'), true)
  assert.deepEqual(['-1n', '0Ki', '1'].map(quantitySign), [-1, 0, 1])
})

/** The plainest way to the same answer: fractions of integers, no fast paths. */
function dumbCanonical(numerator: bigint, power: number, suffix: string): string {
  const scale: Record<string, [bigint, bigint]> = {
    n: [1n, 10n ** 9n],
    u: [1n, 10n ** 6n],
    m: [1n, 1000n],
    '': [1n, 1n],
    k: [1000n, 1n],
    M: [10n ** 6n, 1n],
    Ki: [1024n, 1n],
    Mi: [1024n ** 2n, 1n],
    Gi: [1024n ** 3n, 1n],
  }
  const [up, down] = scale[suffix]!
  const top = numerator * up * 10n ** 9n
  const bottom = down * 10n ** BigInt(power)
  let nanos = top / bottom
  if (nanos * bottom !== top) nanos += numerator < 0n ? -1n : 1n
  if (nanos === 0n) return '0'
  const whole = nanos % 10n ** 9n === 0n
  const size = nanos < 0n ? -nanos : nanos
  if (suffix.endsWith('i') && whole && size >= 1024n * 10n ** 9n) {
    const units = nanos / 10n ** 9n
    for (const [name, unit] of [
      ['Pi', 1024n ** 5n],
      ['Ti', 1024n ** 4n],
      ['Gi', 1024n ** 3n],
      ['Mi', 1024n ** 2n],
      ['Ki', 1024n],
    ] as const) {
      if (units % unit === 0n) return `${units / unit}${name}`
    }
    return String(units)
  }
  const names = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n']
  for (let i = 0; i < names.length; i++) {
    const unit = 10n ** BigInt(27 - 3 * i)
    if (nanos % unit === 0n) return `${nanos / unit}${names[i]}`
  }
  throw new Error('unreachable')
}

test('canonical form agrees with plain arithmetic, and parsing it again changes nothing', () => {
  const random = new SeededRandom('quantity')
  const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'Ki', 'Mi', 'Gi']
  for (let i = 0; i < 5000; i++) {
    const digits = integerBetween(random, 1, 10)
    const value = BigInt(integerBetween(random, 0, 10 ** digits)) * (random.next() < 0.3 ? -1n : 1n)
    const power = integerBetween(random, 0, 5)
    const suffix = suffixes[integerBetween(random, 0, suffixes.length)]!
    const plain = (value < 0n ? -value : value).toString().padStart(power + 1, '0')
    const cut = plain.length - power
    const text = `${value < 0n ? '-' : ''}${plain.slice(0, cut)}${power > 0 ? `.${plain.slice(cut)}` : ''}${suffix}`
    const canonical = parseQuantity(text).toString()
    assert.equal(canonical, dumbCanonical(value, power, suffix), text)
    assert.equal(storedQuantity(canonical), canonical, text)
    const stored = storedQuantity(text)
    assert.ok(stored === canonical || stored === text, text)
    assert.equal(compareQuantities(stored, canonical), 0, text)
  }
})

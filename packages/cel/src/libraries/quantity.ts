/** Quantities: exact decimal numbers with a suffix. */
import { parseQuantity } from '@gyropilot/schema/quantity'
import type { Quantity } from '@gyropilot/schema/quantity'
import { onePass } from '../cost.ts'
import { declare } from '../signature.ts'
import type { Library } from '../signature.ts'
import { opaqueType } from '../types.ts'
import { EvaluationError, MAX_INT, MIN_INT, Opaque } from '../values.ts'
import type { Value } from '../values.ts'

class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity

  constructor(quantity: Quantity) {
    super()
    this.quantity = quantity
  }

  override equals(other: Opaque): boolean {
    return compare(this, other as QuantityValue) === 0
  }
}

function quantity(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text))
  } catch (error) {
    throw new EvaluationError((error as Error).message)
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch {
    return false
  }
}

/** Both mantissas at the finer of the two exponents. */
function aligned({ quantity: a }: QuantityValue, { quantity: b }: QuantityValue) {
  const exponent = Math.min(a.exponent, b.exponent)
  return {
    exponent,
    a: a.mantissa * 10n ** BigInt(a.exponent - exponent),
    b: b.mantissa * 10n ** BigInt(b.exponent - exponent),
  }
}

function compare(x: QuantityValue, y: QuantityValue): number {
  const { a, b } = aligned(x, y)
  return a < b ? -1 : a > b ? 1 : 0
}

function combined(x: QuantityValue, y: QuantityValue, sign: 1n | -1n): QuantityValue {
  const { a, b, exponent } = aligned(x, y)
  const { format } = a === 0n ? y.quantity : x.quantity
  return new QuantityValue({ mantissa: a + sign * b, exponent, format })
}

function integerOf({ quantity: { mantissa, exponent } }: QuantityValue): bigint | undefined {
  const whole = exponent >= 0 ? mantissa * 10n ** BigInt(exponent) : divide(mantissa, -exponent)
  return whole === undefined || whole > MAX_INT || whole < MIN_INT ? undefined : whole
}

function divide(mantissa: bigint, digits: number): bigint | undefined {
  const divisor = 10n ** BigInt(digits)
  return mantissa % divisor === 0n ? mantissa / divisor : undefined
}

function asInteger(value: QuantityValue): bigint {
  const integer = integerOf(value)
  if (integer === undefined) throw new EvaluationError('cannot convert value to integer')
  return integer
}

function sign({ quantity: { mantissa } }: QuantityValue): bigint {
  return mantissa < 0n ? -1n : mantissa > 0n ? 1n : 0n
}

function approximate({ quantity: { mantissa, exponent } }: QuantityValue): number {
  return Number(`${mantissa}e${exponent}`)
}

const ofInt = (value: bigint): QuantityValue =>
  new QuantityValue({ mantissa: value, exponent: 0, format: 'decimal' })

const BINARY: Readonly<Record<string, (a: QuantityValue, b: QuantityValue) => Value>> = {
  isGreaterThan: (a, b) => compare(a, b) > 0,
  isLessThan: (a, b) => compare(a, b) < 0,
  compareTo: (a, b) => BigInt(compare(a, b)),
}

export const QUANTITIES: Library = {
  constants: [{ name: 'kubernetes.Quantity', type: opaqueType('kubernetes.Quantity') }],
  overloads: [
    declare('quantity(string): kubernetes.Quantity', quantity, onePass()),
    declare('isQuantity(string): bool', isQuantity, onePass()),
    declare('sign(kubernetes.Quantity): int', sign),
    declare(
      'kubernetes.Quantity.isInteger(): bool',
      (value: QuantityValue) => integerOf(value) !== undefined,
    ),
    declare('kubernetes.Quantity.asInteger(): int', asInteger),
    declare('kubernetes.Quantity.asApproximateFloat(): double', approximate),
    ...Object.entries(BINARY).map(([name, evaluate]) => {
      const result = name === 'compareTo' ? 'int' : 'bool'
      return declare(`kubernetes.Quantity.${name}(kubernetes.Quantity): ${result}`, evaluate)
    }),
    ...(['add', 'sub'] as const).flatMap((name) => {
      const factor = name === 'add' ? 1n : -1n
      const signature = (other: string): string =>
        `kubernetes.Quantity.${name}(${other}): kubernetes.Quantity`
      return [
        declare(signature('kubernetes.Quantity'), (a: QuantityValue, b: QuantityValue) =>
          combined(a, b, factor),
        ),
        declare(signature('int'), (a: QuantityValue, b: bigint) => combined(a, ofInt(b), factor)),
      ]
    }),
  ],
}

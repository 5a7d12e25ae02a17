/** Quantities: exact decimal numbers with a suffix. */
import { QuantityAmount, parseQuantity } from '@gyropilot/api'
import { onePass } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { EvaluationError, MAX_INT, MIN_INT, Opaque } from '../values/values.ts'
import type { Value } from '../values/values.ts'

class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly amount: QuantityAmount

  constructor(amount: QuantityAmount) {
    super()
    this.amount = amount
  }

  override equals(other: Opaque): boolean {
    return this.amount.compare((other as QuantityValue).amount) === 0
  }
}

function quantity(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text))
  } catch (error) {
    throw new EvaluationError((error as Error).message)
  }
}

/** Throws EvaluationError for a text that is none. */
export const quantityValue: (text: string) => Opaque = quantity

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch {
    return false
  }
}

const BILLION = 1_000_000_000n

function integerOf({ amount }: QuantityValue): bigint | undefined {
  const whole = amount.nanos / BILLION
  return !amount.isInteger || whole > MAX_INT || whole < MIN_INT ? undefined : whole
}

function asInteger(value: QuantityValue): bigint {
  const integer = integerOf(value)
  if (integer === undefined) throw new EvaluationError('cannot convert value to integer')
  return integer
}

const ofInt = (value: bigint): QuantityAmount => new QuantityAmount(value * BILLION, 'DecimalSI')

const BINARY: Readonly<Record<string, (a: QuantityValue, b: QuantityValue) => Value>> = {
  isGreaterThan: (a, b) => a.amount.compare(b.amount) > 0,
  isLessThan: (a, b) => a.amount.compare(b.amount) < 0,
  compareTo: (a, b) => BigInt(a.amount.compare(b.amount)),
}

const SUMS: readonly (readonly [
  string,
  (a: QuantityAmount, b: QuantityAmount) => QuantityAmount,
])[] = [
  ['add', (a, b) => a.add(b)],
  ['sub', (a, b) => a.subtract(b)],
]

export const QUANTITIES: Library = {
  constants: [{ name: 'kubernetes.Quantity', type: opaqueType('kubernetes.Quantity') }],
  overloads: [
    declare('quantity(string): kubernetes.Quantity', quantity, onePass()),
    declare('isQuantity(string): bool', isQuantity, onePass()),
    declare('sign(kubernetes.Quantity): int', ({ amount }: QuantityValue) => BigInt(amount.sign)),
    declare(
      'kubernetes.Quantity.isInteger(): bool',
      (value: QuantityValue) => integerOf(value) !== undefined,
    ),
    declare('kubernetes.Quantity.asInteger(): int', asInteger),
    declare('kubernetes.Quantity.asApproximateFloat(): double', ({ amount }: QuantityValue) =>
      amount.toNumber(),
    ),
    ...Object.entries(BINARY).map(([name, evaluate]) => {
      const result = name === 'compareTo' ? 'int' : 'bool'
      return declare(`kubernetes.Quantity.${name}(kubernetes.Quantity): ${result}`, evaluate)
    }),
    ...SUMS.flatMap(([name, combine]) => {
      const signature = (other: string): string =>
        `kubernetes.Quantity.${name}(${other}): kubernetes.Quantity`
      return [
        declare(
          signature('kubernetes.Quantity'),
          (a: QuantityValue, b: QuantityValue) => new QuantityValue(combine(a.amount, b.amount)),
        ),
        declare(
          signature('int'),
          (a: QuantityValue, b: bigint) => new QuantityValue(combine(a.amount, ofInt(b))),
        ),
      ]
    }),
  ],
}

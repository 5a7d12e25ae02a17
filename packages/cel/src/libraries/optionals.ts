/** Values that may be missing. `or` and `orValue` are evaluated by the evaluator: their argument only when it is needed. */
import { exactly } from '../costs/cost-range.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import {
  ArrayList,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  NONE,
} from '../values/values.ts'
import { NANOS_PER_SECOND, utcSeconds } from '../values/time-text.ts'
import type { Value } from '../values/values.ts'

/** Of Go's clock. */
const BEGINNING_OF_TIME = utcSeconds(1, 1, 1)! * NANOS_PER_SECOND

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true
  if (value instanceof CelUint) return value.value === 0n
  if (value instanceof CelDuration) return value.nanos === 0n
  if (value instanceof CelTimestamp) return value.nanos === BEGINNING_OF_TIME
  if (value instanceof Uint8Array) return value.length === 0
  // What a schema describes is a value as soon as it is there.
  if (value instanceof CelList) return value.length === 0 && !value.isOfSchema
  return value instanceof CelMap && value.size === 0 && value.ofSchema === undefined
}

function valueOf({ value }: CelOptional): Value {
  if (value === undefined) throw new EvaluationError('optional.none() dereference')
  return value
}

/** What is there, in order. */
function unwrap(list: CelList): CelList {
  const values = [...list].flatMap((item) => {
    if (!(item instanceof CelOptional)) throw new EvaluationError('no such overload')
    return item.value === undefined ? [] : [item.value]
  })
  return new ArrayList(values)
}

function elementOf(list: CelList, index: number): CelOptional {
  return index >= 0 && index < list.length ? new CelOptional(list.at(index)) : NONE
}

export const OPTIONALS: Library = {
  overloads: [
    declare('optional.of(A): optional(A)', (value: Value) => new CelOptional(value), {
      estimate: ([value]) => ({ cost: exactly(1), size: value!.size }),
    }),
    declare('optional.none(): optional(A)', () => NONE),
    declare('optional.ofNonZeroValue(A): optional(A)', (value: Value) =>
      isZero(value) ? NONE : new CelOptional(value),
    ),
    declare('optional.unwrap(list(optional(A))): list(A)', unwrap),
    declare('list(optional(A)).unwrapOpt(): list(A)', unwrap),
    declare('list(A).first(): optional(A)', (list: CelList) => elementOf(list, 0)),
    declare('list(A).last(): optional(A)', (list: CelList) => elementOf(list, list.length - 1)),
    declare('optional(A).hasValue(): bool', ({ value }: CelOptional) => value !== undefined),
    declare('optional(A).value(): A', valueOf),
    declare('optional(A).or(optional(A)): optional(A)', (a: CelOptional, b: CelOptional) =>
      a.value === undefined ? b : a,
    ),
    declare('optional(A).orValue(A): A', ({ value }: CelOptional, other: Value) => value ?? other),
  ],
}

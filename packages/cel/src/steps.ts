/** Steps that an expression is planned into, and those whose errors an operator may make irrelevant. */
import { CostExceeded, CelOptional, EvaluationError } from './values/values.ts'
import type { CostMeter } from './costs/cost.ts'
import type { Value } from './values/values.ts'

/** Values of the variables; asked only for those that are reached. */
export type Variables = (name: string) => Value | undefined

export interface Run {
  readonly variables: Variables
  readonly meter: CostMeter
  /** What the variables of folds stand for now. */
  readonly slots: (Value | Failure)[]
}

export type Step = (run: Run) => Value

/** An error that a later element may still make irrelevant: `[0, 1].exists(x, 1 / x == 1)`. */
export class Failure {
  readonly error: EvaluationError

  constructor(error: EvaluationError) {
    this.error = error
  }
}

export function attempt(step: Step, run: Run): Value | Failure {
  try {
    return step(run)
  } catch (error) {
    if (error instanceof EvaluationError) return new Failure(error)
    throw error
  }
}

/** `&&` is decided by false, `||` by true, on either side; only then do errors of the other side not matter. */
export function shortCircuit([left, right]: readonly Step[], decisive: boolean): Step {
  return (run) => {
    let failure: unknown
    try {
      const value = left!(run)
      if (value === decisive) return decisive
      if (typeof value !== 'boolean') failure = new EvaluationError('no such overload')
    } catch (error) {
      if (error instanceof CostExceeded) throw error
      failure = error
    }
    const value = failure === undefined ? right!(run) : rightOrLeftError(right!, run, failure)
    if (value === decisive) return decisive
    if (failure !== undefined) throw failure
    if (typeof value !== 'boolean') throw new EvaluationError('no such overload')
    return !decisive
  }
}

/** When both sides fail, the left one tells why. */
function rightOrLeftError(right: Step, run: Run, failure: unknown): Value {
  try {
    return right(run)
  } catch (error) {
    throw error instanceof CostExceeded ? error : failure
  }
}

export function notStrictlyFalse(step: Step): Step {
  return (run) => {
    const value = attempt(step, run)
    run.meter.charge(1)
    return value !== false
  }
}

export function orElse([optional, other]: readonly Step[], unwrap: boolean): Step {
  return (run) => {
    const value = optionalOf(optional!(run))
    if (value.value === undefined) return other!(run)
    return unwrap ? value.value : value
  }
}

export function optionalOf(value: Value): CelOptional {
  if (value instanceof CelOptional) return value
  throw new EvaluationError('no such overload')
}

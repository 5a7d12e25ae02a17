/** What is taken from a value by a name: fields, keys, and those that may not be there. */
import type { Expression } from './syntax/ast.ts'
import type { Run, Step } from './steps.ts'
import { CelList, CelMap, CelOptional, EvaluationError, NONE } from './values/values.ts'
import type { Value } from './values/values.ts'

export function optionalSelect(operand: Step, field: string): Step {
  return (run) => {
    const value = operand(run)
    const holder = value instanceof CelOptional ? value.value : value
    if (holder === undefined) return NONE
    if (holder instanceof CelList) throw listHasNoNames()
    if (!(holder instanceof CelMap)) return NONE
    const content = holder.get(field)
    return found(run, content === undefined ? NONE : new CelOptional(content))
  }
}

/** What was taken counts as one name, and nothing where there was nothing. */
export function found({ meter }: Run, value: Value): Value {
  if (value !== NONE) meter.charge(1)
  return value
}

const CHAINING = new Set(['_[_]', '_[?_]', '_?._', '_?_:_'])

/** What something is taken from. Where a chain of names and indexes begins with a value, that counts as one more name. */
export function holder(expression: Expression, step: Step): Step {
  if (isChain(expression)) return step
  return (run) => {
    const value = step(run)
    run.meter.charge(1)
    return value
  }
}

function isChain(expression: Expression): boolean {
  if (expression.kind === 'call') return CHAINING.has(expression.function)
  return expression.kind === 'identifier' || (expression.kind === 'select' && !expression.presence)
}

export function fieldOf(value: Value, field: string): Value {
  if (value instanceof CelMap) {
    const found = value.get(field)
    if (found === undefined) throw new EvaluationError(`no such key: ${field}`)
    return found
  }
  if (value instanceof CelOptional) {
    if (value.value === undefined) return NONE
    return value.value instanceof CelMap && !value.value.has(field)
      ? NONE
      : new CelOptional(fieldOf(value.value, field))
  }
  if (value instanceof CelList) throw listHasNoNames()
  throw new EvaluationError(`no such key: ${field}`)
}

function listHasNoNames(): EvaluationError {
  return new EvaluationError("unsupported index type 'string' in list")
}

/** `has()`. Asking is free; of what may not be there itself, a name that is not there takes back what one name cost. */
export function presence({ meter }: Run, value: Value, field: string): boolean {
  const isThere = hasField(value, field)
  if (!isThere && value instanceof CelOptional) meter.charge(-1)
  return isThere
}

/** Scalars and null have no fields. */
function hasField(value: Value, field: string): boolean {
  if (value instanceof CelMap) return value.has(field)
  if (value instanceof CelOptional)
    return value.value === undefined ? false : hasField(value.value, field)
  if (value instanceof CelList) throw listHasNoNames()
  return false
}

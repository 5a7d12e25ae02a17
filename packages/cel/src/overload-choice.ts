/** Which overload of a function is meant, where only the values tell. */
import type { Overload } from './checking/signature.ts'
import { matchesType } from './values/runtime-types.ts'
import { EvaluationError, typeNameOf } from './values/values.ts'
import type { Value } from './values/values.ts'

/** By what the values are. Throws EvaluationError when none fits. */
export function chooseOverload(
  overloads: readonly Overload[],
  values: readonly Value[],
  name: string,
): Overload {
  for (const overload of overloads) {
    if (overload.parameters.every((type, index) => matchesType(values[index]!, type)))
      return overload
  }
  throw new EvaluationError(noOverload(values, name))
}

/** Null has no operators and no size; other values know their own, and other texts. */
function noOverload(values: readonly Value[], name: string): string {
  const isNull = values[0] === null
  if (name.includes('_')) return isNull ? `no such overload: ${name}` : 'no such overload'
  if (isNull && name === 'size') return 'no such overload: size'
  if (isNull && TEXT_TESTS.has(name)) return 'no such overload'
  return `no such overload: ${name}(${values.map(typeNameOf).join(', ')})`
}

const TEXT_TESTS = new Set(['contains', 'startsWith', 'endsWith', 'matches'])

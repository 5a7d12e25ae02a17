/** Parts of an expression that are known before it is run. They are made once, and cost nothing when it is run. */
import type { Call, Expression, ListLiteral, MapLiteral } from './syntax/ast.ts'
import type { Checked } from './checking/checked.ts'
import { chooseOverload } from './overload-choice.ts'
import { ProgramError } from './syntax/source.ts'
import {
  ArrayList,
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  EntryMap,
  EvaluationError,
} from './values/values.ts'
import type { Value } from './values/values.ts'

const CONVERSIONS = new Set('bool bytes double duration int string timestamp uint'.split(' '))

export class Constants {
  readonly #checked: Checked
  readonly #known = new Map<Expression, Value | undefined>()

  constructor(checked: Checked) {
    this.#checked = checked
  }

  /** Undefined: only a run can tell. Throws ProgramError for what no run could evaluate. */
  of(expression: Expression): Value | undefined {
    if (this.#known.has(expression)) return this.#known.get(expression)
    const value = this.#make(expression)
    this.#known.set(expression, value)
    return value
  }

  /** What is known to select a part must be of a plain type. Throws ProgramError, with Go's name of the type. */
  checkQualifier(expression: Expression): void {
    const type = unfitType(this.of(expression))
    if (type !== undefined) throw new ProgramError(`invalid qualifier type: ${type}`)
  }

  #make(expression: Expression): Value | undefined {
    switch (expression.kind) {
      case 'literal':
        return expression.value
      case 'list':
        return this.#list(expression)
      case 'map':
        return this.#map(expression)
      case 'call': {
        const inner = withoutDyn(expression)
        return inner.kind === 'call' ? this.#conversion(inner) : this.of(inner)
      }
      default:
        return undefined
    }
  }

  #list({ elements, optional }: ListLiteral): Value | undefined {
    const values = elements.map((element) => this.of(element))
    return optional.size === 0 && areKnown(values) ? new ArrayList(values) : undefined
  }

  #map({ entries }: MapLiteral): Value | undefined {
    const keys = entries.map(({ key }) => this.of(key))
    const values = entries.map(({ value }) => this.of(value))
    const optional = entries.some((entry) => entry.optional)
    if (optional || !areKnown(keys) || !areKnown(values)) return undefined
    const map = new EntryMap()
    for (const [index, key] of keys.entries()) map.put(key, values[index]!)
    return map
  }

  #conversion(call: Call): Value | undefined {
    if (!CONVERSIONS.has(call.function) || call.args.length !== 1) return undefined
    const argument = this.of(call.args[0]!)
    if (argument === undefined) return undefined
    const overloads = this.#checked.overloadsOf(call)
    try {
      return chooseOverload(overloads, [argument], call.function).evaluate(argument as never)
    } catch (error) {
      throw error instanceof EvaluationError ? new ProgramError(error.message) : error
    }
  }
}

function areKnown(values: readonly (Value | undefined)[]): values is Value[] {
  return !values.includes(undefined)
}

/** `dyn` says something of the type, and nothing of the value. */
function withoutDyn(expression: Expression): Expression {
  return expression.kind === 'call' && expression.function === 'dyn' && expression.args.length === 1
    ? withoutDyn(expression.args[0]!)
    : expression
}

function unfitType(constant: Value | undefined): string | undefined {
  if (constant === null) return 'types.Null'
  if (constant instanceof CelTimestamp) return 'types.Timestamp'
  if (constant instanceof CelDuration) return 'types.Duration'
  if (constant instanceof CelList) return '*types.baseList'
  return constant instanceof CelMap ? '*types.baseMap' : undefined
}

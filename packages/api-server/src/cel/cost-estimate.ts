/**
 * What an expression may cost at most, told from the declared sizes of what it reads. Definitions whose rules may cost too
 * much are refused. Contract: docs/behaviour/api-server/custom-resources.md, Cost.
 */
import type { Call, Expression, Fold } from './ast.ts'
import type { Checked } from './checked.ts'
import type { CallEstimate, EstimatedArgument, Overload } from './signature.ts'
import type { CelType } from './types.ts'
import { CelList, textLength } from './values.ts'

export interface CostRange {
  readonly min: number
  readonly max: number
}

export const UNKNOWN_SIZE: CostRange = { min: 0, max: Infinity }
export const STRING_TRAVERSAL = 0.1
export const PATTERN_FACTOR = 0.25

export const exactly = (n: number): CostRange => ({ min: n, max: n })
export const sum = (...ranges: readonly CostRange[]): CostRange => ({
  min: ranges.reduce((total, { min }) => total + min, 0),
  max: ranges.reduce((total, { max }) => total + max, 0),
})
/** Nothing, however often, costs nothing. */
export const product = (a: CostRange, b: CostRange): CostRange => ({
  min: a.min === 0 || b.min === 0 ? 0 : a.min * b.min,
  max: a.max === 0 || b.max === 0 ? 0 : a.max * b.max,
})
export const scaled = ({ min, max }: CostRange, factor: number): CostRange => ({
  min: Math.ceil(min * factor),
  max: Math.ceil(max * factor),
})
export const union = (a: CostRange, b: CostRange): CostRange => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})

const NOTHING = exactly(0)
const ONE = exactly(1)
const LIST_LITERAL = exactly(10)
const MAP_LITERAL = exactly(30)
const STRUCT_LITERAL = exactly(40)

export function estimateCost(checked: Checked): CostRange {
  return new Estimator(checked).cost(checked.expression)
}

class Estimator {
  readonly #checked: Checked
  /** Sizes that follow from the expression itself. */
  readonly #sizes = new Map<Expression, CostRange>()
  /** Sizes of what the variables of folds stand for. */
  readonly #locals: { readonly name: string; readonly size: CostRange | undefined }[] = []

  constructor(checked: Checked) {
    this.#checked = checked
  }

  cost(expression: Expression): CostRange {
    switch (expression.kind) {
      case 'literal':
        this.#sizes.set(expression, literalSize(expression))
        return NOTHING
      case 'identifier': {
        const local = this.#locals.findLast(({ name }) => name === expression.name)
        if (local?.size !== undefined) this.#sizes.set(expression, local.size)
        return ONE
      }
      case 'select': {
        if (this.#checked.referenceOf(expression) !== undefined) return ONE
        const operand = this.cost(expression.operand)
        const { kind } = this.#checked.typeOf(expression.operand)
        // Dynamic values charge when they are read.
        const reads = kind === 'map' || kind === 'object' || kind === 'dyn'
        return expression.presence || !reads ? operand : sum(operand, ONE)
      }
      case 'list':
        this.#sizes.set(expression, exactly(expression.elements.length))
        return sum(LIST_LITERAL, ...expression.elements.map((element) => this.cost(element)))
      case 'map': {
        const { entries } = expression
        this.#sizes.set(expression, exactly(entries.length))
        const parts = entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
        return sum(MAP_LITERAL, ...parts)
      }
      case 'struct':
        return sum(STRUCT_LITERAL, ...expression.fields.map(({ value }) => this.cost(value)))
      case 'fold':
        return this.#fold(expression)
      case 'call':
        return this.#call(expression)
    }
  }

  sizeOf(expression: Expression): CostRange {
    return this.#sizes.get(expression) ?? sizeOfType(this.#checked.typeOf(expression))
  }

  #fold(fold: Fold): CostRange {
    const range = this.cost(fold.range)
    const initial = this.cost(fold.initial)
    const count = this.sizeOf(fold.range)
    this.#locals.push({ name: fold.accumulator, size: this.#sizes.get(fold.initial) })
    this.#locals.push({ name: fold.variable, size: undefined })
    if (fold.second !== undefined) this.#locals.push({ name: fold.second, size: undefined })
    const condition = this.cost(fold.condition)
    const step = this.cost(fold.step)
    this.#locals.length -= fold.second === undefined ? 1 : 2
    const result = this.cost(fold.result)
    this.#locals.length--
    const type = this.#checked.typeOf(fold)
    if (type.kind === 'list' || type.kind === 'map')
      this.#sizes.set(fold, { min: 0, max: count.max })
    return sum(range, initial, result, product(count, sum(condition, step)))
  }

  #call(call: Call): CostRange {
    const args =
      this.#checked.isNamespaced(call) || call.target === undefined
        ? call.args
        : [call.target, ...call.args]
    const costs = args.map((argument) => this.cost(argument))
    const special = this.#operator(call, args, costs)
    if (special !== undefined) return special
    const known = args.map((argument) => this.#argument(argument))
    const overloads = this.#checked.overloadsOf(call)
    let cost: CostRange | undefined
    let size: CostRange | undefined
    for (const overload of overloads) {
      const estimate = estimateOf(overload, known)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined)
        size = size === undefined ? estimate.size : union(size, estimate.size)
    }
    if (size !== undefined) this.#sizes.set(call, size)
    return sum(...costs, cost ?? ONE)
  }

  /** Operators that do not evaluate all they are given. */
  #operator(
    call: Call,
    args: readonly Expression[],
    costs: readonly CostRange[],
  ): CostRange | undefined {
    switch (call.function) {
      case '_&&_':
      case '_||_':
        return { min: costs[0]!.min, max: costs[0]!.max + costs[1]!.max }
      case '_?_:_':
        this.#sizes.set(call, union(this.sizeOf(args[1]!), this.sizeOf(args[2]!)))
        return sum(costs[0]!, union(costs[1]!, costs[2]!))
      default:
        return undefined
    }
  }

  #argument(expression: Expression): EstimatedArgument {
    const type = this.#checked.typeOf(expression)
    return {
      size: this.sizeOf(expression),
      element:
        type.kind === 'list' ? { type: type.element, size: sizeOfType(type.element) } : undefined,
      literal: expression.kind === 'literal' ? expression.value : undefined,
    }
  }
}

function estimateOf(overload: Overload, args: readonly EstimatedArgument[]): CallEstimate {
  return overload.estimate?.(args) ?? { cost: ONE }
}

function literalSize({ value }: Expression & { kind: 'literal' }): CostRange {
  if (typeof value === 'string') return exactly(textLength(value))
  if (value instanceof Uint8Array || value instanceof CelList) return exactly(value.length)
  return ONE
}

/** Scalars count as one; what has no declared bound may be of any size. */
function sizeOfType(type: CelType): CostRange {
  switch (type.kind) {
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'null':
    case 'type':
      return ONE
    case 'timestamp':
    case 'duration':
      return type.maxElements === undefined ? ONE : { min: 0, max: type.maxElements }
    case 'list':
    case 'map':
    case 'string':
    case 'bytes':
    case 'dyn':
      return { min: 0, max: type.maxElements ?? Infinity }
    default:
      return UNKNOWN_SIZE
  }
}

/**
 * What an expression may cost at most, told from the declared sizes of what it reads. Definitions whose rules may cost too
 * much are refused. Contract: docs/behaviour/api-server/custom-resources.md, Cost.
 */
import { ACCUMULATOR } from '../syntax/ast.ts'
import type { Call, Expression, Fold, Literal, Select } from '../syntax/ast.ts'
import type { Checked } from '../checking/checked.ts'
import type { CallEstimate, EstimatedArgument, Overload } from '../checking/signature.ts'
import { isScalar } from '../checking/types.ts'
import type { CelType, ListType } from '../checking/types.ts'
import { UNKNOWN_SIZE, exactly, sum, product, union } from './cost-range.ts'
import type { CostRange } from './cost-range.ts'
import { CelList, CelMap } from '../values/values.ts'
import type { Value } from '../values/values.ts'

const NOTHING = exactly(0)
const ONE = exactly(1)
const LIST_LITERAL = exactly(10)
const MAP_LITERAL = exactly(30)
const STRUCT_LITERAL = exactly(40)

/** `root`: the declared type of `self`, in which sizes are looked up. */
export function estimateCost(checked: Checked, root: CelType | undefined): CostRange {
  return new Estimator(checked, root).cost(checked.expression)
}

/** Where a value stands below a variable: `['self', 'list', '@items']`. Undefined: it was computed. */
type Path = readonly string[]

/** Sizes of what is in a list or map that an expression has made. */
interface EntrySizes {
  readonly key: CostRange
  readonly value: CostRange
}

interface Local {
  readonly name: string
  readonly path: Path | undefined
  readonly size: CostRange | undefined
  readonly entries: EntrySizes | undefined
}

class Estimator {
  readonly #checked: Checked
  readonly #root: CelType | undefined
  /** Sizes that follow from the expression itself. */
  readonly #sizes = new Map<Expression, CostRange>()
  readonly #entries = new Map<Expression, EntrySizes>()
  readonly #paths = new Map<Expression, Path>()
  readonly #locals: Local[] = []

  constructor(checked: Checked, root: CelType | undefined) {
    this.#checked = checked
    this.#root = root
  }

  cost(expression: Expression): CostRange {
    switch (expression.kind) {
      case 'literal':
        return this.#literal(expression)
      case 'identifier': {
        const local = this.#local(expression.name)
        this.#setPath(expression, local === undefined ? [expression.name] : local.path)
        return ONE
      }
      case 'select':
        return this.#select(expression)
      case 'list': {
        const costs = expression.elements.map((element) => this.cost(element))
        this.#sizes.set(expression, exactly(expression.elements.length))
        this.#entries.set(expression, { key: ONE, value: this.#unionOf(expression.elements) })
        return sum(LIST_LITERAL, ...costs)
      }
      case 'map': {
        const { entries } = expression
        const parts = entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
        this.#sizes.set(expression, exactly(entries.length))
        this.#entries.set(expression, {
          key: this.#unionOf(entries.map(({ key }) => key)),
          value: this.#unionOf(entries.map(({ value }) => value)),
        })
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

  #literal(literal: Literal): CostRange {
    const { value } = literal
    this.#sizes.set(literal, literalSize(value))
    const isEmptyContainer = value instanceof CelList || value instanceof CelMap
    if (!isEmptyContainer) return NOTHING
    // With these folds begin; they are written out like any other.
    this.#entries.set(literal, { key: value instanceof CelList ? ONE : NOTHING, value: NOTHING })
    return value instanceof CelList ? LIST_LITERAL : MAP_LITERAL
  }

  #select(select: Select): CostRange {
    // A dotted name is one name.
    if (this.#checked.referenceOf(select) !== undefined) {
      this.#setPath(select, [select.field])
      return ONE
    }
    const operand = this.cost(select.operand)
    if (select.presence) return operand
    const path = this.#paths.get(select.operand) ?? []
    this.#setPath(select, [...path, select.field])
    const { kind } = this.#checked.typeOf(select.operand)
    // Dynamic values charge when they are read.
    return kind === 'map' || kind === 'object' || kind === 'dyn' ? sum(operand, ONE) : operand
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((local) => local.name === name)
  }

  #setPath(expression: Expression, path: Path | undefined): void {
    if (path !== undefined) this.#paths.set(expression, path)
  }

  #unionOf(expressions: readonly Expression[]): CostRange {
    const [first, ...rest] = expressions.map((expression) => this.sizeOf(expression))
    return first === undefined ? NOTHING : rest.reduce(union, first)
  }

  /** What is written out counts itself; what was declared is looked up; scalars count as one. */
  sizeOf(expression: Expression): CostRange {
    const known = this.#sizes.get(expression) ?? this.#declaredSize(this.#paths.get(expression))
    if (known !== undefined) return known
    if (isScalar(this.#checked.typeOf(expression))) return ONE
    const local = expression.kind === 'identifier' ? this.#local(expression.name) : undefined
    return local?.size ?? UNKNOWN_SIZE
  }

  /** The first name of a path is not looked at: all that is declared is `self`, and what it was. */
  #declaredSize(path: Path | undefined): CostRange | undefined {
    if (path === undefined || path.length === 0) return undefined
    let type = this.#root
    for (const name of path.slice(1)) type = type && partOf(type, name)
    return type === undefined ? undefined : { min: 0, max: maxElements(type) }
  }

  #entrySizes(expression: Expression): EntrySizes | undefined {
    const known = this.#entries.get(expression)
    if (known !== undefined || expression.kind !== 'identifier') return known
    return this.#local(expression.name)?.entries
  }

  #fold(fold: Fold): CostRange {
    const range = this.cost(fold.range)
    const initial = this.cost(fold.initial)
    this.#locals.push({
      name: fold.accumulator,
      path: this.#paths.get(fold.initial),
      size: this.sizeOf(fold.initial),
      entries: this.#entrySizes(fold.initial),
    })
    const variables = this.#variablesOf(fold)
    this.#locals.push(...variables)
    const condition = this.cost(fold.condition)
    const step = this.cost(fold.step)
    this.#locals.length -= variables.length
    const result = this.cost(fold.result)
    this.#locals.length--
    const count = this.sizeOf(fold.range)
    this.#rememberFold(fold, count)
    return sum(range, initial, result, product(count, sum(condition, step)))
  }

  #variablesOf({ range, variable, second }: Fold): Local[] {
    const isList = this.#checked.typeOf(range).kind === 'list'
    const path = this.#paths.get(range) ?? []
    const entries = this.#entrySizes(range)
    const local = (name: string, part: string, size: CostRange | undefined): Local => ({
      name,
      path: [...path, part],
      size,
      entries: undefined,
    })
    if (second !== undefined)
      return [
        local(variable, isList ? '@indices' : '@keys', entries?.key),
        local(second, isList ? '@items' : '@values', entries?.value),
      ]
    return isList
      ? [local(variable, '@items', entries?.value)]
      : [local(variable, '@keys', entries?.key)]
  }

  #rememberFold(fold: Fold, count: CostRange): void {
    const { initial } = fold
    const container =
      initial.kind === 'literal' &&
      (initial.value instanceof CelList || initial.value instanceof CelMap)
    if (container) {
      this.#sizes.set(fold, count)
      // Of maps that folds fill nothing is known of what is in them.
      this.#joinEntries(fold, [fold.step])
    } else if (fold.accumulator !== ACCUMULATOR) {
      // A bound value: what comes out is the result.
      this.#sizes.set(fold, this.sizeOf(fold.result))
      this.#joinEntries(fold, [fold.result])
    } else if (initial.kind === 'literal') this.#sizes.set(fold, this.sizeOf(initial))
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
    if (call.function === '_[_]') {
      this.#element(call, args[0]!, overloads)
      size = this.#entrySizes(args[0]!)?.value
    }
    if (call.function === '_+_') this.#joinEntries(call, args)
    if (size !== undefined) this.#sizes.set(call, size)
    return sum(...costs, cost ?? ONE)
  }

  #element(call: Call, container: Expression, overloads: readonly Overload[]): void {
    for (const { parameters } of overloads) {
      const { kind } = parameters[0]!
      if (kind !== 'list' && kind !== 'map') continue
      const path = this.#paths.get(container) ?? []
      this.#setPath(call, [...path, kind === 'list' ? '@items' : '@values'])
    }
  }

  #joinEntries(whole: Expression, parts: readonly Expression[]): void {
    const entries = unionOfEntries(parts.map((part) => this.#entrySizes(part)))
    if (entries !== undefined) this.#entries.set(whole, entries)
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
        this.#joinEntries(call, args.slice(1))
        return sum(costs[0]!, union(costs[1]!, costs[2]!))
      case 'dyn':
        this.#sizes.set(call, this.sizeOf(args[0]!))
        this.#joinEntries(call, args)
        return sum(costs[0]!, ONE)
      default:
        return undefined
    }
  }

  #argument(expression: Expression): EstimatedArgument {
    const type = this.#checked.typeOf(expression)
    return {
      type,
      size: this.sizeOf(expression),
      element: type.kind === 'list' ? this.#elementOf(expression, type) : undefined,
      literal: expression.kind === 'literal' ? expression.value : undefined,
    }
  }

  #elementOf(expression: Expression, { element }: ListType): EstimatedArgument['element'] {
    const path = this.#paths.get(expression)
    const size = path && this.#declaredSize([...path, '@items'])
    return { type: element, size: size ?? UNKNOWN_SIZE }
  }
}

function estimateOf(overload: Overload, args: readonly EstimatedArgument[]): CallEstimate {
  return overload.estimate?.(args) ?? { cost: ONE }
}

function literalSize(value: Value): CostRange {
  if (typeof value === 'string') return exactly(Buffer.byteLength(value))
  if (value instanceof Uint8Array || value instanceof CelList) return exactly(value.length)
  return value instanceof CelMap ? exactly(value.size) : ONE
}

/** Undefined when of one of them nothing is known. */
function unionOfEntries(parts: readonly (EntrySizes | undefined)[]): EntrySizes | undefined {
  return parts.reduce(
    (joined, part) =>
      joined &&
      part && { key: union(joined.key, part.key), value: union(joined.value, part.value) },
  )
}

function partOf(type: CelType, name: string): CelType | undefined {
  switch (name) {
    case '@items':
    case '@values':
      if (type.kind === 'list') return type.element
      return type.kind === 'map' ? type.value : undefined
    case '@keys':
      return type.kind === 'map' ? { kind: 'null' } : undefined
    default:
      return type.kind === 'object' ? type.fields.get(name)?.type : undefined
  }
}

/** Objects, scalars and keys have no declared size: they count as nothing. */
function maxElements(type: CelType): number {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'string':
    case 'bytes':
    case 'dyn':
    case 'timestamp':
    case 'duration':
      return type.maxElements ?? 0
    default:
      return 0
  }
}

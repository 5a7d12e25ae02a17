/** Turns a checked expression into nested functions: names are looked up and overloads are chosen once, not at every run. */
import { ACCUMULATOR } from './syntax/ast.ts'
import type {
  Call,
  Expression,
  Fold,
  ListLiteral,
  MapLiteral,
  Select,
  StructLiteral,
} from './syntax/ast.ts'
import type { Checked } from './checking/checked.ts'
import { patternProblem } from './syntax/pattern-parser.ts'
import { ProgramError } from './syntax/source.ts'
import { compileRegularExpression } from './values/regular-expressions.ts'
import { Constants } from './constants.ts'
import type { CostMeter } from './costs/cost.ts'
import { fieldOf, found, holder, optionalSelect, presence } from './fields.ts'
import { indexed, positionOf } from './libraries/operators.ts'
import { Failure, attempt, notStrictlyFalse, optionalOf, orElse, shortCircuit } from './steps.ts'
import type { Run, Step, Variables } from './steps.ts'
import { chooseOverload } from './overload-choice.ts'
import { mentionsDynamic } from './checking/types.ts'
import { forgetMeasures } from './values/measures.ts'
import {
  ArrayList,
  CelList,
  CelMap,
  CelOptional,
  EMPTY_LIST,
  EMPTY_MAP,
  EntryMap,
  EvaluationError,
  GrowingList,
  GrowingMap,
  NONE,
  TypeValue,
  typeNameOf,
  StructMap,
} from './values/values.ts'
import type { Value } from './values/values.ts'

export interface Program {
  /** Throws EvaluationError, or CostExceeded when `meter` runs out. */
  evaluate(variables: Variables, meter: CostMeter): Value
}

export function plan(checked: Checked): Program {
  const planner = new Planner(checked)
  const step = planner.plan(checked.expression)
  return {
    evaluate: (variables, meter) => {
      try {
        return step({ variables, meter, slots: [] })
      } finally {
        forgetMeasures()
      }
    },
  }
}

const SEARCHES = new Set(['find', 'findAll'])

/** One that is written out is read before anything runs. Throws ProgramError. */
function checkPattern(expression: Expression | undefined): void {
  if (expression?.kind !== 'literal' || typeof expression.value !== 'string') return
  if (compileRegularExpression(expression.value) === undefined)
    throw new ProgramError(patternProblem(expression.value))
}

class Planner {
  readonly #checked: Checked
  /** Variables of the folds around, with the slots they have. */
  readonly #locals: { readonly name: string; readonly slot: number }[] = []
  readonly #constants: Constants
  #slots = 0

  constructor(checked: Checked) {
    this.#checked = checked
    this.#constants = new Constants(checked)
  }

  plan(expression: Expression): Step {
    const constant = this.#constants.of(expression)
    if (constant !== undefined && !isStart(constant)) return () => constant
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression
        return () => value
      }
      case 'identifier':
        return this.#name(expression, expression.name)
      case 'select':
        return this.#select(expression)
      case 'call':
        return this.#call(expression)
      case 'list':
        return this.#list(expression)
      case 'map':
        return this.#map(expression)
      case 'struct':
        return this.#struct(expression)
      case 'fold':
        return this.#fold(expression)
    }
  }

  #name(expression: Expression, name: string): Step {
    const reference = this.#checked.referenceOf(expression)
    if (reference?.kind === 'type') {
      const type = new TypeValue(reference.type)
      return () => type
    }
    const local = this.#locals.findLast((variable) => variable.name === name)
    if (local !== undefined && reference === undefined) {
      if (this.#checked.typeOf(expression).kind === 'type')
        throw new ProgramError(`reference to undefined type: ${name}`)
      const { slot } = local
      return ({ meter, slots }) => {
        meter.charge(1)
        const value = slots[slot]!
        if (value instanceof Failure) throw value.error
        return value
      }
    }
    return ({ meter, variables }) => {
      meter.charge(1)
      const value = variables(name)
      if (value === undefined) throw new EvaluationError(`no such attribute(s): ${name}`)
      return value
    }
  }

  #select(expression: Select): Step {
    if (this.#checked.referenceOf(expression) !== undefined) {
      return this.#name(expression, dottedName(expression))
    }
    const operand = holder(expression.operand, this.plan(expression.operand))
    const { field } = expression
    if (expression.presence) return (run) => presence(run, operand(run), field)
    return (run) => found(run, fieldOf(operand(run), field))
  }

  #call(call: Call): Step {
    const args =
      this.#checked.isNamespaced(call) || call.target === undefined
        ? call.args
        : [call.target, ...call.args]
    // Nothing is in an empty list: what would be looked for is not evaluated.
    if (call.function === '@in' && isEmptyLiteral(args[1]!)) return () => false
    const steps = args.map((argument) => this.plan(argument))
    if (SEARCHES.has(call.function)) checkPattern(args[1])
    switch (call.function) {
      case '_&&_':
        return shortCircuit(steps, false)
      case '_||_':
        return shortCircuit(steps, true)
      case '_?_:_':
        return (run) => {
          const condition = steps[0]!(run)
          if (typeof condition !== 'boolean') throw new EvaluationError('no such overload')
          return condition ? steps[1]!(run) : steps[2]!(run)
        }
      case '@not_strictly_false':
        return notStrictlyFalse(steps[0]!)
      case '_?._':
        return optionalSelect(
          holder(args[0]!, steps[0]!),
          String((call.args[1] as { value?: unknown }).value),
        )
      case '_[_]': {
        this.#constants.checkQualifier(args[1]!)
        const from = holder(args[0]!, steps[0]!)
        return (run) => {
          const value = from(run)
          return found(run, indexed(value, steps[1]!(run)))
        }
      }
      case '_[?_]': {
        const from = holder(args[0]!, steps[0]!)
        const taken = this.#optionalIndex(call, args)
        return (run) => taken(run, from(run), steps[1]!(run))
      }
      case 'or':
      case 'orValue':
        return orElse(steps, call.function === 'orValue')
    }
    return this.#apply(call, args, steps)
  }

  /** Nothing is in what is neither a list nor a map. */
  #optionalIndex(
    call: Call,
    args: readonly Expression[],
  ): (run: Run, holder: Value, key: Value) => Value {
    let values: readonly Value[] = []
    const apply = this.#apply(call, args, [() => values[0]!, () => values[1]!])
    return (run, given, key) => {
      const within = given instanceof CelOptional ? (given.value ?? null) : given
      if (!(within instanceof CelList) && !(within instanceof CelMap)) return NONE
      values = [given, within instanceof CelList ? positionOf(key) : key]
      return apply(run)
    }
  }

  #apply(call: Call, args: readonly Expression[], steps: readonly Step[]): Step {
    const overloads = this.#checked.overloadsOf(call)
    const certain =
      overloads.length === 1 &&
      !args.some((argument) => mentionsDynamic(this.#checked.typeOf(argument)))
    const [only] = overloads
    return (run) => {
      const values = steps.map((step) => step(run))
      // What may be null by its schema has the type of what it is otherwise.
      const isKnown = certain && !values.includes(null)
      const overload = isKnown ? only! : chooseOverload(overloads, values, call.function)
      // Assertion: the checker has matched arguments to parameters, or `chooseOverload` has.
      const result = overload.evaluate(...(values as never[]))
      run.meter.charge(overload.cost === undefined ? 1 : overload.cost(values, result))
      return result
    }
  }

  #list({ elements, optional }: ListLiteral): Step {
    const steps = elements.map((element) => this.plan(element))
    return (run) => {
      const values: Value[] = []
      for (const [index, step] of steps.entries()) {
        const value = step(run)
        if (!optional.has(index)) values.push(value)
        else {
          const given = optionalOf(value)
          if (given.value !== undefined) values.push(given.value)
        }
      }
      run.meter.charge(10)
      return new ArrayList(values)
    }
  }

  #map({ entries }: MapLiteral): Step {
    const steps = entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }))
    return (run) => {
      const map = new EntryMap()
      for (const { key, value, optional } of steps) {
        const name = key(run)
        const given = value(run)
        const content = optional ? optionalOf(given).value : given
        if (content !== undefined) map.put(name, content)
      }
      run.meter.charge(30)
      return map
    }
  }

  /** Objects that patches are made of: maps of what was given. */
  #struct({ type, fields }: StructLiteral): Step {
    const steps = fields.map(({ name, value, optional }) => ({
      name,
      value: this.plan(value),
      optional,
    }))
    return (run) => {
      const map = new StructMap(type)
      for (const { name, value, optional } of steps) {
        const given = value(run)
        const content = optional ? optionalOf(given).value : given
        if (content !== undefined) map.insert(name, content)
      }
      run.meter.charge(40)
      return map
    }
  }

  #declare(name: string): number {
    const slot = this.#slots++
    this.#locals.push({ name, slot })
    return slot
  }

  #fold(fold: Fold): Step {
    const range = this.plan(fold.range)
    const initial = this.plan(fold.initial)
    const accumulator = this.#declare(fold.accumulator)
    const first = this.#declare(fold.variable)
    const second = fold.second === undefined ? undefined : this.#declare(fold.second)
    const condition = this.plan(fold.condition)
    const step = this.plan(fold.step)
    this.#locals.length -= second === undefined ? 1 : 2
    const result = this.plan(fold.result)
    this.#locals.length--
    const grows = fold.accumulator === ACCUMULATOR
    return (run) => {
      const over = range(run)
      const { slots } = run
      const start = initial(run)
      slots[accumulator] = grows ? growing(start) : start
      for (const [key, value] of pairsOf(over, second !== undefined)) {
        slots[first] = key
        if (second !== undefined) slots[second] = value
        if (condition(run) === false) break
        // Also where no later element can make an error irrelevant: it may fail itself, and its error is the one told then.
        slots[accumulator] = attempt(step, run)
      }
      const grown = slots[accumulator]
      if (grown instanceof GrowingList) slots[accumulator] = grown.finished()
      return result(run)
    }
  }
}

const isEmptyLiteral = (expression: Expression): boolean =>
  expression.kind === 'list' && expression.elements.length === 0

/** The empty list and map with which folds begin must stay themselves: they are told from others by it. */
const isStart = (value: Value): boolean => value === EMPTY_LIST || value === EMPTY_MAP

function dottedName(expression: Select): string {
  const { operand, field } = expression
  const prefix =
    operand.kind === 'select' ? dottedName(operand) : (operand as { name: string }).name
  return `${prefix}.${field}`
}

/** Lists and maps that only a fold holds are extended in place. */
function growing(initial: Value): Value {
  if (initial instanceof CelList && initial.isEmpty()) return new GrowingList()
  return initial instanceof CelMap && initial.size === 0 ? new GrowingMap() : initial
}

function* pairsOf(over: Value, two: boolean): Iterable<readonly [Value, Value]> {
  if (over instanceof CelList) {
    for (let index = 0; index < over.length; index++)
      yield two ? [BigInt(index), over.at(index)] : [over.at(index), null]
  } else if (over instanceof CelMap) {
    for (const key of over.keys()) yield [key, two ? over.get(key)! : null]
  } else throw new EvaluationError(`got '${typeNameOf(over)}', expected iterable type`)
}

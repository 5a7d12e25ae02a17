/** Finds the type of every part of an expression, and which overloads its calls may mean. */
import { Substitution, assign } from './assignability.ts'
import type {
  Call,
  Expression,
  Fold,
  ListLiteral,
  MapLiteral,
  Select,
  StructLiteral,
} from '../syntax/ast.ts'
import { qualifiedName } from '../syntax/ast.ts'
import type { Checked, Reference } from './checked.ts'
import type { Environment } from '../environments/environment.ts'
import { checkLiterals } from './literal-checks.ts'
import { resolveOverloads } from './overload-resolution.ts'
import type { Overload } from './signature.ts'
import { CompileError } from '../syntax/source.ts'
import type { Problem } from '../syntax/source.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  NULL,
  STRING,
  UINT,
  isDynamic,
  listType,
  mapType,
  optionalType,
  parameter,
  typeOf,
  typeText,
} from './types.ts'
import type { CelType, ObjectType } from './types.ts'
import { CelList, CelMap, CelUint } from '../values/values.ts'
import type { Value } from '../values/values.ts'

/** Throws CompileError. */
export function check(text: string, expression: Expression, environment: Environment): Checked {
  return new Checker(text, expression, environment).run()
}

class Checker implements Checked {
  readonly text: string
  readonly expression: Expression
  type: CelType = ERROR
  readonly #environment: Environment
  readonly #types = new Map<Expression, CelType>()
  readonly #overloads = new Map<Expression, readonly Overload[]>()
  readonly #references = new Map<Expression, Reference>()
  readonly #namespaced = new Set<Expression>()
  readonly #substitution = new Substitution()
  readonly #problems: Problem[] = []
  /** Variables of the folds around, innermost last. */
  readonly #locals: { readonly name: string; readonly type: CelType }[] = []
  #fresh = 0

  constructor(text: string, expression: Expression, environment: Environment) {
    this.text = text
    this.expression = expression
    this.#environment = environment
  }

  run(): Checked {
    this.#check(this.expression)
    if (this.#problems.length === 0) {
      for (const [node, type] of this.#types)
        this.#types.set(node, this.#substitution.apply(type, true))
      this.#problems.push(...checkLiterals(this))
    }
    if (this.#problems.length > 0) throw new CompileError(this.text, this.#problems)
    this.type = this.typeOf(this.expression)
    return this
  }

  typeOf(expression: Expression): CelType {
    return this.#types.get(expression) ?? DYN
  }

  overloadsOf(call: Call): readonly Overload[] {
    return this.#overloads.get(call) ?? []
  }

  referenceOf(expression: Expression): Reference | undefined {
    return this.#references.get(expression)
  }

  isNamespaced(call: Call): boolean {
    return this.#namespaced.has(call)
  }

  usesVariable(name: string): boolean {
    return [...this.#references.values()].some(
      (reference) => reference.kind === 'variable' && reference.name === name,
    )
  }

  #report({ offset }: { readonly offset: number }, message: string): CelType {
    this.#problems.push({ offset, message })
    return ERROR
  }

  #undeclared(at: { readonly offset: number }, name: string): CelType {
    return this.#report(at, `undeclared reference to '${name}' (in container '')`)
  }

  #check(expression: Expression): CelType {
    const type = this.#typeFor(expression)
    this.#types.set(expression, type)
    return type
  }

  #typeFor(expression: Expression): CelType {
    switch (expression.kind) {
      case 'literal':
        return this.#literal(expression.value)
      case 'identifier':
        return (
          this.#name(expression, expression.name) ?? this.#undeclared(expression, expression.name)
        )
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

  #newVariable(): CelType {
    return parameter(`_var${this.#fresh++}`)
  }

  #literal(value: Value): CelType {
    switch (typeof value) {
      case 'string':
        return STRING
      case 'boolean':
        return BOOL
      case 'bigint':
        return INT
      case 'number':
        return DOUBLE
    }
    if (value === null) return NULL
    if (value instanceof CelUint) return UINT
    // The empty list and map with which folds begin.
    if (value instanceof CelList) return listType(this.#newVariable())
    if (value instanceof CelMap) return mapType(this.#newVariable(), this.#newVariable())
    return BYTES
  }

  /** Undefined: nothing has this name. */
  #name(expression: Expression, name: string): CelType | undefined {
    const local = this.#locals.findLast((variable) => variable.name === name)
    if (local !== undefined) return local.type
    const variable = this.#environment.variable(name)
    if (variable !== undefined) {
      this.#references.set(expression, { kind: 'variable', name })
      return variable
    }
    const constant = this.#environment.constant(name)
    if (constant === undefined) return undefined
    this.#references.set(expression, { kind: 'type', type: constant })
    return typeOf(constant)
  }

  #select(expression: Select): CelType {
    if (!expression.presence) {
      const name = qualifiedName(expression)
      const isLocal = this.#locals.some((local) => local.name === name?.split('.')[0])
      const type = name === undefined || isLocal ? undefined : this.#name(expression, name)
      if (type !== undefined) return type
    }
    const operand = this.#check(expression.operand)
    const field = this.#fieldOf(expression, operand, expression.field)
    return expression.presence ? BOOL : field
  }

  /** Of an optional operand the field is optional, too. */
  #fieldOf(at: { readonly offset: number }, operand: CelType, field: string): CelType {
    const type = this.#substitution.apply(operand)
    switch (type.kind) {
      case 'opaque':
        if (type.name !== 'optional_type')
          return this.#report(at, `unexpected failed resolution of '${type.name}'`)
        return optionalType(this.#fieldOf(at, type.parameters[0]!, field))
      case 'map':
        return type.value
      case 'object': {
        const found = type.fields.get(field)?.type ?? type.open?.(field)
        return found ?? this.#report(at, `undefined field '${field}'`)
      }
      case 'parameter':
        assign(this.#substitution, DYN, type)
        return DYN
      case 'dyn':
        return DYN
      case 'error':
        return ERROR
    }
    return this.#report(at, `type '${typeText(type)}' does not support field selection`)
  }

  #call(call: Call): CelType {
    if (call.function === '_?._') return this.#optionalSelect(call)
    if (call.function === '_&&_' || call.function === '_||_') return this.#logic(call)
    const { target } = call
    if (target !== undefined) {
      const prefix = qualifiedName(target)
      const name = `${prefix}.${call.function}`
      const overloads = prefix === undefined ? undefined : this.#environment.overloads(name)
      if (overloads !== undefined) {
        this.#namespaced.add(call)
        const args = call.args.map((argument) => this.#check(argument))
        return this.#resolve(call, name, overloads, args, false)
      }
    }
    const args = call.args.map((argument) => this.#check(argument))
    if (target !== undefined) args.unshift(this.#check(target))
    const overloads = this.#environment.overloads(call.function)
    if (overloads === undefined) return this.#undeclared(call, call.function)
    return this.#resolve(call, call.function, overloads, args, target !== undefined)
  }

  /** Each operand that is no bool is named, where other calls name all their arguments together. */
  #logic(call: Call): CelType {
    for (const operand of call.args) this.#expect(operand, this.#check(operand), BOOL)
    this.#overloads.set(call, this.#environment.overloads(call.function) ?? [])
    return BOOL
  }

  #optionalSelect(call: Call): CelType {
    const [operand, field] = call.args as [Expression, Expression & { kind: 'literal' }]
    const type = this.#substitution.apply(this.#check(operand))
    this.#types.set(field, STRING)
    const found = this.#fieldOf(call, type, String(field.value))
    return found.kind === 'opaque' && found.name === 'optional_type' && isOptional(type)
      ? found
      : optionalType(found)
  }

  #resolve(
    call: Call,
    name: string,
    overloads: readonly Overload[],
    args: readonly CelType[],
    member: boolean,
  ): CelType {
    const { candidates, result } = resolveOverloads(
      overloads,
      args,
      member,
      this.#substitution,
      () => this.#newVariable(),
    )
    this.#overloads.set(call, candidates)
    if (result !== undefined) return result
    const shown = args.map((type) => typeText(this.#substitution.apply(type, true)))
    const receiver = member ? `${shown.shift()}.` : ''
    return this.#report(
      call,
      `found no matching overload for '${name}' applied to '${receiver}(${shown.join(', ')})'`,
    )
  }

  #list({ elements, optional }: ListLiteral): CelType {
    let joined: CelType | undefined
    for (const [index, element] of elements.entries()) {
      const type = this.#elementType(element, this.#check(element), optional.has(index))
      joined = this.#joined(joined, type)
    }
    return listType(joined ?? this.#newVariable())
  }

  #map({ entries }: MapLiteral): CelType {
    let keys: CelType | undefined
    let values: CelType | undefined
    for (const { key, value, optional } of entries) {
      keys = this.#joined(keys, this.#check(key))
      const type = this.#elementType(value, this.#check(value), optional)
      values = this.#joined(values, type)
    }
    return mapType(keys ?? this.#newVariable(), values ?? this.#newVariable())
  }

  #elementType(at: Expression, type: CelType, optional: boolean): CelType {
    const settled = this.#substitution.apply(type)
    if (!optional || settled.kind === 'dyn') return settled
    if (isOptional(settled)) return settled.parameters[0]!
    const found = typeText(settled)
    return this.#report(at, `expected type 'optional_type(${found})' but found '${found}'`)
  }

  #joined(joined: CelType | undefined, type: CelType): CelType {
    // What is broken says nothing of the others, but what comes after it does.
    if (joined === undefined || joined.kind === 'error' || type.kind === 'error') return type
    if (assign(this.#substitution, type, joined)) return isDynamic(type) ? DYN : joined
    return assign(this.#substitution, joined, type) ? type : DYN
  }

  #mismatch(at: Expression, expected: CelType, found: CelType): CelType {
    const shown = [expected, found].map((type) => typeText(this.#substitution.apply(type)))
    return this.#report(at, `expected type '${shown[0]}' but found '${shown[1]}'`)
  }

  #struct(expression: StructLiteral): CelType {
    const type: ObjectType | undefined = this.#environment.struct(expression.type)
    if (type === undefined) {
      const named = this.#environment.constant(expression.type)
      return named === undefined
        ? this.#undeclared(expression, expression.type)
        : this.#report(expression, `'${typeText(named)}' is not a message type`)
    }
    for (const field of expression.fields) {
      const given = this.#elementType(field.value, this.#check(field.value), field.optional)
      const declared = this.#fieldOf(field, type, field.name)
      if (assign(this.#substitution, given, declared)) continue
      const shown = [declared, given].map((part) => typeText(this.#substitution.apply(part)))
      this.#report(
        field,
        `expected type of field '${field.name}' is '${shown[0]}' but provided type is '${shown[1]}'`,
      )
    }
    return type
  }

  #fold(fold: Fold): CelType {
    const range = this.#substitution.apply(this.#check(fold.range))
    const accumulator = this.#check(fold.initial)
    const [first, second] = this.#rangeTypes(fold, range)
    this.#locals.push({ name: fold.accumulator, type: accumulator })
    this.#locals.push({ name: fold.variable, type: first })
    if (fold.second !== undefined) this.#locals.push({ name: fold.second, type: second })
    this.#expect(fold.condition, this.#check(fold.condition), BOOL)
    this.#expect(fold.step, this.#check(fold.step), accumulator)
    this.#locals.length -= fold.second === undefined ? 1 : 2
    const result = this.#check(fold.result)
    this.#locals.length--
    return this.#substitution.apply(result)
  }

  #expect(at: Expression, found: CelType, expected: CelType): void {
    if (!assign(this.#substitution, found, expected)) this.#mismatch(at, expected, found)
  }

  /** What the variables of a fold stand for: the elements of a list or the keys of a map; with two, index or key and value. */
  #rangeTypes({ range, second }: Fold, type: CelType): readonly [CelType, CelType] {
    switch (type.kind) {
      case 'list':
        return second === undefined ? [type.element, DYN] : [INT, type.element]
      case 'map':
        return [type.key, type.value]
      case 'parameter':
        assign(this.#substitution, DYN, type)
        return [DYN, DYN]
      case 'dyn':
        return [DYN, DYN]
      case 'error':
        return [ERROR, ERROR]
      default: {
        const shown = typeText(type)
        this.#report(
          range,
          `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
      }
    }
  }
}

function isOptional(
  type: CelType,
): type is CelType & { kind: 'opaque'; parameters: readonly CelType[] } {
  return type.kind === 'opaque' && type.name === 'optional_type'
}
